"""What a release costs: cohesion (Eq. 10) and information loss (Eq. 11–13) (paper §4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tasks.core.choices import Distance
from tasks.core.distances import record_distances
from tasks.core.losses import row_losses
from tasks.core.pairs import paired_matches
from tasks.core.records import (
    AttributeSets,
    Clusters,
    Floats,
    Ints,
    Longs,
    RecordTable,
    Release,
)
from tasks.core.rows import take_rows
from tasks.core.taxonomy import Taxonomy
from tasks.core.topics import TopicMap

LOW_COHESION = 0.45
"""The paper counts clusters below this (Figure 4)."""


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """Eq. 11 in percent: of what is lost; of what is lost or made up; per topic."""

    percent: float
    symmetric_percent: float
    by_topic: dict[str, float]


def cluster_cohesion(
    table: RecordTable,
    clusters: Clusters,
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    *,
    distance: Distance,
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
    shared = paired_matches(sets, similar, distinct[:, 0], distinct[:, 1])
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


def information_loss(
    table: RecordTable,
    release: Release,
    centre: Ints,
    taxonomy: Taxonomy,
    topics: TopicMap,
    *,
    inclusive: bool,
) -> InformationLoss:
    """Eq. 11–13 over all records with attributes, published or withheld.

    The published value of an attribute is the nearest of its row's published concepts; an
    attribute of a withheld record, or of a row that publishes none, costs δ = 1.

    Args:
        centre: the concepts of the data set's centre, against which Eq. 13 measures.
    """
    records = np.flatnonzero(table.set_of >= 0)
    pairs = np.stack([table.form_of[records], release.class_of[records]], axis=1)
    distinct, counts = np.unique(pairs.astype(np.int64), axis=0, return_counts=True)
    left = form_attributes(table, distinct[:, 0])
    error = row_losses(taxonomy, left[:2], _published(release, distinct[:, 1]), inclusive=inclusive)
    total = row_losses(taxonomy, left[:2], _repeated(centre, len(distinct)), inclusive=inclusive)
    weights = left[2] * np.repeat(counts, np.diff(left[0]))
    error_made_up = float((error.made_up * counts).sum())
    total_made_up = float((total.made_up * counts).sum())
    lost, spread = error.lost * weights, total.lost * weights
    return InformationLoss(
        percent=percent_of(lost.sum(), spread.sum()),
        symmetric_percent=percent_of(lost.sum() + error_made_up, spread.sum() + total_made_up),
        by_topic=_by_topic(left[1], lost, spread, topics),
    )


def percent_of(part: float, whole: float) -> float:
    return float(100.0 * part / whole) if whole > 0 else 0.0


def form_attributes(table: RecordTable, forms: Longs) -> tuple[Longs, Ints, Floats]:
    offsets, places = take_rows(table.forms.attribute_offsets, forms)
    weights = table.forms.weights[places].astype(np.float64)
    return offsets, table.forms.attributes[places], weights


def _published(release: Release, classes: Longs) -> tuple[Longs, Ints]:
    """Published concepts of each class; class -1, a withheld record, publishes none."""
    padded = np.append(release.concept_offsets, release.concept_offsets[-1])
    rows = np.where(classes >= 0, classes, len(padded) - 2)
    offsets, places = take_rows(padded, rows)
    return offsets, release.concepts[places]


def _repeated(values: Ints, times: int) -> tuple[Longs, Ints]:
    return np.arange(times + 1, dtype=np.int64) * len(values), np.tile(values, times)


def _by_topic(concepts: Ints, lost: Floats, spread: Floats, topics: TopicMap) -> dict[str, float]:
    """Eq. 11 over the attributes of each topic that occurs; the rest is ``other``."""
    first = topics.first_topics(concepts)
    names = [*topics.names, "other"]
    places = np.where(first >= 0, first, len(names) - 1)
    part = np.bincount(places, lost, minlength=len(names))
    whole = np.bincount(places, spread, minlength=len(names))
    return {
        name: percent_of(part[place], whole[place])
        for place, name in enumerate(names)
        if whole[place] > 0
    }
