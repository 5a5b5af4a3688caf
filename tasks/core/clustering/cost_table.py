"""What every set of a block pays for what any centre publishes, many centres at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.clustering.between import membership, nearest_squares
from tasks.core.clustering.problem import Problem
from tasks.core.records import Ints, Longs
from tasks.core.rows import compress
from tasks.core.similarity.costs import Costs


class CostTable:
    """The graded cost of sets, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._counts = problem.counts.astype(np.float32)
        self._dropped = self._counts * np.diff(costs.offsets).astype(np.float32)
        self._holds = membership(costs.offsets, costs.classes, len(costs.squares))
        # What one class published for each set makes up, shape (classes, sets).
        nearest = nearest_squares(costs.offsets, costs.classes, costs.squares)
        self._made_up = np.ascontiguousarray(nearest.T)

    def of_centres(self, centres: Sequence[Ints]) -> Costs:
        """Cost of all records of each set if a centre is published, shape (centres, sets)."""
        offsets, classes = compress(centres)
        sizes = np.diff(offsets)
        if not sizes.all():
            return self._with_empty_centres(centres, sizes)
        nearest = nearest_squares(offsets, classes, self._squares)
        paid = np.ascontiguousarray((self._holds @ np.ascontiguousarray(nearest.T)).T)
        for place in range(int(sizes.max(initial=0))):
            longer = np.flatnonzero(sizes > place)
            paid[longer] += self._made_up[classes[offsets[longer] + place]]
        paid *= self._counts
        return paid

    def _with_empty_centres(self, centres: Sequence[Ints], sizes: Longs) -> Costs:
        """The same if some centres publish nothing: then everything is dropped."""
        paid = np.repeat(self._dropped[None, :], len(centres), axis=0)
        some = np.flatnonzero(sizes)
        paid[some] = self.of_centres([centres[place] for place in some.tolist()])
        return paid
