"""How the page writes numbers."""

from __future__ import annotations

from typing import Any

UNIT = "\N{NO-BREAK SPACE}%"


def count(value: float) -> str:
    return f"{round(value):,}"


def short_count(value: float) -> str:
    """A count as axes say it: 20k for 20,000."""
    return count(value) if value < 10_000 else f"{round(value / 1000):,}k"


def percent(value: float) -> str:
    """To the tenth; what is not nothing, or not all, never looks like it."""
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
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
