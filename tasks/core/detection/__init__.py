"""What a query says: sensitive attributes, and direct identifiers by shape and by odds."""
