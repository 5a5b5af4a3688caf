"""Slow, independent ways to the same results, beside each fast algorithm."""
