"""Steps that lower what a partition costs and keep every cluster one of k people and l sets.

Each step judges with the centres as they are, takes what saves most first, and then lets the
centres follow, which can only save more. So no step makes a partition worse.

- `move_sets`, `dissolve_clusters`: sets go where they cost less, one by one or a cluster at a time.
- `exchange_sets`: a cluster of just k people cannot give a set away unless it gets one for it:
  cluster A gives a set to B and gets one from B in return, or from any cluster that can spare it.
  Only pairs of clusters are looked at of which one holds a set that would cost less in the other.
- `NewClusters`: new clusters around sets, where that saves.
- `improved`: rounds of these steps, while they are worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tasks.core.arrays import sums_by, take_ragged
from tasks.core.clustering.partition import Partition
from tasks.core.clustering.problem import Problem
from tasks.core.records import Floats, Longs
from tasks.core.similarity.costs import Costs

SAVING = 1e-5
"""Less is taken for rounding: costs are in single precision."""

WORTHWHILE: Final = 1e-3
"""Rounds end when one saves less than this share."""


def move_sets(partition: Partition) -> None:
    """Move sets to the cluster where they cost least, if their own can spare them."""
    elsewhere, target = cheapest_elsewhere(partition)
    touched: set[int] = set()
    for index in descending(partition.own_costs - elsewhere):
        if partition.can_spare(index):
            touched |= {int(partition.labels[index]), int(target[index])}
            partition.move(index, int(target[index]))
    partition.refresh(touched)


def dissolve_clusters(partition: Partition) -> None:
    """Dissolve clusters whose members together cost less in other clusters."""
    elsewhere, target = cheapest_elsewhere(partition)
    saved = sums_by(partition.labels, partition.own_costs - elsewhere, len(partition.sizes))
    groups = partition.groups()
    touched: set[int] = set()
    for label in descending(saved):
        targets = set(target[groups[label]].tolist())
        # A cluster that has taken in others stays, and nobody goes where nobody is.
        if label not in touched and all(partition.sizes[other] for other in targets):
            for index in groups[label].tolist():
                partition.move(index, int(target[index]))
            touched |= targets
    partition.refresh(touched)


def scatter_clusters(partition: Partition, chosen: Sequence[int]) -> None:
    """Dissolve some of the clusters, whatever it costs: each set goes where it costs least."""
    staying = np.setdiff1d(np.arange(len(partition.sizes)), chosen)
    target = staying[_least_of_columns(partition.costs[staying])[1]]
    scattered = np.flatnonzero(np.isin(partition.labels, chosen))
    for index in scattered.tolist():
        partition.move(index, int(target[index]))
    partition.refresh(np.unique(target[scattered]).tolist())


def cheapest_elsewhere(partition: Partition) -> tuple[Floats, Longs]:
    """For each set the least cost in a cluster but its own, and that cluster."""
    costs, own = partition.costs, partition.own_costs
    places = partition.labels, np.arange(len(own))
    # Put back below: a copy would take as long as all the rest.
    costs[places] = np.inf
    least, target = _least_of_columns(costs)
    costs[places] = own
    return least.astype(np.float64), target


def _least_of_columns(costs: Costs) -> tuple[Costs, Longs]:
    """The least of each column and the first row that holds it; twice as fast as numpy's."""
    least = costs.min(axis=0)
    rows, columns = np.divmod(np.flatnonzero(costs == least), costs.shape[1])
    first = np.empty(costs.shape[1], dtype=np.int64)
    # Of several the first stays: it is written last.
    first[columns[::-1]] = rows[::-1]
    return least, first


def descending(saved: Floats) -> list[int]:
    """Places of all real savings, greatest first, ties by place."""
    order = np.argsort(-saved, kind="stable")
    return [int(place) for place in order[saved[order] > SAVING]]


def exchange_sets(partition: Partition) -> None:
    """Make the exchanges that save most, each cluster taking part in one at most."""
    givers, takers, back = _promising_pairs(partition)
    if not len(givers):
        return
    given, changes = _cheapest_gifts(partition, givers, takers)
    source, from_anyone = _spared_by_anyone(partition)
    # The best return is the taker's cheapest gift to the giver, or what anyone can spare.
    anyone = from_anyone[givers] < changes[back]
    returned = np.where(anyone, source[givers], given[back])
    saved = -(changes + np.minimum(changes[back], from_anyone[givers]))
    best = np.array(descending(saved.astype(np.float64)), dtype=np.int64)
    sources = partition.labels[returned[best]]
    clusters = zip(givers[best].tolist(), takers[best].tolist(), sources.tolist(), strict=True)
    sets = zip(given[best].tolist(), returned[best].tolist(), strict=True)
    touched: set[int] = set()
    for involved, exchanged in zip(clusters, sets, strict=True):
        if touched.isdisjoint(involved) and _exchange(partition, involved, exchanged):
            touched.update(involved)
    partition.refresh(touched)


def _promising_pairs(partition: Partition) -> tuple[Longs, Longs, Longs]:
    """Givers and takers, and where each pair stands the other way round."""
    count = len(partition.sizes)
    cheaper = np.flatnonzero(partition.costs < partition.own_costs)
    others, sets = np.divmod(cheaper, len(partition.labels))
    promising = np.zeros((count, count), dtype=np.bool_)
    promising[partition.labels[sets], others] = True
    pairs = np.flatnonzero(promising | promising.T)
    givers, takers = np.divmod(pairs, count)
    return givers, takers, np.searchsorted(pairs, takers * count + givers)


def _cheapest_gifts(partition: Partition, givers: Longs, takers: Longs) -> tuple[Longs, Costs]:
    """For each pair the set of the giver whose way to the taker changes the costs least."""
    members = np.argsort(partition.labels, kind="stable")
    bounds = np.cumsum([0, *partition.sizes])
    offsets, places = take_ragged(bounds, givers)
    sets, pair = members[places], np.repeat(np.arange(len(givers)), np.diff(offsets))
    changes = partition.costs[takers[pair], sets] - partition.own_costs[sets]
    least = np.minimum.reduceat(changes, offsets[:-1])
    at_least = np.flatnonzero(changes == least[pair])
    first = at_least[np.searchsorted(at_least, offsets[:-1])]
    return sets[first], least


def _spared_by_anyone(partition: Partition) -> tuple[Longs, Costs]:
    """For each cluster the set that any other can spare to it with the least change, and that."""
    spared = np.flatnonzero(partition.spared())
    count = len(partition.sizes)
    if not len(spared):
        return np.zeros(count, dtype=np.int64), np.full(count, np.inf, dtype=np.float32)
    changes = partition.costs.take(spared, axis=1)
    changes -= partition.own_costs[spared]
    changes[partition.labels[spared], np.arange(len(spared))] = np.inf
    best = np.argmin(changes, axis=1)
    return spared[best], changes[np.arange(count), best]


def _exchange(partition: Partition, involved: tuple[int, int, int], sets: tuple[int, int]) -> bool:
    """Move the giver's set to the taker and the source's in its place, unless one falls short."""
    (giver, taker, source), (given, returned) = involved, sets
    partition.move(given, taker)
    partition.move(returned, giver)
    if all(map(partition.is_valid, involved)):
        return True
    partition.move(given, giver)
    partition.move(returned, source)
    return False


class NewClusters:
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


Step = Callable[[Partition], None]

STEPS: Final[Sequence[Step]] = (move_sets, dissolve_clusters, exchange_sets)
"""The steps that need to know what sets cost at centres, and nothing else."""


def improved(partition: Partition, steps: Sequence[Step], most_rounds: int) -> Partition:
    """The partition after rounds of the steps, while they are worth it."""
    for _ in range(most_rounds):
        before = partition.total
        for step in steps:
            step(partition)
        if before - partition.total <= WORTHWHILE * before:
            break
    return partition
