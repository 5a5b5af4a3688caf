"""Attribute sets as the units of microaggregation: their distances, and clusters of k people."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tasks.core.costs import CENTRE_CANDIDATES
from tasks.core.problem import Problem
from tasks.core.records import Floats, Longs
from tasks.core.rows import take_rows

FIRST_LOOK = 4
"""Clusters of k people are looked for among the first FIRST_LOOK * k units, then further on."""


class Space(Protocol):
    """How far units 0, 1, … are from each other and from the centre of some of them."""

    def from_centre(self, units: Longs) -> Floats:
        """Distance of each of the units from the centre of them all."""

    def from_unit(self, unit: int, units: Longs) -> Floats:
        """Distance of each of the units from one unit."""


class Sizes(Protocol):
    """How many units a cluster needs."""

    def needed(self, units: Longs) -> int:
        """The shortest beginning of the units that is a cluster; 0 if not even all of them are."""

    def enough(self, units: Longs) -> bool:
        """Whether the units together are a cluster."""


class SetSpace:
    """Distinct sets under the graded cost.

    The centre of some sets is that of the most frequent sets of the whole problem which costs
    their records least; the totals are kept up to date as sets leave.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        frequent = np.argsort(-problem.counts, kind="stable")[:CENTRE_CANDIDATES]
        costs = problem.costs
        self._to_candidates = np.stack([costs.to(costs.row(i)) for i in frequent.tolist()])
        self._weighted = self._to_candidates.astype(np.float64) * problem.counts
        self._present = np.ones(len(problem), dtype=np.bool_)
        self._totals = self._weighted.sum(axis=1)

    def from_centre(self, units: Longs) -> Floats:
        self._keep(units)
        best = int(np.argmin(np.round(self._totals, 6)))
        return self._to_candidates[best][units].astype(np.float64)

    def from_unit(self, unit: int, units: Longs) -> Floats:
        costs = self._problem.costs
        return costs.to(costs.row(unit))[units].astype(np.float64)

    def _keep(self, units: Longs) -> None:
        gone = self._present.copy()
        gone[units] = False
        self._totals -= self._weighted[:, gone].sum(axis=1)
        self._present[gone] = False


class UserSizes:
    """A cluster holds at least k distinct users and l distinct sets."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def needed(self, units: Longs) -> int:
        length = FIRST_LOOK * self._problem.k
        while length < len(units):
            found = self._needed(units[:length])
            if found:
                return found
            length *= FIRST_LOOK
        return self._needed(units)

    def enough(self, units: Longs) -> bool:
        _, places = take_rows(self._problem.user_offsets, units)
        held = np.bincount(self._problem.users[places])
        return len(units) >= self._problem.l and int((held > 0).sum()) >= self._problem.k

    def _needed(self, units: Longs) -> int:
        problem = self._problem
        offsets, places = take_rows(problem.user_offsets, units)
        _, first = np.unique(problem.users[places], return_index=True)
        if len(first) < problem.k or len(units) < problem.l:
            return 0
        last = np.partition(first, problem.k - 1)[problem.k - 1]
        return max(int(np.searchsorted(offsets, last, side="right")), problem.l)
