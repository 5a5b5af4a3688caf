"""A first partition: every set opens a cluster, and those with too few people close again.

The drop heuristic of facility location (Feldman, Lehrer, Ray: Warehouse location under continuous
economies of scale, Management Science 12, 1966), with a least number of people per cluster in
place of an opening cost. Where MDAV begins at the rim and forces whoever is left together, here
every set ends at the nearest of the sets that are left open.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from tasks.core.clustering.problem import Problem, renumbered
from tasks.core.records import Ints, Longs
from tasks.core.similarity.costs import Costs


def reverse_greedy_labels(problem: Problem, between: Costs, near: Longs) -> Ints:
    """Labels of a solvable problem.

    Args:
        between: costs between its sets, as of `between_sets`.
        near: for each set those that are looked at first, before all that are still open.
    """
    return renumbered(_Closing(problem, between, near).run())


class _Closing:
    """Which sets are still open, and at which of them every set is.

    Attributes:
        near, near_costs: for each set open sets in order of their cost to it, and that cost.
        at: the place in `near` of the open set at which it is.
        members, users: the sets at each open set, and who holds them.
    """

    def __init__(self, problem: Problem, between: Costs, near: Longs) -> None:
        self.problem = problem
        self.between = between
        count = len(problem)
        costs = np.take_along_axis(between, near, axis=1) * problem.counts[:, None]
        self.near: list[list[int]] = near.tolist()
        self.near_costs: list[list[float]] = costs.tolist()
        self.at = [0] * count
        self.open = [True] * count
        self.members: list[list[int]] = [[] for _ in range(count)]
        self.users: list[set[int]] = [set() for _ in range(count)]
        for index, near in enumerate(self.near):
            self._join(index, near[0])

    def run(self) -> Ints:
        """Close what costs least per missing user until every open set has enough people.

        The price of closing only grows while others close, so an old price is a lower bound and
        is looked at again only when its turn comes.
        """
        waiting = [(self._price(i), i) for i in range(len(self.open)) if self._falls_short(i)]
        heapify(waiting)
        left = len(self.open)
        while waiting and left > 1:
            index = heappop(waiting)[1]
            if not self._falls_short(index):
                continue
            price = self._price(index)
            if waiting and price > waiting[0][0]:
                heappush(waiting, (price, index))
            else:
                self._close(index)
                left -= 1
        return np.array([near[at] for near, at in zip(self.near, self.at, strict=True)], np.int32)

    def _falls_short(self, index: int) -> bool:
        problem = self.problem
        return len(self.users[index]) < problem.k or len(self.members[index]) < problem.l

    def _price(self, index: int) -> float:
        """What the members of an open set would pay more, per user that it lacks."""
        more = 0.0
        for member in self.members[index]:
            costs = self.near_costs[member]
            more += costs[self._next(member)] - costs[self.at[member]]
        return more / max(1, self.problem.k - len(self.users[index]))

    def _next(self, member: int) -> int:
        """Place of the nearest open set but the one where the member is."""
        near = self.near[member]
        for place in range(self.at[member] + 1, len(near)):
            if self.open[near[place]]:
                return place
        self._look_further(member)
        return self.at[member] + 1

    def _look_further(self, member: int) -> None:
        """Replace what has been looked through by all that is open, in order."""
        at = self.at[member]
        here = self.near[member][at]
        is_open = np.array(self.open)
        is_open[here] = False
        others = np.flatnonzero(is_open)
        costs = self.between[member, others] * self.problem.counts[member]
        order = np.argsort(costs, kind="stable")
        self.near[member][at + 1 :] = others[order].tolist()
        self.near_costs[member][at + 1 :] = costs[order].tolist()

    def _close(self, index: int) -> None:
        self.open[index] = False
        for member in self.members[index]:
            self.at[member] = self._next(member)
            self._join(member, self.near[member][self.at[member]])
        self.members[index], self.users[index] = [], set()

    def _join(self, member: int, index: int) -> None:
        self.members[index].append(member)
        self.users[index].update(self.problem.users_of(member).tolist())
