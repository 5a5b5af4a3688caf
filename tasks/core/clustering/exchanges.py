"""Exchanges between clusters that can spare nothing (see `improvements` for what steps keep).

A cluster of just k people cannot give a set away unless it gets one for it: cluster A gives a
set to B and gets one from B in return, or from any cluster that can spare it. Only pairs of
clusters are looked at of which one holds a set that would cost less in the other.
"""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.improvements import descending
from tasks.core.clustering.partition import Partition
from tasks.core.records import Longs
from tasks.core.rows import take_rows
from tasks.core.similarity.costs import Costs


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
