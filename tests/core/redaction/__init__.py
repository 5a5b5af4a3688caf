"""Tests of tasks.core.redaction."""
