"""Direct identifiers: names by odds, numbers and addresses by shape."""
