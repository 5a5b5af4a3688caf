"""The report of a release: its words, its figures, and its page."""
