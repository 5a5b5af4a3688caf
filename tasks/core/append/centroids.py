"""The record in the middle of each cluster of a release, for its cohesion (Eq. 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tasks.core.clustering.between import costs_between
from tasks.core.records import Clusters, RecordTable
from tasks.core.similarity.costs import SetCosts

MOST_CANDIDATES: Final = 64
"""The middle of a large cluster is looked for among so many of its most frequent sets."""


def with_centroids(table: RecordTable, clusters: Clusters, costs: SetCosts) -> Clusters:
    """The same clusters, each with the first record of its medoid, ties by order.

    Args:
        costs: of the table's sets.
    """
    members = np.flatnonzero(clusters.labels >= 0)
    members = members[np.argsort(clusters.labels[members], kind="stable")]
    bounds = np.searchsorted(clusters.labels[members], np.arange(1, clusters.count))
    found = [
        own[np.argmax(table.set_of[own] == _medoid(table.set_of[own], costs))]
        for own in np.split(members, bounds)
        if len(own)
    ]
    return replace(clusters, centroids=np.array(found, dtype=np.int32))


def _medoid(set_of: np.ndarray[tuple[int], np.dtype[np.int32]], costs: SetCosts) -> int:
    """The set that costs least in place of all records of a cluster."""
    sets, counts = np.unique(set_of, return_counts=True)
    tried = np.sort(np.lexsort((sets, -counts))[:MOST_CANDIDATES])
    between = costs_between(costs, sets[tried].astype(np.int64), sets.astype(np.int64))
    return int(sets[tried[np.argmin(np.round(between @ counts, 6))]])
