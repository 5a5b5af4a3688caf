"""What every set of a block pays for what any centre publishes, many centres at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.costs import Costs
from tasks.core.problem import Problem
from tasks.core.records import Ints, Longs
from tasks.core.rows import compress


class CostTable:
    """The graded cost of all records of a set, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._offsets = costs.offsets
        self._classes = costs.classes
        self._counts = problem.counts.astype(np.float32)
        self._dropped = self._counts * np.diff(costs.offsets)
        # What one class published for each set makes up, shape (classes, sets).
        self._made_up = np.minimum.reduceat(
            costs.squares[:, costs.classes], costs.offsets[:-1], axis=1
        )

    def of_centres(self, centres: Sequence[Ints]) -> Costs:
        """Cost of each set if the centre is published for it, shape (centres, sets)."""
        offsets, classes = compress(centres)
        paid = np.tile(self._dropped, (len(centres), 1)).astype(np.float32)
        some = np.flatnonzero(np.diff(offsets))
        if len(some):
            paid[some] = self._per_record(offsets[some], classes) * self._counts
        return paid

    def _per_record(self, starts: Longs, classes: Ints) -> Costs:
        nearest = np.minimum.reduceat(self._squares[classes], starts, axis=0)
        lost = np.add.reduceat(nearest[:, self._classes], self._offsets[:-1], axis=1)
        made_up = np.add.reduceat(self._made_up[classes], starts, axis=0)
        return np.asarray(lost + made_up, dtype=np.float32)

    def of_sets(self) -> Costs:
        """Cost of each set if another set is published for it, shape (published, sets)."""
        # What is lost of i in place of j is what i makes up in place of j's records.
        lost = np.add.reduceat(self._made_up[self._classes], self._offsets[:-1], axis=0)
        return np.asarray((lost + lost.T) * self._counts, dtype=np.float32)
