"""The concepts that clusters publish, and what stands for each attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tasks.core.arrays import distinct, ragged_of, take_ragged
from tasks.core.measures.losses import nearest_values
from tasks.core.records import Clusters, Ints, Longs, RecordTable, freeze
from tasks.core.taxonomy import Taxonomy

NO_CLUSTER = -1
_NONE: Ints = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSets:
    """What each cluster publishes, and what becomes of each attribute in it.

    Attributes:
        offsets, values: concepts of each cluster, ascending, as compressed rows; the last row,
            which is empty, is that of NO_CLUSTER.
        pairs: each set of each cluster as set * width + cluster, ascending.
        nearest_offsets, nearest: for each of these the published concept of each of the set's
            attributes, or -1 if nothing stands for it, as compressed rows.
        width: clusters are numbers below this.
    """

    offsets: Longs
    values: Ints
    pairs: Longs = field(repr=False)
    nearest_offsets: Longs = field(repr=False)
    nearest: Ints = field(repr=False)
    width: int

    def __post_init__(self) -> None:
        freeze(self)

    def concepts(self, clusters: Ints | Longs) -> tuple[Longs, Ints]:
        """What each of these clusters publishes, as compressed rows."""
        offsets, places = take_ragged(self.offsets, clusters)
        return offsets, self.values[places]

    def replacements(self, own_sets: Ints, clusters: Ints | Longs, slots: Ints) -> Ints:
        """The concept that stands for attribute slots[i] of a set in a cluster, or -1."""
        pairs = own_sets.astype(np.int64) * self.width + clusters
        starts = self.nearest_offsets[np.searchsorted(self.pairs, pairs)]
        return np.asarray(self.nearest[starts + slots])


def place_attributes(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
) -> PublishedSets:
    """Find the nearest published concept of every attribute of every set of each cluster."""
    offsets, values = ragged_of([*rows, _NONE])
    members = clusters.labels >= 0
    width = max(1, len(rows))
    pairs = distinct(table.set_of[members].astype(np.int64) * width + clusters.labels[members])
    own_sets, labels = np.divmod(pairs, width)
    left_offsets, places = take_ragged(table.sets.offsets, own_sets)
    right_offsets, right_places = take_ragged(offsets, labels)
    nearest = nearest_values(
        taxonomy,
        (left_offsets, table.sets.concepts[places]),
        (right_offsets, values[right_places]),
        inclusive=inclusive,
    )
    return PublishedSets(offsets, values, pairs, left_offsets, nearest, width)


def dissolve_bare(clusters: Clusters, rows: Sequence[Ints]) -> tuple[Clusters, list[Ints]]:
    """Treat records whose cluster publishes no concept as records without attributes."""
    speaks = np.array([len(row) > 0 for row in rows], dtype=np.bool_)
    number = np.append(np.where(speaks, np.cumsum(speaks) - 1, NO_CLUSTER), NO_CLUSTER)
    dissolved = Clusters(
        labels=number[clusters.labels].astype(np.int32),
        withheld=clusters.withheld,
        centroids=clusters.centroids[speaks],
    )
    return dissolved, [row for row in rows if len(row)]
