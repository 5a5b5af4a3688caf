"""The same measures for every method, and which methods no other one beats."""
