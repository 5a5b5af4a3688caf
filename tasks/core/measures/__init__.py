"""What a release costs in information and what risk is left (paper §4.1 and beyond)."""
