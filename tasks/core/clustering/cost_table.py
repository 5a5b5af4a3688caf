"""What every set of a block pays for what any centre publishes, many centres at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from tasks.core.clustering.problem import Problem
from tasks.core.costs import Costs, SetCosts
from tasks.core.records import Ints, Longs
from tasks.core.rows import compress

TILE = 512


class CostTable:
    """The graded cost of sets, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._counts = problem.counts.astype(np.float32)[:, None]
        self._dropped = self._counts * np.diff(costs.offsets).astype(np.float32)[:, None]
        ones = np.ones(len(costs.classes), dtype=np.float32)
        shape = (len(problem), len(costs.squares))
        self._holds = sparse.csr_matrix((ones, costs.classes, costs.offsets), shape=shape)
        # What one class published for each set makes up, shape (classes, sets).
        self._made_up = np.ascontiguousarray(_nearest_squares(costs).T)

    def of_centres(self, centres: Sequence[Ints]) -> Costs:
        """Cost of all records of each set if a centre is published, shape (sets, centres)."""
        offsets, classes = compress(centres)
        paid = np.repeat(self._dropped, len(centres), axis=1)
        some = np.flatnonzero(np.diff(offsets))
        if len(some):
            nearest = np.minimum.reduceat(self._squares[classes], offsets[some], axis=0)
            made_up = np.add.reduceat(self._made_up[classes], offsets[some], axis=0)
            paid[:, some] = (self._holds @ nearest.T + made_up.T) * self._counts
        return paid

    def between_sets(self) -> Costs:
        """Cost of one record of a set if another set is published, symmetric, shape (n, n)."""
        # What j makes up in place of i is what is lost of j in place of i.
        lost = self._holds @ self._made_up
        both = np.empty_like(lost)
        # A transposed sum over the whole would miss the processor's cache at every step.
        for top in range(0, len(lost), TILE):
            for left in range(0, len(lost), TILE):
                rows, columns = slice(top, top + TILE), slice(left, left + TILE)
                both[rows, columns] = lost[rows, columns] + lost[columns, rows].T
        return np.asarray(both)


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


def _nearest_squares(costs: SetCosts) -> Costs:
    """Square of each class to the nearest class of each set, shape (sets, classes)."""
    starts, sizes = costs.offsets[:-1], np.diff(costs.offsets)
    nearest: Costs = costs.squares[costs.classes[starts]]
    for place in range(1, int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        squares = costs.squares[costs.classes[starts[longer] + place]]
        nearest[longer] = np.minimum(nearest[longer], squares)
    return nearest
