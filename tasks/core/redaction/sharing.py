"""Which words of a group of records can be published so that whole rows stay shared by k people.

Records are split top-down: the word shared by most people first, within its records the next
one, and so on as long as k people share all words so far (a prefix tree ordered anew at every
node). What falls short of k people goes back up, where other words are tried, and is published
with fewer words. So the least shared words go first, and every class of records that ends up
with the same words holds at least k people.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

Words = tuple[int, ...]
MOST_WORDS = 64
"""Words of a query beyond this many are not considered for publication."""


class Unit(NamedTuple):
    """Records of one person with the same words; `key` is the caller's."""

    key: int
    user: int
    words: Words


class SharedClass(NamedTuple):
    """Units that publish the same words."""

    words: Words
    units: list[Unit]


def people(units: Sequence[Unit]) -> int:
    return len({unit.user for unit in units})


def share_words(
    units: Sequence[Unit], *, k: int, is_filler: Callable[[int], bool]
) -> tuple[list[SharedClass], list[Unit]]:
    """Split units into classes of shared words, each of at least k people.

    Args:
        is_filler: tells words that say nothing by themselves; they are tried last.

    Returns:
        The classes, and the units that share nothing with enough others (fewer than k people).
    """
    classes: list[SharedClass] = []
    capped = [
        unit if len(unit.words) <= MOST_WORDS else unit._replace(words=unit.words[:MOST_WORDS])
        for unit in units
    ]
    left = _split(capped, (), k, is_filler, classes)
    return classes, left


def _split(
    pool: list[Unit],
    used: Words,
    k: int,
    is_filler: Callable[[int], bool],
    classes: list[SharedClass],
) -> list[Unit]:
    """Publish what can be published below the words used so far; returns what is left."""
    if people(pool) < k:
        return pool
    common = set(pool[0].words).intersection(*(unit.words for unit in pool))
    used = (*used, *sorted(common.difference(used)))
    first = len(classes)
    support = _Support(pool, set(used), is_filler)
    while (word := support.most_shared(k)) is not None:
        taken = support.take(word)
        support.put_back(_split(taken, (*used, word), k, is_filler, classes))
    rest = support.units()
    if 0 < people(rest) < k:
        rest += _recalled(classes, first, used, len(rest))
    if people(rest) < k:
        return rest
    classes.append(SharedClass(used, rest))
    return []


def _recalled(classes: list[SharedClass], first: int, used: Words, left: int) -> list[Unit]:
    """Units of the class below that costs least to bring back to the words used so far.

    None if that costs more words than the units left would lose by going further up.
    """

    def cost(place: int) -> int:
        return (len(classes[place].words) - len(used)) * len(classes[place].units)

    cheapest = min(range(first, len(classes)), key=cost, default=None)
    if cheapest is None or cost(cheapest) >= len(used) * left:
        return []
    return classes.pop(cheapest).units


class _Support:
    """How many people of a changing pool of units share each word."""

    def __init__(
        self, pool: Sequence[Unit], used: set[int], is_filler: Callable[[int], bool]
    ) -> None:
        self._used = used
        self._is_filler = is_filler
        self._pool: dict[int, Unit] = {}
        self._units_of: defaultdict[int, set[int]] = defaultdict(set)
        self._users_of: defaultdict[int, defaultdict[int, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        self._heap: list[tuple[bool, int, int]] = []
        self.put_back(pool)

    def units(self) -> list[Unit]:
        return [self._pool[key] for key in sorted(self._pool)]

    def put_back(self, units: Sequence[Unit]) -> None:
        touched: set[int] = set()
        for unit in units:
            self._pool[unit.key] = unit
            for word in unit.words:
                if word not in self._used:
                    self._units_of[word].add(unit.key)
                    self._users_of[word][unit.user] += 1
                    touched.add(word)
        for word in touched:
            heapq.heappush(self._heap, self._entry(word))

    def _entry(self, word: int) -> tuple[bool, int, int]:
        return self._is_filler(word), -len(self._users_of[word]), word

    def most_shared(self, k: int) -> int | None:
        """The word shared by most people, fillers last; None if k people share no word."""
        while self._heap:
            entry = heapq.heappop(self._heap)
            word = entry[2]
            if entry == self._entry(word) and len(self._users_of[word]) >= k:
                return word
            if -entry[1] > len(self._users_of[word]) >= k:
                heapq.heappush(self._heap, self._entry(word))
        return None

    def take(self, word: int) -> list[Unit]:
        """Remove and return the units that hold the word."""
        taken = [self._pool.pop(key) for key in sorted(self._units_of[word])]
        for unit in taken:
            for own in unit.words:
                if own not in self._used:
                    self._forget(own, unit)
        return taken

    def _forget(self, word: int, unit: Unit) -> None:
        self._units_of[word].discard(unit.key)
        users = self._users_of[word]
        users[unit.user] -= 1
        if not users[unit.user]:
            del users[unit.user]


def absorb(
    classes: list[SharedClass], left: list[Unit], *, k: int
) -> tuple[list[SharedClass], list[Unit]]:
    """Give what is left a class without words, demoting the cheapest classes until it has k.

    Returns:
        The classes, the one without words included, and what cannot be helped: everything that
        is left, if all units together are fewer than k people.
    """
    if not left:
        return classes, []
    remaining = sorted(classes, key=lambda c: (len(c.words) * len(c.units), c.words), reverse=True)
    pool = list(left)
    while people(pool) < k and remaining:
        pool.extend(remaining.pop().units)
    if people(pool) < k:
        return [], pool
    merged = [unit for c in remaining if not c.words for unit in c.units]
    kept = [c for c in remaining if c.words]
    return [*kept, SharedClass((), pool + merged)], []
