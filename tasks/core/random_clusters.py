"""Random clusters of the same sizes: the baseline that a loss has to beat (paper Figure 6).

Records trade places at random while the clusters keep their sizes. Both clusterings then publish
the set that costs each cluster least, so that nothing but the clustering is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.core.counts import cluster_sizes
from tasks.core.losses import row_losses
from tasks.core.measures import form_attributes, percent_of
from tasks.core.records import Clusters, Ints, Longs, RecordTable
from tasks.core.rows import compress, take_rows
from tasks.core.slots.members import members_of
from tasks.core.slots.publish import publish_sets
from tasks.core.taxonomy import Taxonomy

SEED = 4
PERMUTATIONS = 5
MOST_RECORDS = 3_000
"""Of larger logs about so many records are compared."""
LARGE = 100
"""A cluster is large if its share of the sample has so many records."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What does not change from one permutation to the next."""

    table: RecordTable
    taxonomy: Taxonomy
    inclusive: bool


def compare_with_random(
    scene: Scene, clusters: Clusters, centre: Ints, *, most_records: int = MOST_RECORDS
) -> dict[str, Any]:
    """Symmetric loss in percent of the clusters as they are, and of each permutation, if any.

    Args:
        centre: the concepts of the data set's centre, against which Eq. 13 measures.
    """
    random = np.random.default_rng(SEED)
    records = _sample(clusters, most_records, random)
    found, labels = np.unique(clusters.labels[records], return_inverse=True)
    times = PERMUTATIONS if len(records) else 0
    whole = _cost(scene, records, np.zeros(len(records), dtype=np.int32), [centre])

    def loss(order: Longs) -> float:
        cost = _published_cost(scene, order, labels.astype(np.int32))
        return round(percent_of(cost, whole), 3)

    return {
        "clusters": len(found),
        "records": len(records),
        "of_records": int((clusters.labels >= 0).sum()),
        "own_percent": loss(records) if len(records) else 0.0,
        "random_percent": [loss(random.permutation(records)) for _ in range(times)],
    }


def _sample(clusters: Clusters, most_records: int, random: np.random.Generator) -> Longs:
    """All records in clusters, or a share of them, ascending.

    The share is one of whole small clusters, for their size matters, and of the records of each
    large one: it would make up most of the sample, or be missing from it.
    """
    records, sizes = np.flatnonzero(clusters.labels >= 0), cluster_sizes(clusters)
    if len(records) <= most_records:
        return records
    share = most_records / len(records)
    labels = clusters.labels[records]
    large = (sizes * share >= LARGE)[labels]
    lots = np.where(large, random.random(len(records)), random.random(clusters.count)[labels])
    return records[lots < share]


def _published_cost(scene: Scene, records: Longs, labels: Ints) -> float:
    """Cost of the clusters that give these records these labels."""
    label_of = np.full(len(scene.table), -1, dtype=np.int32)
    label_of[records] = labels
    members = members_of(scene.table, label_of)
    published = publish_sets(members, scene.taxonomy, inclusive=scene.inclusive)
    return _cost(scene, records, labels, published)


def _cost(scene: Scene, records: Longs, labels: Ints, published: list[Ints]) -> float:
    """What is lost and made up (Eq. 12 in both directions) if labels publish these sets."""
    pairs = np.stack([scene.table.form_of[records], labels], axis=1).astype(np.int64)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    offsets, attributes, weights = form_attributes(scene.table, distinct[:, 0])
    set_offsets, concepts = compress(published)
    row_offsets, places = take_rows(set_offsets, distinct[:, 1])
    losses = row_losses(
        scene.taxonomy,
        (offsets, attributes),
        (row_offsets, concepts[places]),
        inclusive=scene.inclusive,
    )
    lost = losses.lost * weights * np.repeat(counts, np.diff(offsets))
    return float(lost.sum() + (losses.made_up * counts).sum())
