"""What the methods of a release are compared with: the literature, and what anybody could do."""
