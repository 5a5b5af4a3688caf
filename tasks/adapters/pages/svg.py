"""SVG as text: shapes, words and the picture around them. Colours are left to the style sheet.

Drawn here and not by matplotlib, which a run would import for a second, and whose pictures do not
follow a page from light to dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Final, Literal

from markupsafe import Markup, escape

NAMESPACE: Final = "http://www.w3.org/2000/svg"
Anchor = Literal["start", "middle", "end"]
Place = tuple[float, float]


def picture(
    name: str, title: str, says: str, size: tuple[float, float], shapes: Iterable[Markup]
) -> Markup:
    """One picture; `title` and `says` are for those who do not see it.

    Args:
        name: tells the pictures of a page apart.
        size: width and height.
    """
    content = [
        Markup('<title id="{}-title">{}</title>').format(name, title),
        Markup('<desc id="{}-desc">{}</desc>').format(name, says),
        *shapes,
    ]
    width, height = map(_number, size)
    opening = Markup('<svg role="img" aria-labelledby="{0}-title {0}-desc" viewBox="0 0 {1} {2}">')
    return opening.format(name, width, height) + Markup("").join(content) + Markup("</svg>")


def standing_alone(drawn: Markup, style: str, width: float) -> str:
    """A picture as a file of its own, so many pixels wide unless what shows it says otherwise."""
    opening = f'<svg xmlns="{NAMESPACE}" width="{_number(width)}" '
    opened = str(drawn).replace("<svg ", opening, 1)
    return opened.replace("<title", Markup("<style>{}</style><title").format(style), 1)


def box(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    return _shape("rect", f"bar {kind}", {"x": x, "y": y, "width": width, "height": height})


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return _shape("line", kind, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})


def dot(kind: str, x: float, y: float, radius: float) -> Markup:
    return _shape("circle", f"dot {kind}", {"cx": x, "cy": y, "r": radius})


def curve(kind: str, points: Iterable[Place]) -> Markup:
    return _shape("polyline", f"line {kind}", {"points": _places(points)})


def ribbon(kind: str, start: tuple[float, float, float], end: tuple[float, float, float]) -> Markup:
    """A band from one upright edge to another, each given as x, top and bottom."""
    (x, top, bottom), (far, far_top, far_bottom) = start, end
    middle = _number((x + far) / 2)
    there = f"M{_places([(x, top)])} C{middle},{_number(top)} {middle},{_number(far_top)} "
    back = f"L{_places([(far, far_bottom)])} C{middle},{_number(far_bottom)} {middle},"
    path = f"{there}{_places([(far, far_top)])} {back}{_number(bottom)} {_places([(x, bottom)])} Z"
    return _shape("path", f"ribbon {kind}", {"d": path})


def words(
    content: str, x: float, y: float, *, anchor: Anchor = "start", kind: str = "label"
) -> Markup:
    return _shape("text", kind, {"x": x, "y": y, "text-anchor": anchor}, content)


def upright(content: str, x: float, y: float) -> Markup:
    """Words that run upwards, centred at a point."""
    turned = f"translate({_number(x)} {_number(y)}) rotate(-90)"
    return _shape("text", "axis-name", {"transform": turned, "text-anchor": "middle"}, content)


@dataclass(frozen=True, slots=True)
class Marker:
    """The outline of a point: a regular polygon, or a star with points half as many corners.

    Attributes:
        turned: degrees.
        inner: how near the corners between the points of a star are to its middle.
    """

    corners: int
    turned: float = 0.0
    inner: float | None = None

    def outline(self, x: float, y: float, radius: float) -> list[Place]:
        inner = 1.0 if self.inner is None else self.inner
        radii = [radius * (inner if corner % 2 else 1.0) for corner in range(self.corners)]
        angles = [pi * (self.turned / 180 + 2 * n / self.corners) for n in range(self.corners)]
        return [(x + r * cos(a), y + r * sin(a)) for r, a in zip(radii, angles, strict=True)]


ROUND: Final = Marker(0)
SQUARE, DIAMOND, HEXAGON, PENTAGON = Marker(4, 45), Marker(4), Marker(6), Marker(5, -90)
UP, DOWN, LEFT, RIGHT = Marker(3, -90), Marker(3, 90), Marker(3, 180), Marker(3)
PLUS, CROSS = Marker(8, 0, 0.45), Marker(8, 45, 0.45)
STAR, THREE_POINTS = Marker(10, -90, 0.45), Marker(6, -90, 0.35)


def marked(kind: str, marker: Marker, x: float, y: float, radius: float) -> Markup:
    """A point with its marker."""
    if marker is ROUND:
        return dot(kind, x, y, radius)
    # Corners lie on the circle: larger, they cover about as much as a dot.
    outline = marker.outline(x, y, (1.6 if marker.inner else 1.3) * radius)
    return _shape("polygon", f"dot {kind}", {"points": _places(outline)})


def _shape(tag: str, kind: str, attributes: Mapping[str, float | str], content: str = "") -> Markup:
    said: Sequence[str] = [
        f' {name}="{escape(value if isinstance(value, str) else _number(value))}"'
        for name, value in attributes.items()
    ]
    return Markup(f'<{tag} class="{escape(kind)}"{"".join(said)}>{escape(content)}</{tag}>')


def _places(points: Iterable[Place]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
