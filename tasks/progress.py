"""How phases say how far they are."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with what is done and the total, in whatever unit the phase counts."""


def silent(done: int, total: int) -> None:
    """A progress that nobody watches."""
