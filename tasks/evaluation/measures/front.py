"""Which points of the risk–loss plane no other point beats."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]
"""Risk and loss: less of each is better."""


def beats(one: Point, other: Point) -> bool:
    """At least as good in both, better in one."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def on_front(points: Sequence[Point]) -> list[bool]:
    """For each point whether no other one beats it (Pareto's front)."""
    return [not any(beats(other, point) for other in points) for point in points]


def beaten_by(points: Sequence[Point], index: int) -> list[int]:
    """The points that beat one of them."""
    return [place for place, other in enumerate(points) if beats(other, points[index])]
