"""Exchanges between clusters that can spare nothing (see `improvements` for what steps keep).

A cluster of just k people cannot give a set away unless it gets one for it: cluster A gives a
set to B and gets one from B in return, or from any cluster that can spare it.
"""

from __future__ import annotations

import numpy as np

from tasks.core.costs import Costs
from tasks.core.improvements import descending
from tasks.core.partition import Partition
from tasks.core.records import Longs


def exchange_sets(partition: Partition) -> None:
    """Make the exchanges that save most, each cluster taking part in one at most."""
    every = np.arange(len(partition.labels))
    changes = partition.costs - partition.own_costs
    changes[partition.labels, every] = np.inf
    spared = changes.copy()
    spared[:, [not partition.can_spare(index) for index in every.tolist()]] = np.inf
    giving = _least_by_giver(partition, changes)
    source = np.argmin(spared, axis=1)
    from_anyone = spared[np.arange(len(source)), source]
    # What giver (column) saves if it gives to taker (row), best return included.
    saved = -(giving + np.minimum(giving.T, from_anyone))
    taker = np.argmax(saved, axis=0)
    best = saved[taker, np.arange(len(taker))].astype(np.float64)
    groups = partition.groups()
    touched: set[int] = set()
    for giver in descending(best):
        other = int(taker[giver])
        given = _cheapest(changes[other], groups[giver])
        returned = _cheapest(changes[giver], groups[other])
        if from_anyone[giver] < changes[giver, returned]:
            returned = int(source[giver])
        involved = {giver, other, int(partition.labels[returned])}
        if not touched & involved and _exchange(partition, given, other, returned):
            touched |= involved
    partition.refresh(touched)


def _least_by_giver(partition: Partition, changes: Costs) -> Costs:
    """Least change if the cluster of the column gives one set to that of the row."""
    order = np.argsort(partition.labels, kind="stable")
    starts = np.cumsum([0, *partition.sizes[:-1]])
    return np.minimum.reduceat(changes[:, order], starts, axis=1)


def _cheapest(changes: Costs, sets: Longs) -> int:
    return int(sets[np.argmin(changes[sets])])


def _exchange(partition: Partition, given: int, taker: int, returned: int) -> bool:
    """Move one set to the taker and another in its place, unless a cluster would fall short."""
    giver, source = int(partition.labels[given]), int(partition.labels[returned])
    partition.move(given, taker)
    partition.move(returned, giver)
    if partition.is_valid(giver) and partition.is_valid(source) and partition.is_valid(taker):
        return True
    partition.move(given, giver)
    partition.move(returned, source)
    return False
