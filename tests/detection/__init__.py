"""Detection measured on labelled queries: `python -m tests.detection`."""
