"""Distances and costs of pairs, kept from run to run: a log that grows costs new pairs only.

A symmetric table of values is kept in rectangles: of some units (rows) with others (columns). What
a run does not find in earlier ones it computes, new rows against all columns, and keeps as another:
so a log that grows costs new×old and new×new pairs only. Units are named by their content, a table
by what decides its values; a rectangle that is gone or damaged is computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.core.clustering.blocks import Between, compared_sets, cut_into_blocks
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.digests import Keys, digest
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Flags, Longs
from tasks.core.similarity.costs import Costs, costs_between, with_transposed
from tasks.core.similarity.pairs import SetPairs
from tasks.runtime.progress import Progress, silent
from tasks.runtime.store import Store

Values = NDArray[np.float32]
Compute = Callable[[Longs, Longs], Values]
"""The values of some of the units with some others, both given by their places."""

MOST_RECTANGLES: Final = 8
"""A table that lies in more than this is written anew in one."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs of different units that were computed, and that were known."""

    computed: int
    reused: int

    @property
    def total(self) -> int:
        return self.computed + self.reused

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(self.computed + other.computed, self.reused + other.reused)


@dataclass(frozen=True, slots=True, eq=False)
class _Rectangle:
    name: str
    rows: Keys
    columns: Keys


class PairCache:
    """The pairs of one measure that a store knows."""

    def __init__(self, store: Store, measure: str, most: int = MOST_RECTANGLES) -> None:
        """Take `measure` as a fingerprint of all that decides a pair's value."""
        self._store = store
        self._most = most
        self._list = f"pairs:{measure}"
        self._rectangles: list[_Rectangle] | None = None

    def complete(self, keys: Keys, compute: Compute) -> PairCounts:
        """Compute and keep whatever is not known of the pairs of these units."""
        return self._completed(keys, compute)[0]

    def _completed(self, keys: Keys, compute: Compute) -> tuple[PairCounts, Values | None]:
        """The same, with the values of all pairs if nothing was known of them."""
        rectangles = self._touching(keys)
        rows, columns = _unknown(keys, rectangles)
        kept = None
        if len(rows):
            kept = self._keep(keys[rows], keys[columns], compute(rows, columns))
            if len(rectangles) >= self._most:
                self._join(keys)
        every, computed = _pairs(len(keys), len(keys)), _pairs(len(rows), len(columns))
        counts = PairCounts(computed, every - min(computed, every))
        return counts, kept if len(rows) == len(keys) else None

    def read(self, keys: Keys, compute: Compute) -> tuple[Values, PairCounts]:
        """The values of all pairs of these units, and how many had to be computed."""
        counts, computed = self._completed(keys, compute)
        table = self.table(keys) if computed is None else _square(computed)
        if table is not None:
            return table, counts
        # No room to keep them, or dropped since by another run.
        every = np.arange(len(keys))
        return compute(every, every), PairCounts(_pairs(len(keys), len(keys)), 0)

    def table(self, keys: Keys) -> Values | None:
        """The values of all pairs of these units, or None if one of them is not known."""
        rectangles = self._touching(keys)
        if len(_unknown(keys, rectangles)[0]):
            return None
        table = np.zeros((len(keys), len(keys)), dtype=np.float32)
        # The largest first: what it does not hold is filled by the others.
        for rectangle in sorted(rectangles, key=lambda rectangle: -len(rectangle.rows)):
            values = self._values(rectangle)
            if values is None:
                return None
            if _is_of(rectangle, keys):
                return _square(values)
            _fill(table, keys, rectangle, values)
        np.fill_diagonal(table, 0.0)
        return table

    def _touching(self, keys: Keys) -> list[_Rectangle]:
        """Rectangles that have some of these units for rows."""
        if self._rectangles is None:
            found = (self._header(name) for name in self._store.listed(self._list))
            self._rectangles = [rectangle for rectangle in found if rectangle is not None]
        ordered = np.sort(keys)
        return [rectangle for rectangle in self._rectangles if _held(rectangle.rows, ordered).any()]

    def _header(self, name: str) -> _Rectangle | None:
        arrays = self._store.load(name, dict)
        if arrays is None or f"{name}:values" not in self._store:
            return None
        return _Rectangle(name, arrays["rows"], arrays["columns"])

    def _values(self, rectangle: _Rectangle) -> Values | None:
        return self._store.load(f"{rectangle.name}:values", np.ndarray)

    def _keep(self, rows: Keys, columns: Keys, values: Values) -> Values:
        """Keep a rectangle; its values as they are kept."""
        if len(rows) == len(columns):
            values = np.concatenate([row[place + 1 :] for place, row in enumerate(values)])
        rectangle = _Rectangle(f"{self._list}:{digest(rows, columns)}", rows, columns)
        self._store.save(f"{rectangle.name}:values", values)
        self._store.save(rectangle.name, {"rows": rows, "columns": columns})
        self._store.enlist(self._list, rectangle.name)
        self._rectangles = [*(self._rectangles or []), rectangle]
        return values

    def _join(self, keys: Keys) -> None:
        """Put one rectangle in the place of all that have rows of these units only."""
        table, ordered = self.table(keys), np.sort(keys)
        if table is None:
            return
        gone = [
            rectangle for rectangle in self._touching(keys) if _held(rectangle.rows, ordered).all()
        ]
        names = [rectangle.name for rectangle in gone]
        self._rectangles = [
            rectangle for rectangle in self._rectangles or [] if rectangle.name not in names
        ]
        self._keep(keys, keys, table)
        self._store.relist(self._list, [], [*names, *(f"{name}:values" for name in names)])


def _held(keys: Keys, ordered: Keys) -> Flags:
    """Which of the keys are among some others, given in order."""
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[places] == keys)


def _places(keys: Keys, wanted: Keys) -> tuple[Longs, Longs]:
    """Where the wanted keys stand that are there: in `wanted`, and in `keys`."""
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    here = np.flatnonzero(keys[order][at] == wanted)
    return here, order[at[here]]


def _unknown(keys: Keys, rectangles: Sequence[_Rectangle]) -> tuple[Longs, Longs]:
    """Rows and columns that together hold every pair of units that no rectangle holds.

    Units that are in the same rectangles, as rows and as columns, are alike: there are few kinds.
    """
    sides = [_held(keys, np.sort(side)) for s in rectangles for side in (s.rows, s.columns)]
    marks = np.array(sides, dtype=np.int64).reshape(len(sides), len(keys)).T
    kinds, kind_of, sizes = np.unique(marks, axis=0, return_inverse=True, return_counts=True)
    known = kinds[:, ::2] @ kinds[:, 1::2].T
    unknown = (known + known.T) == 0
    np.fill_diagonal(unknown, unknown.diagonal() & (sizes > 1))
    chosen = _cover(unknown, sizes)
    needed = unknown[chosen].any(axis=0)
    needed[chosen] = True
    return np.flatnonzero(chosen[kind_of]), np.flatnonzero(needed[kind_of])


def _cover(unknown: Flags, sizes: Longs) -> Flags:
    """Kinds that together hold every unknown pair: always the one that holds most of the rest."""
    left, chosen = unknown.copy(), np.zeros(len(sizes), dtype=np.bool_)
    while left.any():
        kind = int(np.argmax(left @ sizes))
        chosen[kind] = True
        left[kind, :] = left[:, kind] = False
    return chosen


def _pairs(rows: int, columns: int) -> int:
    """Pairs of different units between rows and columns, all rows being among the columns."""
    return rows * (rows - 1) // 2 + rows * (columns - rows)


def _is_of(rectangle: _Rectangle, keys: Keys) -> bool:
    """Whether a rectangle is the table of these very units."""
    return np.array_equal(rectangle.rows, keys) and np.array_equal(rectangle.columns, keys)


def _square(values: Values) -> Values:
    """The symmetric table of a rectangle whose rows are its columns, 0 from each unit to itself.

    As scipy's `squareform`, whose import would cost every worker more than this does.
    """
    count = (1 + math.isqrt(1 + 8 * len(values))) // 2
    upper = np.zeros((count, count), dtype=np.float32)
    start = 0
    for place in range(count - 1):
        upper[place, place + 1 :] = values[start : start + count - 1 - place]
        start += count - 1 - place
    return with_transposed(upper, upper)


def _fill(table: Values, keys: Keys, rectangle: _Rectangle, values: Values) -> None:
    """Enter what a rectangle holds."""
    if values.ndim == 1:
        values = _square(values)
    rows, from_rows = _places(rectangle.rows, keys)
    columns, from_columns = _places(rectangle.columns, keys)
    block = values.take(from_rows, axis=0).take(from_columns, axis=1)
    table[rows[:, None], columns] = block
    if len(rows) < len(columns):
        table[columns[:, None], rows] = block.T


@dataclass(frozen=True, slots=True)
class StoredCosts:
    """Gives the costs between the sets of one block, in whatever process it is clustered."""

    store: Path
    measure: str
    keys: Keys = field(repr=False)

    def __call__(self, problem: Problem) -> Costs:
        store = Store(self.store)
        try:
            known = PairCache(store, self.measure).table(self.keys)
        finally:
            store.close()
        # What was evicted since it was compared is computed again.
        return between_sets(problem) if known is None else known


@dataclass(frozen=True, slots=True, eq=False)
class ComparedBlocks:
    """A problem and, for each block of its cut, where the costs between its sets come from."""

    problem: Problem
    sources: tuple[Between, ...]


def left_to_compare(
    problem: Problem, *, sets_per_block: int = PART_SIZES.sets_per_block
) -> tuple[ComparedBlocks, PairCounts]:
    """Leave the costs to whoever clusters a block: to move them between machines takes longer."""
    blocks = cut_into_blocks(problem, sets_per_block=sets_per_block) if problem.solvable else []
    sizes = [
        len(compared_sets(problem.part(block), sets_per_block=sets_per_block)) for block in blocks
    ]
    pairs = sum(size * (size - 1) // 2 for size in sizes)
    return ComparedBlocks(problem, (between_sets,) * len(blocks)), PairCounts(pairs, 0)


class BlockCache:
    """The costs between sets that a store knows."""

    def __init__(
        self, store: Store, concepts: str, *, sets_per_block: int = PART_SIZES.sets_per_block
    ) -> None:
        """Take `concepts` as a fingerprint of all that decides the distance of two concepts."""
        self._folder = store.folder
        self._most = sets_per_block
        self._measure = digest("graded", concepts)
        self._pairs = PairCache(store, self._measure)

    def compare(
        self, problem: Problem, keys: Keys, progress: Progress = silent
    ) -> tuple[ComparedBlocks, PairCounts]:
        """Compare the sets of each block, given by their content, as far as that is new."""
        sources, counts = [], PairCounts(0, 0)
        blocks = cut_into_blocks(problem, sets_per_block=self._most) if problem.solvable else []
        progress(0, len(blocks))
        for done, block in enumerate(blocks, start=1):
            part = problem.part(block)
            compared = compared_sets(part, sets_per_block=self._most)
            counts += self._complete(part.part(compared), keys[block[compared]])
            sources.append(StoredCosts(self._folder, self._measure, keys[block[compared]]))
            progress(done, len(blocks))
        return ComparedBlocks(problem, tuple(sources)), counts

    def _complete(self, problem: Problem, keys: Keys) -> PairCounts:
        def compute(rows: Longs, columns: Longs) -> Costs:
            return costs_between(problem.costs, rows, columns)

        return self._pairs.complete(keys, compute)


Compare = Callable[[SetPairs | None, Longs | None], SetPairs]
"""The least pairs, given those known and which sets are new."""

MOST_LOGS: Final = 4
"""Those of so many logs are kept; the oldest go."""


class SetPairCache:
    """The least pairs of whole logs; those of a log that is part of another serve that one."""

    def __init__(self, store: Store, measure: str, most: int = MOST_LOGS) -> None:
        """Take `measure` as a fingerprint of all that decides a pair's distance."""
        self._store = store
        self._most = most
        self._list = f"least:{measure}"

    def read(self, keys: Keys, compare: Compare) -> tuple[SetPairs, PairCounts]:
        """The least pairs of sets, given by their content in canonical order.

        That order is the same in every log, so what is known of some sets holds among more.
        """
        known, new = self._largest_part(keys)
        found = compare(known, new)
        reused = known.compared if known is not None else 0
        whole = SetPairs(found.left, found.right, found.scores, found.compared + reused)
        if new is None or len(new):
            self._keep(keys, whole)
        return whole, PairCounts(found.compared, reused)

    def _largest_part(self, keys: Keys) -> tuple[SetPairs | None, Longs | None]:
        found = (self._store.load(name, dict) for name in self._store.listed(self._list))
        parts = [arrays for arrays in found if arrays and np.isin(arrays["keys"], keys).all()]
        if not parts:
            return None, None
        part = max(parts, key=lambda arrays: len(arrays["keys"]))
        order = np.argsort(keys)
        places = order[np.searchsorted(keys[order], part["keys"])]
        pairs = SetPairs(
            places[part["left"]], places[part["right"]], part["scores"], part["compared"]
        )
        return pairs, np.setdiff1d(np.arange(len(keys)), places)

    def _keep(self, keys: Keys, pairs: SetPairs) -> None:
        arrays = {
            "keys": keys,
            "left": pairs.left,
            "right": pairs.right,
            "scores": pairs.scores,
            "compared": pairs.compared,
        }
        name = f"{self._list}:{digest(keys)}"
        self._store.save(name, arrays)
        self._store.enlist(self._list, name)
        names = self._store.listed(self._list)
        self._store.relist(self._list, [], names[: -self._most])
