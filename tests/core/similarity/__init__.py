"""Tests of tasks.core.similarity."""
