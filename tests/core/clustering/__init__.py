"""Tests of tasks.core.clustering."""
