"""What a cluster publishes: the search for the concepts that stand for all its records."""
