"""Cohesion: how near the records of a cluster are to its centroid (paper §4.1, Eq. 10)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tasks.core.choices import Distance
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import AttributeSets, Clusters, Floats, Longs, RecordTable
from tasks.core.similarity.distances import record_distances
from tasks.core.similarity.pairs import paired_matches
from tasks.core.starmap import Starmap, serial

LOW_COHESION = 0.45
"""The paper counts clusters below this (Figure 4)."""


def cluster_cohesion(
    table: RecordTable,
    clusters: Clusters,
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    *,
    distance: Distance,
    starmap: Starmap = serial,
    matches_per_part: int = PART_SIZES.matches_per_part,
) -> Floats:
    """Eq. 10 for each cluster: root of the mean distance to its centroid; alone: 0.

    Args:
        sets: the table's sets as rows of `similar`.
    """
    members = np.flatnonzero(clusters.labels >= 0)
    labels = clusters.labels[members]
    own = table.set_of[members].astype(np.int64)
    centre = table.set_of[clusters.centroids][labels].astype(np.int64)
    distinct, inverse = np.unique(np.stack([own, centre], 1), axis=0, return_inverse=True)
    shared = paired_matches(
        sets, similar, *distinct.T, starmap=starmap, matches_per_part=matches_per_part
    )
    both = sets.sizes[distinct].sum(axis=1).astype(np.float64)
    distances = record_distances(shared, both - shared, distance=distance)[inverse.ravel()]
    # The centroid itself does not count.
    distances[np.isin(members, clusters.centroids)] = 0.0
    totals = np.bincount(labels, distances, minlength=clusters.count)
    others = np.bincount(labels, minlength=clusters.count) - 1
    return np.sqrt(totals / np.maximum(others, 1))


def summarise_cohesion(cohesion: Floats, sizes: Longs) -> dict[str, float]:
    """The figures of Figure 4, counted by clusters and by records."""
    low = cohesion < LOW_COHESION
    q25, median, q75 = np.quantile(cohesion, [0.25, 0.5, 0.75]) if len(cohesion) else (0, 0, 0)
    records = max(1, int(sizes.sum()))
    return {
        "q25": float(q25),
        "median": float(median),
        "q75": float(q75),
        "clusters_below_0_45": float(low.mean()) if len(low) else 0.0,
        "records_below_0_45": float(sizes[low].sum() / records),
        "record_weighted": float((cohesion * sizes).sum() / records),
    }
