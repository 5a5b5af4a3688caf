"""SVG as text: shapes, words and the picture around them. Colours are left to the page's style."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Literal

WIDTH = 440.0
"""Of every picture: wide enough for a column, and narrow enough to be read on a telephone."""

Anchor = Literal["start", "middle", "end"]


def picture(name: str, title: str, says: str, height: float, shapes: Iterable[str]) -> str:
    """One picture; `title` and `says` are for those who do not see it.

    Args:
        name: tells the pictures of a page apart.
    """
    return (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="0 0 {_number(WIDTH)} {_number(height)}">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(says)}</desc>{"".join(shapes)}</svg>'
    )


def box(kind: str, x: float, y: float, width: float, height: float) -> str:
    places = f'x="{_number(x)}" y="{_number(y)}"'
    return (
        f'<rect class="{kind}" {places} width="{_number(width)}" height="{_number(height)}"></rect>'
    )


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line class="{kind}" x1="{_number(x1)}" y1="{_number(y1)}" '
        f'x2="{_number(x2)}" y2="{_number(y2)}"></line>'
    )


def dot(kind: str, x: float, y: float, radius: float) -> str:
    places = f'cx="{_number(x)}" cy="{_number(y)}"'
    return f'<circle class="{kind}" {places} r="{_number(radius)}"></circle>'


def curve(kind: str, points: Iterable[tuple[float, float]]) -> str:
    places = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    return f'<polyline class="{kind}" points="{places}"></polyline>'


def words(
    content: str, x: float, y: float, *, anchor: Anchor = "start", kind: str = "label"
) -> str:
    return (
        f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}">'
        f"{escape(content)}</text>"
    )


def upright(content: str, x: float, y: float) -> str:
    """Words that run upwards, centred at a point."""
    place = f"{_number(x)} {_number(y)}"
    return (
        f'<text class="axis-name" transform="translate({place}) rotate(-90)" '
        f'text-anchor="middle">{escape(content)}</text>'
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
