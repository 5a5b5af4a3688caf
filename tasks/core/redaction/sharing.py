"""Which words and times can be published so that whole rows stay shared by k people.

Words: records are split top-down: the word shared by most people first, within its records the
next one, and so on as long as k people share all words so far (a prefix tree ordered anew at every
node). What falls short of k people goes back up, where other words are tried, and is published
with fewer words. So the least shared words go first, and every class of records that ends up
with the same words holds at least k people.

Times: records of a class of shared words are split by the finest time that may be published (hour,
day or month), what is left by the next, as long as k people share the time; the rest publishes
none. All classes are cut at once.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import group_by, people_per_label, split_ragged
from tasks.core.records import (
    NO_TIME,
    TIME_HOUR,
    TIME_NONE,
    Flags,
    Ints,
    Longs,
    cut_times,
)

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


@dataclass(frozen=True, slots=True, eq=False)
class TimedRows:
    """Rows to be published: records of one class of shared words and of one time.

    Attributes:
        row_of: row of each record, or -1, shape (n,).
        classes: class of shared words of each row, ascending.
        times, precisions: what each row publishes of its records' times.
    """

    row_of: Longs
    classes: Longs
    times: Longs
    precisions: Ints

    def __len__(self) -> int:
        return len(self.classes)


def share_times(
    class_of: Longs, users: Ints, times: Longs, *, k: int, finest: int = TIME_HOUR
) -> TimedRows:
    """Cut the times of records as little as it takes for every row to hold k people.

    Args:
        class_of: class of shared words of each record, each of at least k people; -1: none.
        finest: the finest precision that any row may have.
    """
    rows = _cut_as_little_as_needed(class_of, users, times, k=k, finest=finest)
    return _absorb_into_timeless(_in_order(rows), users, k=k)


def _cut_as_little_as_needed(
    class_of: Longs, users: Ints, times: Longs, *, k: int, finest: int
) -> TimedRows:
    """Rows of k people with a time; all that is left of a class is its row without one."""
    row_of = np.full(len(class_of), -1, dtype=np.int64)
    waiting = np.flatnonzero(class_of >= 0)
    found: list[tuple[Longs, Longs, Ints]] = []
    count = 0
    for precision in range(finest, TIME_NONE - 1, -1):
        cut = cut_times(times[waiting], precision)
        first, group_of = group_by(class_of[waiting], cut)
        people = people_per_label(group_of, users[waiting], len(first))
        done = (cut[first] != NO_TIME) & (people >= k) | (precision == TIME_NONE)
        row_of[waiting] = np.where(done, count + np.cumsum(done) - 1, -1)[group_of]
        done_first = first[done]
        found.append((class_of[waiting[done_first]], cut[done_first], _precisions(precision, done)))
        count += len(done_first)
        waiting = waiting[~done[group_of]]
    classes, starts, precisions = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return TimedRows(row_of, classes, starts, precisions)


def _precisions(precision: int, done: Flags) -> Ints:
    return np.full(np.count_nonzero(done), precision, dtype=np.int32)


def _in_order(rows: TimedRows) -> TimedRows:
    """By class; within it by precision and time, but where a row is timeless that one comes last
    and the others by size, the smallest just before it."""
    timeless = rows.precisions == TIME_NONE
    by_size = np.isin(rows.classes, rows.classes[timeless])
    sizes = np.bincount(rows.row_of[rows.row_of >= 0], minlength=len(rows))
    order = np.lexsort(
        (
            np.where(by_size, -rows.times, rows.times),
            np.where(by_size, rows.precisions, -rows.precisions),
            np.where(by_size, -sizes, 0),
            timeless,
            rows.classes,
        )
    )
    number = np.empty(len(rows) + 1, dtype=np.int64)
    number[order], number[-1] = np.arange(len(rows)), -1
    return TimedRows(
        number[rows.row_of], rows.classes[order], rows.times[order], rows.precisions[order]
    )


def _absorb_into_timeless(rows: TimedRows, users: Ints, *, k: int) -> TimedRows:
    """Cut the smallest rows of a class to no time until its timeless row holds k people."""
    short = np.flatnonzero(people_per_label(rows.row_of, users, len(rows)) < k)
    order = np.argsort(rows.row_of, kind="stable")
    bounds = np.searchsorted(rows.row_of[order], np.arange(len(rows) + 1))
    users_of = split_ragged(bounds, users[order])
    joins = np.arange(len(rows))
    for row in short.tolist():
        first, people = row, set(users_of[row].tolist())
        while len(people) < k:
            first -= 1
            people.update(users_of[first].tolist())
        joins[first:row] = row
    kept = joins == np.arange(len(rows))
    number = np.append((np.cumsum(kept) - 1)[joins], -1)
    return TimedRows(
        number[rows.row_of], rows.classes[kept], rows.times[kept], rows.precisions[kept]
    )
