"""The text pipeline with spaCy and presidio, and the lists it reads (in `data/` and packages)."""
