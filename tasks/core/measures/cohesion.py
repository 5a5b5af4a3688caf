"""Cohesion: how near the records of a cluster are to its centroid (paper §4.1, Eq. 10)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from tasks.core.arrays import distinct
from tasks.core.choices import Distance
from tasks.core.columns import counts_of, row_parts
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import AttributeSets, Clusters, Floats, Ints, Longs, RecordTable
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
    centres = table.set_of_form[table.form_of[clusters.centroids]]
    pairs = np.zeros(0, dtype=np.int64)
    for _, _, keys in _pairs_of_members(table, clusters, centres):
        pairs = distinct(np.concatenate([pairs, distinct(keys)]))
    own, centre = np.divmod(pairs, max(1, len(table.sets)))
    shared = paired_matches(
        sets, similar, own, centre, starmap=starmap, matches_per_part=matches_per_part
    )
    both = (sets.sizes[own] + sets.sizes[centre]).astype(np.float64)
    of_pair = record_distances(shared, both - shared, distance=distance)
    totals = np.zeros(clusters.count)
    for members, labels, keys in _pairs_of_members(table, clusters, centres):
        distances = of_pair[np.searchsorted(pairs, keys)]
        # The centroid itself does not count.
        distances[members == clusters.centroids[labels]] = 0.0
        np.add.at(totals, labels, distances)
    others = counts_of(clusters.labels, clusters.count) - 1
    return np.sqrt(totals / np.maximum(others, 1))


def _pairs_of_members(
    table: RecordTable, clusters: Clusters, centres: Ints
) -> Iterator[tuple[Longs, Ints, Longs]]:
    """Records in clusters, their clusters, and a number for each pair of own set and centre's."""
    for rows in row_parts(len(table)):
        members = np.flatnonzero(clusters.labels[rows] >= 0) + rows.start
        labels = clusters.labels[members]
        own = table.set_of_form[table.form_of[members]].astype(np.int64)
        yield members, labels, own * len(table.sets) + centres[labels]


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
