"""Rows that k people share: what each record may tell at which level, and who stands with whom."""
