"""A first partition: every set opens a cluster, and those with too few people close again.

The drop heuristic of facility location (Feldman, Lehrer, Ray 1966), with a least number of people
per cluster in place of an opening cost. Where MDAV starts at the rim and forces whoever is left
together, here every set ends at the nearest set of those that are left open.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from tasks.core.costs import Costs
from tasks.core.problem import Problem
from tasks.core.records import Ints, Longs

NEAREST = 32
"""So many of the nearest sets are looked at before all that are open."""


def reverse_greedy_labels(problem: Problem, costs: Costs) -> Ints:
    """Labels of a solvable problem; `costs` as of `CostTable.of_sets`."""
    return _Closing(problem, costs).run()


class _Closing:
    """Which sets are still open, and which set every set is at.

    Attributes:
        at: the open set that each set is at, as a place in its list of nearest sets.
        members: the sets at each open set.
    """

    def __init__(self, problem: Problem, costs: Costs) -> None:
        count = len(problem)
        self.problem = problem
        self.costs = costs
        self.open = np.ones(count, dtype=np.bool_)
        self.near = _nearest(costs, min(NEAREST, count)).tolist()
        self.at = [0] * count
        self.members: list[list[int]] = [[] for _ in range(count)]
        for index, near in enumerate(self.near):
            self.members[near[0]].append(index)
        self.users = [problem.users_of(index).tolist() for index in range(count)]

    def run(self) -> Ints:
        """Close what costs least per missing user, until every open set has enough people.

        What closing costs only grows while others close, so an old figure is a lower bound and
        is looked at again only when it comes up.
        """
        count = len(self.open)
        waiting = [(self._price(i), i) for i in range(count) if self._missing(i)]
        heapify(waiting)
        left = count
        while waiting and left > 1:
            _, index = heappop(waiting)
            if not self._missing(index):
                continue
            price = self._price(index)
            if waiting and price > waiting[0][0]:
                heappush(waiting, (price, index))
                continue
            self._close(index)
            left -= 1
        return np.array([near[at] for near, at in zip(self.near, self.at, strict=True)], np.int32)
