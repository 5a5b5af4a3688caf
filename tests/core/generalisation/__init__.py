"""Tests of tasks.core.generalisation."""
