"""Tests of tasks.core.append."""
