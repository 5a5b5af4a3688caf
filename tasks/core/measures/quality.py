"""What a release costs: cohesion (Eq. 10) and information loss (Eq. 11–13) (paper §4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Final

import numpy as np
from scipy import sparse

from tasks.core.arrays import take_ragged
from tasks.core.choices import Distance
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.losses import row_losses
from tasks.core.records import (
    AttributeSets,
    Clusters,
    Floats,
    Ints,
    Longs,
    RecordTable,
    Release,
    freeze,
)
from tasks.core.similarity.distances import record_distances
from tasks.core.similarity.pairs import paired_matches
from tasks.core.starmap import Starmap, serial
from tasks.core.taxonomy import Taxonomy

LOW_COHESION = 0.45
"""The paper counts clusters below this (Figure 4)."""
ROWS_PER_SHARD: Final = 500_000
"""Different rows, before and after, whose loss is measured at a time: about a second of work."""


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
    run: Starmap = serial,
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
    shared = paired_matches(sets, similar, distinct[:, 0], distinct[:, 1], run)
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


@dataclass(frozen=True, slots=True, eq=False)
class ShownRows:
    """What some records held and what stands for it in a release.

    Attributes:
        offsets, attributes: of each row, as compressed rows.
        weights: mentions that each attribute stands for, over all records of the row.
        published_offsets, published: the concepts of each published row; a withheld one has none.
        counts: records of each row.
    """

    offsets: Longs
    attributes: Ints
    weights: Floats
    published_offsets: Longs
    published: Ints
    counts: Longs

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class LossSums:
    """Sums of Eq. 12 (error) and of Eq. 13 (spread): of what is lost and of what is made up.

    Attributes:
        topic_error, topic_spread: what is lost by topic, shape (topics + 1,), others at the end.
    """

    error: float
    spread: float
    error_made_up: float
    spread_made_up: float
    topic_error: Floats
    topic_spread: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def __add__(self, other: LossSums) -> LossSums:
        both = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return LossSums(*(own + others for own, others in both))


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
    sums = (
        loss_sums(rows, centre, taxonomy, topics, inclusive=inclusive)
        for rows in shown_rows(table, release)
    )
    return loss_of(sums, topics)


def shown_rows(table: RecordTable, release: Release) -> Iterator[ShownRows]:
    """The different rows of all records with attributes, so many at a time."""
    records = np.flatnonzero(table.set_of >= 0)
    pairs = np.stack([table.form_of[records], release.class_of[records]], axis=1)
    distinct, counts = np.unique(pairs.astype(np.int64), axis=0, return_counts=True)
    # A log without attributes has one shard without rows.
    for start in range(0, max(1, len(distinct)), ROWS_PER_SHARD):
        forms, classes = distinct[start : start + ROWS_PER_SHARD].T
        own = counts[start : start + ROWS_PER_SHARD]
        offsets, attributes, weights = form_attributes(table, forms)
        weights = weights * np.repeat(own, np.diff(offsets))
        yield ShownRows(offsets, attributes, weights, *_published(release, classes), own)


def loss_sums(
    rows: ShownRows, centre: Ints, taxonomy: Taxonomy, topics: TopicMap, *, inclusive: bool
) -> LossSums:
    """What some rows lose, and what they would lose if all published the centre."""
    left = (rows.offsets, rows.attributes)
    shown, all_alike = (rows.published_offsets, rows.published), _repeated(centre, len(rows.counts))
    error = row_losses(taxonomy, left, shown, inclusive=inclusive)
    spread = row_losses(taxonomy, left, all_alike, inclusive=inclusive)
    first = topics.first_topics(rows.attributes)
    places = np.where(first >= 0, first, len(topics.names))
    lost, spread_lost = error.lost * rows.weights, spread.lost * rows.weights
    return LossSums(
        error=float(lost.sum()),
        spread=float(spread_lost.sum()),
        error_made_up=float((error.made_up * rows.counts).sum()),
        spread_made_up=float((spread.made_up * rows.counts).sum()),
        topic_error=np.bincount(places, lost, minlength=len(topics.names) + 1).astype(np.float64),
        topic_spread=np.bincount(places, spread_lost, minlength=len(topics.names) + 1).astype(
            np.float64
        ),
    )


def loss_of(parts: Iterable[LossSums], topics: TopicMap) -> InformationLoss:
    """Eq. 11 from the sums of all shards, by topic for each that occurs; the rest is ``other``."""
    sums = reduce(add, parts)
    by_topic = zip([*topics.names, "other"], sums.topic_error, sums.topic_spread, strict=True)
    return InformationLoss(
        percent=percent_of(sums.error, sums.spread),
        symmetric_percent=percent_of(
            sums.error + sums.error_made_up, sums.spread + sums.spread_made_up
        ),
        by_topic={name: percent_of(part, whole) for name, part, whole in by_topic if whole > 0},
    )


def percent_of(part: float, whole: float) -> float:
    return float(100.0 * part / whole) if whole > 0 else 0.0


def form_attributes(table: RecordTable, forms: Longs) -> tuple[Longs, Ints, Floats]:
    offsets, places = take_ragged(table.forms.attribute_offsets, forms)
    weights = table.forms.weights[places].astype(np.float64)
    return offsets, table.forms.attributes[places], weights


def _published(release: Release, classes: Longs) -> tuple[Longs, Ints]:
    """Published concepts of each class; class -1, a withheld record, publishes none."""
    padded = np.append(release.concept_offsets, release.concept_offsets[-1])
    rows = np.where(classes >= 0, classes, len(padded) - 2)
    offsets, places = take_ragged(padded, rows)
    return offsets, release.concepts[places]


def _repeated(values: Ints, times: int) -> tuple[Longs, Ints]:
    return np.arange(times + 1, dtype=np.int64) * len(values), np.tile(values, times)
