"""Tests of what every phase stands on."""
