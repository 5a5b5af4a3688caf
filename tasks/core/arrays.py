"""Helpers for arrays: ragged ones (rows of different lengths as offsets and values, as in a CSR
matrix), groups, sums and parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tasks.core.columns import computed, row_parts
from tasks.core.records import Flags, Floats, Ints, Longs, Narrow

Ragged = tuple[Longs, Ints]
"""Rows of different lengths: row i is values[offsets[i] : offsets[i + 1]]."""
VALUES = 2**32
LOWEST_VALUE = -(2**31)
PART = 1 << 16
Kind = TypeVar("Kind", bound=np.generic)


def ragged_of(rows: Sequence[Sequence[int] | Ints]) -> Ragged:
    """Offsets and values of a list of rows."""
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    parts = [np.asarray(row, dtype=np.int32) for row in rows]
    return offsets, np.concatenate([*parts, np.zeros(0, dtype=np.int32)])


def split_ragged(offsets: Longs, values: Ints) -> list[Ints]:
    """The rows one by one."""
    bounds = offsets.tolist()
    return [values[start:end] for start, end in pairwise(bounds)]


def take_ragged(offsets: Narrow, chosen: Longs | Ints) -> tuple[Longs, Longs]:
    """New offsets, and the places of the values, of the chosen rows in their order."""
    starts = offsets[:-1][chosen]
    lengths = offsets[1:][chosen] - starts
    new_offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    places = np.repeat(starts - new_offsets[:-1], lengths)
    return new_offsets, places + np.arange(new_offsets[-1])


def distinct(values: Longs) -> Longs:
    """The different values, ascending.

    As `np.unique`, which looks them up in a table (NumPy 2.4): of a million that takes twenty
    times as long as to sort them.
    """
    ordered = np.sort(values)
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[new])


def narrowed(values: Ints | Longs, least: type[np.signedinteger[Any]] = np.int8) -> Narrow:
    """The same values in as few bytes as hold them all, and not fewer than the least kind has."""
    ends = (int(values.min(initial=0)), int(values.max(initial=0)))
    kind = np.result_type(least, *(np.min_scalar_type(min(end, -end - 1)) for end in ends))
    return np.asarray(values, dtype=kind, order="C")


def joined_ragged(parts: Sequence[Ragged]) -> Ragged:
    """Several lists of rows as one list."""
    lengths = [np.diff(offsets) for offsets, _ in parts]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
    return offsets, np.concatenate([values for _, values in parts])


def owners(offsets: Narrow) -> Longs:
    """The row of each value."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def ragged_keys(rows: Longs, values: Ints | Longs) -> Longs:
    """A number for each value of a row that sorts by row, then by value (of 32 bits)."""
    return rows * VALUES + (values.astype(np.int64) - LOWEST_VALUE)


def ragged_from_keys(keys: Longs, count: int) -> Ragged:
    """Offsets and values of rows 0 … count - 1 from their keys, given row by row."""
    rows, values = np.divmod(keys, VALUES)
    return np.searchsorted(rows, np.arange(count + 1)), (values + LOWEST_VALUE).astype(np.int32)


def equal_sets(left: Ragged, right: Ragged) -> Flags:
    """Whether row i of the left holds the same values as row i of the right, in any order."""
    own, other = (
        distinct(ragged_keys(owners(offsets), values)) for offsets, values in (left, right)
    )
    different = np.setxor1d(own, other, assume_unique=True) // VALUES
    return np.asarray(np.bincount(different, minlength=len(left[0]) - 1) == 0)


def group_by(*keys: Narrow) -> tuple[Longs, Longs]:
    """The distinct combinations of keys, ascending by the first key, then the second, and so on.

    Returns:
        The first place of each combination, and the combination of each place.
    """
    order = np.lexsort(keys[::-1])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = False
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group_of = np.empty(len(order), dtype=np.int64)
    group_of[order] = np.cumsum(new) - 1
    return order[new], group_of


def pairs_of(groups: Longs, values: Ints | Longs) -> tuple[Longs, Longs, Longs]:
    """The distinct pairs of a group and a value (0 or more), ascending.

    Returns:
        Group and value of each pair, and the pair of each place.
    """
    width = int(values.max(initial=0)) + 1
    keys = groups * width + values
    order = np.argsort(keys)
    ordered = keys[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    pair_of = np.empty(len(order), dtype=np.int64)
    pair_of[order] = np.cumsum(new) - 1
    return *np.divmod(ordered[new], width), pair_of


def taken(values: NDArray[Kind], places: Narrow) -> NDArray[Kind]:
    """values[places], as a column; of more places than fit into memory at a time."""
    return computed(len(places), values.dtype, lambda rows: values[places[rows]])


def sums_by(groups: Longs, values: NDArray[Any], count: int) -> Floats:
    """Sum of the values of each group 0 … count - 1."""
    return np.asarray(np.bincount(groups, values, minlength=count), dtype=np.float64)


def people_per_label(labels: Ints | Longs, users: Ints, count: int) -> Longs:
    """Distinct users (or sets) behind each label 0 … count - 1; label -1 does not count."""
    chosen = labels >= 0
    width = int(users.max(initial=0)) + 1
    keys = distinct(labels[chosen].astype(np.int64) * width + users[chosen])
    return np.bincount(keys // width, minlength=count).astype(np.int64)


def people_of(groups: Longs | Ints, users: Ints, count: int) -> Ragged:
    """The distinct users of each group 0 … count - 1, ascending, given the group of each."""
    width = int(users.max(initial=0)) + 1
    held, people = np.divmod(distinct(groups.astype(np.int64) * width + users), width)
    return np.searchsorted(held, np.arange(count + 1)), people.astype(np.int32)


def numbered_by_first(labels: Ints | Longs) -> Ints:
    """The same groups, numbered 0, 1, … in the order in which they first appear; -1 is none.

    What is found is a column.
    """
    first = np.full(int(labels.max(initial=-1)) + 1, len(labels))
    for rows in row_parts(len(labels)):
        own = labels[rows]
        held = np.flatnonzero(own >= 0)
        new = held[first[own[held]] == len(labels)]
        # The last of several values for one place stays, so this is the first of each label.
        first[own[new[::-1]]] = new[::-1] + rows.start
    # The last entry is that of -1.
    numbers = np.full(len(first) + 1, -1, dtype=np.int32)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(labels))]
    numbers[order] = np.arange(len(order))
    return computed(len(labels), np.int32, lambda rows: numbers[labels[rows]])


def parts_of(count: int) -> Iterator[slice]:
    """Some places after the other, all of them: so many that little is in memory at a time."""
    return (slice(start, start + PART) for start in range(0, count, PART))


def part_slices(sizes: Longs, most: int) -> Iterator[slice]:
    """Neighbours whose sizes together are no more than `most`, or one alone that is larger."""
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    start = 0
    while start < len(sizes):
        fitting = np.searchsorted(bounds, bounds[start] + most, side="right") - 1
        end = max(start + 1, int(fitting))
        yield slice(start, end)
        start = end
