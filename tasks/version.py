"""The version of this program: the one place that says it."""

from typing import Final

VERSION: Final = "0.1.0"
