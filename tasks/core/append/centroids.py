"""The record in the middle of each cluster of a release, for its cohesion (Eq. 10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tasks.core.records import Clusters, RecordTable
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import group_medoids

MOST_CANDIDATES: Final = 64
"""The middle of a large cluster is looked for among so many of its most frequent sets."""


def with_centroids(table: RecordTable, clusters: Clusters, costs: SetCosts) -> Clusters:
    """The same clusters, each with the first record of its medoid, ties by order.

    Args:
        costs: of the table's sets.
    """
    held = np.flatnonzero(clusters.labels >= 0)
    keys = clusters.labels[held].astype(np.int64) * len(table.sets) + table.set_of[held]
    units, first, counts = np.unique(keys, return_index=True, return_counts=True)
    labels, sets = np.divmod(units, max(1, len(table.sets)))
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    groups = np.append(starts, len(sets)), sets
    found = group_medoids(costs, groups, counts, most_candidates=MOST_CANDIDATES)
    return replace(clusters, centroids=held[first[found]].astype(np.int32))
