"""Attribute sets as the units of microaggregation: their distances, and clusters of k people."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tasks.core.clustering.problem import Problem
from tasks.core.records import Floats, Longs
from tasks.core.rows import take_rows
from tasks.core.similarity.costs import Costs

FIRST_LOOK = 4
"""k people are looked for among the first FIRST_LOOK * k units, then so many times further."""


class Space(Protocol):
    """How far units 0, 1, … are from each other and from the centre of some of them."""

    def from_centre(self, units: Longs) -> Floats:
        """Distance of each of the units from the centre of them all."""

    def from_unit(self, unit: int, units: Longs) -> Floats:
        """Distance of each of the units from one unit."""


class Sizes(Protocol):
    """How many units a cluster needs."""

    def needed(self, units: Longs) -> int:
        """The shortest beginning of the units that is enough for a cluster; 0 if all are not."""

    def enough(self, units: Longs) -> bool:
        """Whether the units together are enough for a cluster."""


class SetSpace:
    """Distinct sets under the graded cost; the centre of some of them is their medoid."""

    def __init__(self, problem: Problem, between: Costs) -> None:
        """Take `between` as of `between_sets`."""
        self._between = between
        self._counts = problem.counts.astype(np.float64)
        # What the records of the sets present would pay for each set. Not by `@`: the order in
        # which that adds up, and so the last digits, depend on the machine.
        self._totals = np.einsum("i,ij->j", self._counts, between)
        self._present = np.ones(len(problem), dtype=np.bool_)

    def from_centre(self, units: Longs) -> Floats:
        """Distance from the medoid; units that were left out of a call stay out."""
        left = self._present.copy()
        left[units] = False
        gone = np.flatnonzero(left)
        self._totals -= np.einsum("i,ij->j", self._counts[gone], self._between[gone])
        self._present[gone] = False
        medoid = int(units[np.argmin(np.round(self._totals[units], 6))])
        return self.from_unit(medoid, units)

    def from_unit(self, unit: int, units: Longs) -> Floats:
        return np.asarray(self._between[unit, units], dtype=np.float64)


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
        # Most often a few units already are, and more cannot be less.
        few = units[: FIRST_LOOK * self._problem.k]
        return self._problem.is_enough(few) or self._problem.is_enough(units)

    def _needed(self, units: Longs) -> int:
        problem = self._problem
        if not problem.is_enough(units):
            return 0
        offsets, places = take_rows(problem.user_offsets, units)
        _, first = np.unique(problem.users[places], return_index=True)
        last = np.partition(first, problem.k - 1)[problem.k - 1]
        return max(int(np.searchsorted(offsets, last, side="right")), problem.l)
