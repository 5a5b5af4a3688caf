"""What a cluster publishes: the search for one concept per slot."""
