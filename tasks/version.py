"""The version of this program; pyproject.toml reads it here."""

VERSION = "0.1.0"
