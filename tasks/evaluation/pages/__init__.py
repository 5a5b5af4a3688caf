"""Around a comparison: other people's programs, figures, and the page."""
