"""New clusters around sets, where that saves (see `improvements` for what steps keep)."""

from __future__ import annotations

import numpy as np

from tasks.core.costs import Costs
from tasks.core.improvements import SAVING, descending
from tasks.core.partition import Partition
from tasks.core.problem import Problem
from tasks.core.records import Floats

LEAST_NEAR = 64
NEAR_PER_USER = 4
"""A new cluster of k people takes from the 64 or 4k sets nearest to its centre."""


class Openings:
    """Every set of a problem as the centre of a new cluster."""

    def __init__(self, problem: Problem, costs: Costs) -> None:
        """Take `costs` as of `CostTable.of_sets`."""
        self._costs = costs
        count = min(len(problem), max(LEAST_NEAR, NEAR_PER_USER * problem.k))
        near = np.argpartition(costs / problem.counts, count - 1, axis=1)[:, :count]
        self._near = np.sort(near, axis=1)
        self._near_costs = np.take_along_axis(costs, self._near, axis=1)
        self._user_counts = np.diff(problem.user_offsets)

    def open_clusters(self, partition: Partition) -> None:
        """Open clusters, those first that promise most."""
        own = partition.own_costs
        touched: set[int] = set()
        for centre in descending(self._promises(partition, own)):
            touched |= self._open(partition, centre, own)
        partition.refresh(touched)
        partition.compact()

    def _promises(self, partition: Partition, own: Costs) -> Floats:
        """At most so much a cluster around each set saves, shape (sets,).

        It would take every set that saves and that can be spared, and further ones while it is
        short of k people even if all their users were different.
        """
        spared = [partition.can_spare(index) for index in range(len(own))]
        lost = np.where(spared, -own, np.inf)[self._near] + self._near_costs
        order = np.argsort(lost, axis=1, kind="stable")
        lost = np.take_along_axis(lost, order, axis=1)
        people = self._user_counts[np.take_along_axis(self._near, order, axis=1)].cumsum(axis=1)
        short = people - self._user_counts[np.take_along_axis(self._near, order, axis=1)]
        needed = (lost < 0) | (short < partition.problem.k)
        totals = np.where(needed, lost, 0.0).sum(axis=1)
        totals[people[:, -1] < partition.problem.k] = np.inf
        return np.asarray(-totals, dtype=np.float64)

    def _open(self, partition: Partition, centre: int, own: Costs) -> set[int]:
        """Open one cluster if that saves; the clusters that it changes."""
        near, near_costs = self._near[centre], self._near_costs[centre]
        saved = own[near] - near_costs
        if np.maximum(saved, 0.0).sum() <= SAVING:
            return set()
        label = partition.open(centre)
        moved: list[tuple[int, int]] = []
        total = 0.0
        order = np.argsort(-saved, kind="stable")
        for index, saving in zip(near[order].tolist(), saved[order].tolist(), strict=True):
            if saving <= 0 and (partition.is_valid(label) or total + saving <= SAVING):
                break
            if partition.can_spare(index):
                moved.append((index, int(partition.labels[index])))
                partition.move(index, label)
                total += saving
        if not partition.is_valid(label):
            for index, old in moved:
                partition.move(index, old)
            return set()
        for index, _ in moved:
            own[index] = self._costs[centre, index]
        return {label, *(old for _, old in moved)}
