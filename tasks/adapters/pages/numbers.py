"""How the page writes numbers."""

from __future__ import annotations

from typing import Any

UNIT = "\N{NO-BREAK SPACE}%"
UNTOLD = "–"
"""In place of a number that public figures do not tell."""


def count(value: float | None) -> str:
    return UNTOLD if value is None else f"{round(value):,}"


def short_count(value: float) -> str:
    """A count as axes say it: 20k for 20,000."""
    return count(value) if value < 10_000 else f"{round(value / 1000):,}k"


def share(value: float | None) -> str:
    """A part of 1, in percent."""
    return UNTOLD if value is None else percent(100 * value)


def percent(value: float | None) -> str:
    """To the tenth; what is not nothing, or not all, never looks like it."""
    if value is None:
        return UNTOLD
    if 0 < value < 0.05:
        return f"< 0.1{UNIT}"
    if 99.95 <= value < 100:
        return f"> 99.9{UNIT}"
    return f"{value:,.1f}".removesuffix(".0") + UNIT


def plain(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shown(value: Any) -> str:
    """Any value of the measures."""
    if value is None:
        return UNTOLD
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").removesuffix(".")
    return f"{value:,}" if isinstance(value, int) else str(value)
