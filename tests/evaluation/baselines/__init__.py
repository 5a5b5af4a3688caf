"""Tests of the baselines of a comparison."""
