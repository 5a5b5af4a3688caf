"""What every set of a block pays for what any centre publishes, many centres at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.clustering.between import membership, nearest_squares
from tasks.core.clustering.problem import Problem
from tasks.core.costs import Costs
from tasks.core.records import Ints
from tasks.core.rows import compress


class CostTable:
    """The graded cost of sets, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._counts = problem.counts.astype(np.float32)[:, None]
        self._dropped = self._counts * np.diff(costs.offsets).astype(np.float32)[:, None]
        self._holds = membership(costs.offsets, costs.classes, len(costs.squares))
        # What one class published for each set makes up, shape (classes, sets).
        nearest = nearest_squares(costs.offsets, costs.classes, costs.squares)
        self._made_up = np.ascontiguousarray(nearest.T)

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
