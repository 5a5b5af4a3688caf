"""The benchmark suite: `python -m tests.bench --help`. Never part of the tests: times are noisy."""
