"""Ways to anonymise the same records, behind one interface, for `flows.compare`."""
