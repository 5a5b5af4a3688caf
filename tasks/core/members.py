"""Rows of groups: which records stand in each class of a release, say.

Records stand in the order of their forms; of any other grouping the rows are found by a counting
sort, in one look at the labels and with memory for the groups alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tasks.core import columns
from tasks.core.arrays import distinct, part_slices
from tasks.core.columns import column, computed, counts_of, rest, row_parts
from tasks.core.records import Ints, Longs, Narrow, freeze

ROWS_PER_GROUP: Final = 1 << 17
"""Of the groups that rows are put in for nothing but to see some at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The rows of each group, group after group; within a group they ascend.

    Attributes:
        offsets: group g has rows[offsets[g] : offsets[g + 1]].
        rows: a column.
    """

    offsets: Longs
    rows: Ints

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        """Groups."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Longs:
        return np.diff(self.offsets)

    def each(self) -> Iterator[Ints]:
        """The rows of each group."""
        return (self.rows[start:end] for start, end in pairwise(self.offsets.tolist()))

    def parts(self, most: int | None = None) -> Iterator[tuple[slice, Ints, Longs]]:
        """Some groups after others: which these are, their rows, and the group of each row.

        Groups are numbered from 0 on in each part. There are no more than `most` rows in a part
        (ROWS_AT_A_TIME if none is said), or one group that has more.
        """
        sizes = self.sizes
        for groups in part_slices(sizes, most or columns.ROWS_AT_A_TIME):
            rows = self.rows[self.offsets[groups.start] : self.offsets[groups.stop]]
            owners = np.repeat(np.arange(groups.stop - groups.start), sizes[groups])
            yield groups, rows, owners
            rest()

    def people(self, users: Ints) -> Longs:
        """Distinct users behind each group."""
        found = np.zeros(len(self), dtype=np.int64)
        width = int(users.max(initial=0)) + 1
        for groups, rows, owners in self.parts():
            pairs = distinct(owners * width + users[rows])
            pairs //= width
            found[groups] = np.bincount(pairs, minlength=groups.stop - groups.start)
        return found


def members_of(labels: Narrow, count: int) -> Members:
    """The rows of the groups 0 … count - 1, given the group of each row; -1 is none."""
    offsets = np.concatenate(([0], np.cumsum(counts_of(labels, count)))).astype(np.int64)
    rows, free = column(int(offsets[-1]), np.int32), offsets[:-1].copy()
    for part in row_parts(len(labels)):
        own = labels[part]
        order = np.argsort(own, kind="stable")
        order = order[np.searchsorted(own[order], 0) :]
        own = own[order]
        first = np.flatnonzero(np.diff(own, prepend=-1))
        sizes = np.diff(np.append(first, len(own)))
        within = np.arange(len(own)) - np.repeat(first, sizes)
        rows[free[own] + within] = order + part.start
        free[own[first]] += sizes
    return Members(offsets, rows)


def parted(values: Ints | Longs) -> Iterator[Ints]:
    """All rows, some after others, so that those of one value stand in one part and ascend."""
    count = len(values) // ROWS_PER_GROUP + 1
    left = computed(len(values), np.int32, lambda rows: values[rows] % count)
    return (rows for _, rows, _ in members_of(left, count).parts())
