"""Steps that lower what a partition costs and keep every cluster one of k people and l sets.

Each step judges with the centres as they are, takes what saves most first, and then lets the
centres follow, which can only save more. So a step never makes a partition worse.
"""

from __future__ import annotations

import numpy as np

from tasks.core.partition import Partition
from tasks.core.records import Floats, Longs

SAVING = 1e-5
"""Less is taken for rounding: costs are in single precision."""


def move_sets(partition: Partition) -> None:
    """Move sets to the cluster where they cost least, if their own can spare them."""
    elsewhere, target = _cheapest_elsewhere(partition)
    saved = partition.own_costs - elsewhere
    touched: set[int] = set()
    for index in descending(saved):
        if partition.can_spare(index):
            touched |= {int(partition.labels[index]), int(target[index])}
            partition.move(index, int(target[index]))
    partition.refresh(touched)


def dissolve_clusters(partition: Partition) -> None:
    """Dissolve clusters whose members together cost less in other clusters."""
    elsewhere, target = _cheapest_elsewhere(partition)
    saved = np.bincount(
        partition.labels, partition.own_costs - elsewhere, minlength=len(partition.sizes)
    )
    groups = partition.groups()
    touched: set[int] = set()
    for label in descending(saved):
        targets = {int(target[index]) for index in groups[label]}
        # A cluster that has taken in others stays, and nobody goes where nobody is.
        if label in touched or not all(partition.sizes[other] for other in targets):
            continue
        for index in groups[label].tolist():
            partition.move(index, int(target[index]))
        touched |= targets
    partition.refresh(touched)
    partition.compact()


def _cheapest_elsewhere(partition: Partition) -> tuple[Floats, Longs]:
    """For each set the least cost in a cluster but its own, and that cluster."""
    every = np.arange(len(partition.labels))
    costs = partition.costs.copy()
    costs[partition.labels, every] = np.inf
    costs[~partition.living] = np.inf
    target = np.argmin(costs, axis=0)
    return costs[target, every].astype(np.float64), target


def descending(saved: Floats) -> list[int]:
    """Places of all real savings, greatest first, ties by place."""
    order = np.argsort(-saved, kind="stable")
    return order[saved[order] > SAVING].tolist()
