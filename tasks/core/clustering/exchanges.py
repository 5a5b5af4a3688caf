"""Exchanges between clusters that can spare nothing (see `improvements` for what steps keep).

A cluster of just k people cannot give a set away unless it gets one for it: cluster A gives a
set to B and gets one from B in return, or from any cluster that can spare it.
"""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.improvements import descending
from tasks.core.clustering.partition import Partition
from tasks.core.costs import Costs
from tasks.core.records import Longs


def exchange_sets(partition: Partition) -> None:
    """Make the exchanges that save most, each cluster taking part in one at most."""
    changes = partition.costs - partition.own_costs[:, None]
    changes[np.arange(len(changes)), partition.labels] = np.inf
    giving = _least_by_giver(partition, changes)
    source, from_anyone = _spared_by_anyone(partition, changes)
    # What the giver (row) saves if it gives to the taker (column), with the best return.
    saved = -(giving + np.minimum(giving.T, from_anyone[:, None]))
    takers = np.argmax(saved, axis=1)
    groups = partition.groups()
    touched: set[int] = set()
    for giver in descending(saved[np.arange(len(takers)), takers].astype(np.float64)):
        taker = int(takers[giver])
        given = _cheapest(changes[:, taker], groups[giver])
        returned = _cheapest(changes[:, giver], groups[taker])
        if from_anyone[giver] < changes[returned, giver]:
            returned = int(source[giver])
        touched |= _exchange(partition, given, taker, returned, touched)
    partition.refresh(touched)


def _least_by_giver(partition: Partition, changes: Costs) -> Costs:
    """Least change if the cluster of the row gives one set to that of the column."""
    order = np.argsort(partition.labels, kind="stable")
    starts = np.cumsum([0, *partition.sizes[:-1]])
    return np.asarray(np.minimum.reduceat(changes[order], starts, axis=0), dtype=np.float32)


def _spared_by_anyone(partition: Partition, changes: Costs) -> tuple[Longs, Costs]:
    """For each cluster the set that any other can spare to it with the least change, and that."""
    spared = np.flatnonzero(partition.spared())
    if not len(spared):
        count = changes.shape[1]
        return np.zeros(count, dtype=np.int64), np.full(count, np.inf, dtype=np.float32)
    best = np.argmin(changes[spared], axis=0)
    return spared[best], changes[spared[best], np.arange(len(best))]


def _cheapest(changes: Costs, sets: Longs) -> int:
    return int(sets[np.argmin(changes[sets])])


def _exchange(
    partition: Partition, given: int, taker: int, returned: int, touched: set[int]
) -> set[int]:
    """Move one set to the taker and another in its place; the clusters that this changes.

    Nothing is done if one of them has been touched already or would fall short.
    """
    giver, source = int(partition.labels[given]), int(partition.labels[returned])
    involved = {giver, taker, source}
    if touched & involved:
        return set()
    partition.move(given, taker)
    partition.move(returned, giver)
    if all(partition.is_valid(label) for label in involved):
        return involved
    partition.move(given, giver)
    partition.move(returned, source)
    return set()
