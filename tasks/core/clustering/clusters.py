"""Clusters of records: from labels of any method to clusters of at least k people."""

from __future__ import annotations

import numpy as np

from tasks.core.choices import Distance
from tasks.core.clustering.paper import cluster_nodes, node_centroids
from tasks.core.records import Clusters, Ints, Longs, RecordTable
from tasks.core.rows import distinct
from tasks.core.similarity.pairs import SetPairs, record_pairs


def people_per_label(labels: Ints | Longs, users: Ints, count: int) -> Longs:
    """Distinct users (or sets) behind each label 0 … count - 1; label -1 does not count."""
    chosen = labels >= 0
    width = int(users.max(initial=0)) + 1
    keys = distinct(labels[chosen].astype(np.int64) * width + users[chosen])
    return np.bincount(keys // width, minlength=count).astype(np.int64)


def withhold_small(
    labels: Ints,
    users: Ints,
    sets: Ints,
    centroids: Longs,
    *,
    k: int,
    l: int,  # noqa: E741 - the literature's name
) -> Clusters:
    """Keep the clusters of at least k people and l sets, numbered anew; withhold the others."""
    large = (people_per_label(labels, users, len(centroids)) >= k) & (
        people_per_label(labels, sets, len(centroids)) >= l
    )
    number = np.append(np.where(large, np.cumsum(large) - 1, -1), -1).astype(np.int32)
    kept = number[labels]
    return Clusters(
        labels=kept,
        withheld=(labels >= 0) & (kept < 0),
        centroids=centroids[large].astype(np.int32),
    )


def cluster_as_printed(
    table: RecordTable,
    set_pairs: SetPairs,
    *,
    k: int,
    l: int,  # noqa: E741
    distance: Distance,
) -> Clusters:
    """Algorithm 3 on the records that hold attributes (they stand last in canonical order)."""
    first = int(np.searchsorted(table.set_of, 0))
    own_sets = table.set_of[first:]
    bounds = np.searchsorted(own_sets, np.arange(len(table.sets) + 1)).astype(np.int64)
    pairs = record_pairs(set_pairs, table.sets, bounds, distance=distance)
    node_labels = cluster_nodes(pairs)
    labels = np.full(len(table), -1, dtype=np.int32)
    labels[first:] = np.repeat(node_labels, pairs.sizes)
    centroids = node_centroids(pairs, node_labels) + first
    return withhold_small(labels, table.users, table.set_of, centroids, k=k, l=l)
