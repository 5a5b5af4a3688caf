"""The graded cost of publishing one attribute set in place of another.

Eq. 8 counts attributes that match and sees most pairs of records as equally far. The graded cost
sums, with Eq. 1, what is lost, Σ_{a∈q} min_{b∈p} δ(a,b)², and what is made up, the same from p
to q: it is what information loss (Eq. 12) charges in both directions.

The cost of a pair depends on the two sets alone, to the last bit: nearest classes are found by
comparing, and sums are taken in the order of a set's concepts, whatever else is in the log. So
costs that were kept from a smaller log are those that a larger one would compute.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tasks.core.arrays import take_ragged
from tasks.core.columns import column
from tasks.core.records import AttributeSets, Floats, Ints, Longs
from tasks.core.similarity.concepts import ConceptDistances

Costs = NDArray[np.float32]
TILE = 512
"""Rows and columns that are worked on at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class SetCosts:
    """Graded costs of a list of sets.

    Attributes:
        offsets, classes: the sets as ragged arrays of classes of `squares`.
        squares: δ² between classes.
    """

    offsets: Longs
    classes: Ints
    squares: Costs = field(repr=False)

    @classmethod
    def of(cls, sets: AttributeSets, distances: ConceptDistances) -> SetCosts:
        rows = distances.in_classes(sets)
        squares = column(distances.matrix.shape, np.float32)
        np.square(distances.matrix, out=squares)
        return cls(rows.offsets, rows.concepts, squares)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> Ints:
        return self.classes[self.offsets[index] : self.offsets[index + 1]]

    def to(self, centre: Ints) -> Costs:
        """Cost of publishing `centre` (classes) in place of every set, shape (sets,)."""
        columns = self.squares[:, centre]
        starts = self.offsets[:-1]
        costs = np.add.reduceat(columns.min(axis=1)[self.classes], starts)
        for place in range(len(centre)):
            costs += np.minimum.reduceat(columns[:, place][self.classes], starts)
        return np.asarray(costs, dtype=np.float32)


def costs_between(costs: SetCosts, rows: Longs, columns: Longs) -> Costs:
    """Cost of one record of each of `rows` if one of `columns` is published, (rows, columns)."""
    lost = _lost(costs, rows, columns)
    # What j makes up in place of i is what is lost of j in place of i.
    alike = np.array_equal(rows, columns)
    return with_transposed(lost, lost if alike else _lost(costs, columns, rows))


def _lost(costs: SetCosts, rows: Longs, columns: Longs) -> Costs:
    """What is lost of each set of `rows` if one of `columns` is published."""
    offsets, places = take_ragged(costs.offsets, rows)
    used, classes = np.unique(costs.classes[places], return_inverse=True)
    other_offsets, other_places = take_ragged(costs.offsets, columns)
    nearest = nearest_squares(other_offsets, costs.classes[other_places], costs.squares[:, used])
    # A sparse product adds up each row in the order of its entries.
    return np.asarray(membership(offsets, classes, len(used)) @ np.ascontiguousarray(nearest.T))


def nearest_squares(offsets: Longs, classes: Ints, squares: Costs) -> Costs:
    """Least square of each column over the classes (rows) of each set, shape (sets, columns)."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    nearest: Costs = squares[classes[starts]]
    for place in range(1, int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        nearest[longer] = np.minimum(nearest[longer], squares[classes[starts[longer] + place]])
    return nearest


def membership(offsets: Longs, classes: Ints | Longs, width: int) -> sparse.csr_matrix:
    """Ones where a set holds a class, shape (sets, width)."""
    ones = np.ones(len(classes), dtype=np.float32)
    return sparse.csr_matrix((ones, classes, offsets), shape=(len(offsets) - 1, width))


def with_transposed(costs: Costs, others: Costs) -> Costs:
    """The sum of two tables, the second of them transposed."""
    both = np.empty_like(costs)
    # Over the whole at once it would miss the processor's cache at every step.
    for top in range(0, both.shape[0], TILE):
        for left in range(0, both.shape[1], TILE):
            rows, columns = slice(top, top + TILE), slice(left, left + TILE)
            both[rows, columns] = costs[rows, columns] + others[columns, rows].T
    return both


def paired_costs(costs: SetCosts, left: Longs, right: Longs) -> Floats:
    """Cost of one record of set left[i] if set right[i] is published for it, shape (pairs,)."""
    return _paired_lost(costs, left, right) + _paired_lost(costs, right, left)


def _paired_lost(costs: SetCosts, left: Longs, right: Longs) -> Floats:
    """What is lost of set left[i] if right[i] is published: squares to the nearest class."""
    if not len(left):
        return np.zeros(0)
    left_offsets, left_places = take_ragged(costs.offsets, left)
    pair = np.repeat(np.arange(len(left)), np.diff(left_offsets))
    right_offsets, right_places = take_ragged(costs.offsets, right[pair])
    owner = np.repeat(left_places, np.diff(right_offsets))
    squares = costs.squares[costs.classes[owner], costs.classes[right_places]]
    nearest = np.minimum.reduceat(squares, right_offsets[:-1]).astype(np.float64)
    return np.asarray(np.add.reduceat(nearest, left_offsets[:-1]))
