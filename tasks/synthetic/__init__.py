"""The generator of synthetic logs."""
