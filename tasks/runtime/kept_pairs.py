"""Symmetric tables of distances or costs, kept from run to run in strips.

A strip holds the values of some units (rows) with others (columns). What a run has not found in
earlier strips it computes, new rows against all columns, and keeps as another strip: so a log
that grows costs new×old and new×new pairs only. Units are named by their content, a table by
what decides its values; a strip that is gone or damaged is computed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.core.digests import Keys, digest
from tasks.core.records import Flags, Longs
from tasks.core.similarity.costs import with_transposed
from tasks.runtime.cache import BlobCache

Values = NDArray[np.float32]
Compute = Callable[[Longs, Longs], Values]
"""The values of some of the units with some others, both given by their places."""

MOST_STRIPS: Final = 8
"""A table that lies in more strips than this is written anew in one."""


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
class _Strip:
    name: str
    rows: Keys
    columns: Keys


class KeptPairs:
    """The pairs of one measure that a store knows."""

    def __init__(self, cache: BlobCache, measure: str) -> None:
        """Take `measure` as a digest of all that decides a pair's value."""
        self._cache = cache
        self._list = f"pairs:{measure}"
        self._strips: list[_Strip] | None = None

    def complete(self, keys: Keys, compute: Compute) -> PairCounts:
        """Compute and keep whatever is not known of the pairs of these units."""
        return self._completed(keys, compute)[0]

    def _completed(self, keys: Keys, compute: Compute) -> tuple[PairCounts, Values | None]:
        """The same, with the values of all pairs if nothing was known of them."""
        strips = self._touching(keys)
        rows, columns = _unknown(keys, strips)
        kept = None
        if len(rows):
            kept = self._keep(keys[rows], keys[columns], compute(rows, columns))
            if len(strips) >= MOST_STRIPS:
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
        strips = self._touching(keys)
        if len(_unknown(keys, strips)[0]):
            return None
        table = np.zeros((len(keys), len(keys)), dtype=np.float32)
        # The largest first: what it does not hold is filled by the others.
        for strip in sorted(strips, key=lambda strip: -len(strip.rows)):
            values = self._values(strip)
            if values is None:
                return None
            if _is_of(strip, keys):
                return _square(values)
            _fill(table, keys, strip, values)
        np.fill_diagonal(table, 0.0)
        return table

    def _touching(self, keys: Keys) -> list[_Strip]:
        """Strips that have some of these units for rows."""
        if self._strips is None:
            found = (self._header(name) for name in self._cache.listed(self._list))
            self._strips = [strip for strip in found if strip is not None]
        ordered = np.sort(keys)
        return [strip for strip in self._strips if _held(strip.rows, ordered).any()]

    def _header(self, name: str) -> _Strip | None:
        arrays = self._cache.get_arrays(name)
        if arrays is None or f"{name}:values" not in self._cache:
            return None
        return _Strip(name, arrays["rows"], arrays["columns"])

    def _values(self, strip: _Strip) -> Values | None:
        arrays = self._cache.get_arrays(f"{strip.name}:values")
        return None if arrays is None else arrays["values"]

    def _keep(self, rows: Keys, columns: Keys, values: Values) -> Values:
        """Keep a strip; its values as they are kept."""
        if len(rows) == len(columns):
            values = np.concatenate([row[place + 1 :] for place, row in enumerate(values)])
        strip = _Strip(f"{self._list}:{digest(rows, columns)}", rows, columns)
        self._cache.put_arrays(f"{strip.name}:values", {"values": values})
        self._cache.put_arrays(strip.name, {"rows": rows, "columns": columns})
        self._cache.enlist(self._list, strip.name)
        self._strips = [*(self._strips or []), strip]
        return values

    def _join(self, keys: Keys) -> None:
        """Put one strip in the place of all that have rows of these units only."""
        table, ordered = self.table(keys), np.sort(keys)
        if table is None:
            return
        gone = [strip for strip in self._touching(keys) if _held(strip.rows, ordered).all()]
        names = [strip.name for strip in gone]
        self._strips = [strip for strip in self._strips or [] if strip.name not in names]
        self._keep(keys, keys, table)
        self._cache.relist(self._list, [], [*names, *(f"{name}:values" for name in names)])


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


def _unknown(keys: Keys, strips: Sequence[_Strip]) -> tuple[Longs, Longs]:
    """Rows and columns that together hold every pair of units that no strip holds.

    Units that are in the same strips, as rows and as columns, are alike: there are few kinds.
    """
    sides = [_held(keys, np.sort(side)) for s in strips for side in (s.rows, s.columns)]
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


def _is_of(strip: _Strip, keys: Keys) -> bool:
    """Whether a strip is the table of these very units."""
    return np.array_equal(strip.rows, keys) and np.array_equal(strip.columns, keys)


def _square(values: Values) -> Values:
    """The symmetric table of a strip whose rows are its columns, 0 from each unit to itself.

    As scipy's `squareform`, whose import would cost every worker more than this does.
    """
    count = (1 + math.isqrt(1 + 8 * len(values))) // 2
    upper = np.zeros((count, count), dtype=np.float32)
    start = 0
    for place in range(count - 1):
        upper[place, place + 1 :] = values[start : start + count - 1 - place]
        start += count - 1 - place
    return with_transposed(upper, upper)


def _fill(table: Values, keys: Keys, strip: _Strip, values: Values) -> None:
    """Enter what a strip holds."""
    if values.ndim == 1:
        values = _square(values)
    rows, from_rows = _places(strip.rows, keys)
    columns, from_columns = _places(strip.columns, keys)
    block = values.take(from_rows, axis=0).take(from_columns, axis=1)
    table[rows[:, None], columns] = block
    if len(rows) < len(columns):
        table[columns[:, None], rows] = block.T
