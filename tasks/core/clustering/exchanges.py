"""Exchanges between clusters that can spare nothing (see `improvements` for what steps keep).

A cluster of just k people cannot give a set away unless it gets one for it: cluster A gives a
set to B and gets one from B in return, or from any cluster that can spare it. Only pairs of
clusters are looked at of which one holds a set that would cost less in the other.
"""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.improvements import descending
from tasks.core.clustering.partition import Partition
from tasks.core.costs import Costs
from tasks.core.records import Longs
from tasks.core.rows import take_rows


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
    touched: set[int] = set()
    for pair in descending(saved.astype(np.float64)):
        exchange = int(given[pair]), int(takers[pair]), int(returned[pair])
        touched |= _exchange(partition, *exchange, touched)
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
    offsets, places = take_rows(bounds, givers)
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
