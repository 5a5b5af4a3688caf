"""Rows to look at: classes chosen by rule from what is published, and those that tell too much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.adapters.pages.numbers import count

MOST_LISTED: Final = 40


@dataclass(frozen=True, slots=True)
class Example:
    """A class of rows as published.

    Attributes:
        why: the place by which it was chosen.
        rows: that read alike.
        people: behind them, in words: exact in the internal report alone.
    """

    why: str
    query: str
    concepts: str
    time: str
    rows: int
    people: str


Class = tuple[tuple[str, str, str, str], int, int]
"""The four columns of a class of rows, how many rows it has, and how many people."""


def example_classes(classes: Sequence[Class]) -> list[Example]:
    """Five with concepts and five of words alone: the two largest, the median, the two smallest.

    They are ordered by the number of their rows, then by what they say. Whoever has the release
    can choose the same, so the choice tells nothing.
    """
    found: list[Example] = []
    for name, has in (("with concepts", True), ("words alone", False)):
        own = ordered(one for one in classes if bool(one[0][1]) is has)
        found += [_example(f"{name}, {where}", own[place]) for where, place in _places(len(own))]
    return found


def listed_classes(classes: Iterable[Class]) -> list[Example]:
    """The largest so many."""
    return [_example("", one) for one in ordered(classes)[:MOST_LISTED]]


def ordered(classes: Iterable[Class]) -> list[Class]:
    return sorted(classes, key=lambda one: (-one[1], one[0]))


def _places(classes: int) -> Iterator[tuple[str, int]]:
    wanted = (0, 1, (classes - 1) // 2, classes - 2, classes - 1)
    names = ("largest", "largest", "median", "smallest", "smallest")
    seen: set[int] = set()
    for name, place in zip(names, wanted, strict=True):
        if 0 <= place < classes and place not in seen:
            seen.add(place)
            yield name, place


def _example(why: str, one: Class) -> Example:
    (query, concepts, time, _), rows, people = one
    return Example(why, query, concepts.replace(";", " "), time, rows, count(people))
