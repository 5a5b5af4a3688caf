"""Tests of the phases of a release."""
