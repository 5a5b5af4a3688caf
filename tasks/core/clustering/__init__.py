"""Clusters of at least k people: the paper's Algorithm 3, MDAV, V-MDAV, and adaptive."""
