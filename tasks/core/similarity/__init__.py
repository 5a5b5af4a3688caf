"""How near concepts and records are: Eq. 1 to 9 of the paper, and the graded cost of sets."""
