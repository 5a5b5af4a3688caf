"""What each record publishes: as printed, strict, or word by word."""
