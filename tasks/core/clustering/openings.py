"""New clusters around sets, where that saves (see `improvements` for what steps keep)."""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.improvements import SAVING, descending
from tasks.core.clustering.partition import Partition
from tasks.core.clustering.problem import Problem
from tasks.core.records import Floats, Longs
from tasks.core.similarity.costs import Costs


class Openings:
    """Every set of a problem as the centre of a new cluster."""

    def __init__(self, problem: Problem, between: Costs, near: Longs) -> None:
        """Prepare to open clusters.

        Args:
            between: costs between the sets, as of `between_sets`.
            near: the sets that a cluster around each set may take.
        """
        self._near = near
        counts = problem.counts.astype(np.float32)
        self._near_costs = np.take_along_axis(between, near, axis=1) * counts[near]
        self._near_people = np.diff(problem.user_offsets)[near]
        # What a cluster around each set promised when it last came to nothing.
        self._in_vain = np.full(len(problem), np.nan)

    def open_clusters(self, partition: Partition) -> None:
        """Open clusters that save, those first that promise most."""
        own = partition.own_costs
        promises = self._promises(partition, own, SAVING)
        # The same promise as last time: nothing has changed around the set.
        promises[promises == self._in_vain] = 0.0
        touched: set[int] = set()
        for centre in descending(promises):
            changed = self._open(partition, centre, own, SAVING)
            if not changed:
                self._in_vain[centre] = promises[centre]
            touched |= changed
        partition.refresh(touched)

    def open_for_free(self, partition: Partition) -> None:
        """Open clusters that cost nothing, around frequent sets first.

        Concepts with the same ancestors are at no distance, so that many of them in one cluster
        cost nothing; yet more of them are published as they are by many clusters.
        """
        own = partition.own_costs
        promises = self._promises(partition, own, -SAVING)
        touched: set[int] = set()
        for centre in np.argsort(-partition.problem.counts, kind="stable").tolist():
            if promises[centre] > -SAVING:
                touched |= self._open(partition, centre, own, -SAVING)
        partition.refresh(touched)

    def _promises(self, partition: Partition, own: Costs, least: float) -> Floats:
        """At most so much a cluster around each set saves, shape (sets,).

        It would take every set that saves and can be spared, and further ones while it is short
        of k people even if all their users were different. What promises no more than `least`
        is not looked at so closely.
        """
        lost = np.where(partition.spared(), -own, np.inf)[self._near] + self._near_costs
        promises = -np.minimum(lost, 0.0).sum(axis=1, dtype=np.float64)
        people = (self._near_people * (lost < 0)).sum(axis=1)
        short = np.flatnonzero((promises > least) & (people < partition.problem.k))
        order = np.argsort(lost[short], axis=1, kind="stable")
        lost = np.take_along_axis(lost[short], order, axis=1)
        people = np.take_along_axis(self._near_people[short], order, axis=1)
        before = people.cumsum(axis=1) - people
        taken = (lost < 0) | (before < partition.problem.k)
        promises[short] = -np.where(taken, lost, 0.0).sum(axis=1, dtype=np.float64)
        return np.asarray(promises)

    def _open(self, partition: Partition, centre: int, own: Costs, least: float) -> set[int]:
        """Open one cluster if that saves more than `least`; the clusters that it changes."""
        near, near_costs = self._near[centre], self._near_costs[centre]
        saved = own[near] - near_costs
        if saved[saved > 0].sum() <= least:
            return set()
        label = partition.open(centre)
        moved = _fill(partition, label, near, saved, least)
        if partition.is_valid(label):
            own[near] = np.where(partition.labels[near] == label, near_costs, own[near])
            return {label, *moved.values()}
        for index, old in moved.items():
            partition.move(index, old)
        partition.discard_last()
        return set()


def _fill(
    partition: Partition, label: int, near: Longs, saved: Costs, least: float
) -> dict[int, int]:
    """Move to a new cluster what saves, then what it needs; the moved sets and where they were."""
    moved: dict[int, int] = {}
    total = 0.0
    order = np.argsort(-saved, kind="stable")
    for index, saving in zip(near[order].tolist(), saved[order].tolist(), strict=True):
        if saving <= 0 and (partition.is_valid(label) or total + saving <= least):
            break
        if partition.can_spare(index):
            moved[index] = int(partition.labels[index])
            partition.move(index, label)
            total += saving
    return moved
