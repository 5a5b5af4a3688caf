"""What every set of a block pays for what any centre publishes, many centres at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from tasks.core.costs import Costs
from tasks.core.problem import Problem
from tasks.core.records import Ints
from tasks.core.rows import compress


class CostTable:
    """The graded cost of all records of a set, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._counts = problem.counts.astype(np.float32)[:, None]
        self._dropped = self._counts * np.diff(costs.offsets).astype(np.float32)[:, None]
        ones = np.ones(len(costs.classes), dtype=np.float32)
        shape = (len(problem), len(costs.squares))
        self._holds = sparse.csr_matrix((ones, costs.classes, costs.offsets), shape=shape)
        nearest = np.minimum.reduceat(costs.squares[costs.classes], costs.offsets[:-1], axis=0)
        # What one class published for each set makes up, shape (classes, sets).
        self._made_up = np.ascontiguousarray(nearest.T)

    def of_centres(self, centres: Sequence[Ints]) -> Costs:
        """Cost of each set if the centre is published for it, shape (sets, centres)."""
        offsets, classes = compress(centres)
        paid = np.repeat(self._dropped, len(centres), axis=1)
        some = np.flatnonzero(np.diff(offsets))
        if len(some):
            nearest = np.minimum.reduceat(self._squares[classes], offsets[some], axis=0)
            made_up = np.add.reduceat(self._made_up[classes], offsets[some], axis=0)
            paid[:, some] = (self._holds @ nearest.T + made_up.T) * self._counts
        return paid

    def of_sets(self) -> Costs:
        """Cost of each set (row) if another set (column) is published for it."""
        # What j makes up in place of i is what is lost of j in place of i.
        lost = self._holds @ self._made_up
        return np.asarray((lost + lost.T) * self._counts, dtype=np.float32)
