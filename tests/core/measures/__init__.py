"""Tests of tasks.core.measures."""
