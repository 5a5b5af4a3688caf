"""Steps that lower what a partition costs and keep every cluster one of k people and l sets.

Each step judges with the centres as they are, takes what saves most first, and then lets the
centres follow, which can only save more. So no step makes a partition worse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.clustering.partition import Partition
from tasks.core.generalisation.sums import sums_by
from tasks.core.records import Floats, Longs
from tasks.core.similarity.costs import Costs

SAVING = 1e-5
"""Less is taken for rounding: costs are in single precision."""


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
