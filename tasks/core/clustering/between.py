"""What sets cost in place of each other: all of a block, or some of its rows and columns.

The cost of a pair depends on the two sets alone, to the last bit: nearest classes are found by
comparing, and sums are taken in the order of a set's concepts, whatever else is in the block. So
costs that were kept from a smaller log are those that a larger one would compute.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tasks.core.clustering.problem import Problem
from tasks.core.records import Ints, Longs
from tasks.core.rows import take_rows
from tasks.core.similarity.costs import Costs, SetCosts

TILE = 512


def between_sets(problem: Problem) -> Costs:
    """Cost of one record of a set if another set is published, symmetric, shape (n, n)."""
    every = np.arange(len(problem))
    return costs_between(problem.costs, every, every)


def costs_between(costs: SetCosts, rows: Longs, columns: Longs) -> Costs:
    """The entries of `between_sets` for some rows and columns, shape (rows, columns)."""
    lost = _lost(costs, rows, columns)
    # What j makes up in place of i is what is lost of j in place of i.
    alike = np.array_equal(rows, columns)
    return with_transposed(lost, lost if alike else _lost(costs, columns, rows))


def nearest_sets(between: Costs, count: int) -> Longs:
    """For each set itself and the sets that cost least in its place, in order, ties by index."""
    nearest = np.empty((len(between), count), dtype=np.int64)
    for top in range(0, len(between), TILE):
        rows = between[top : top + TILE].copy()
        rows[np.arange(len(rows)), np.arange(top, top + len(rows))] = -1.0
        some = np.sort(np.argpartition(rows, count - 1, axis=1)[:, :count], axis=1)
        order = np.argsort(np.take_along_axis(rows, some, axis=1), axis=1, kind="stable")
        nearest[top : top + TILE] = np.take_along_axis(some, order, axis=1)
    return nearest


def membership(offsets: Longs, classes: Ints | Longs, width: int) -> sparse.csr_matrix:
    """Ones where a set holds a class, shape (sets, width)."""
    ones = np.ones(len(classes), dtype=np.float32)
    return sparse.csr_matrix((ones, classes, offsets), shape=(len(offsets) - 1, width))


def nearest_squares(offsets: Longs, classes: Ints, squares: Costs) -> Costs:
    """Least square of each column over the classes (rows) of each set, shape (sets, columns)."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    nearest: Costs = squares[classes[starts]]
    for place in range(1, int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        nearest[longer] = np.minimum(nearest[longer], squares[classes[starts[longer] + place]])
    return nearest


def _lost(costs: SetCosts, rows: Longs, columns: Longs) -> Costs:
    """What is lost of each set of `rows` if one of `columns` is published."""
    offsets, places = take_rows(costs.offsets, rows)
    used, classes = np.unique(costs.classes[places], return_inverse=True)
    other_offsets, other_places = take_rows(costs.offsets, columns)
    nearest = nearest_squares(other_offsets, costs.classes[other_places], costs.squares[:, used])
    # A sparse product adds up each row in the order of its entries.
    return np.asarray(membership(offsets, classes, len(used)) @ np.ascontiguousarray(nearest.T))


def with_transposed(costs: Costs, others: Costs) -> Costs:
    """The sum of two tables, the second of them transposed."""
    both = np.empty_like(costs)
    # Over the whole at once it would miss the processor's cache at every step.
    for top in range(0, both.shape[0], TILE):
        for left in range(0, both.shape[1], TILE):
            rows, columns = slice(top, top + TILE), slice(left, left + TILE)
            both[rows, columns] = costs[rows, columns] + others[columns, rows].T
    return both
