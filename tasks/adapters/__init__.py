"""The outside world: log files, WordNet, spaCy, the release on disk."""
