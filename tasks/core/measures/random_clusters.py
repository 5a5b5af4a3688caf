"""Random clusters of the same sizes: the baseline that a loss has to beat (paper Figure 6).

Records trade places at random while the clusters keep their sizes. Both clusterings then publish
the set that costs each cluster least, so that nothing but the clustering is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tasks.core.arrays import ragged_of, take_ragged
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import Members, members_of
from tasks.core.measures.counts import cluster_sizes
from tasks.core.measures.information_loss import form_attributes, percent_of
from tasks.core.records import Clusters, Floats, Ints, Longs, RecordTable
from tasks.core.similarity.nearest import row_losses
from tasks.core.taxonomy import Taxonomy
from tasks.schema import RandomClusters

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


@dataclass(frozen=True, slots=True, eq=False)
class LabelledForms:
    """The different pairs of form and label of some records.

    Attributes:
        labels: of each pair.
        offsets, attributes: of its form, as ragged arrays.
        weights: mentions that each attribute stands for.
        counts: records of each pair.
    """

    labels: Longs
    offsets: Longs
    attributes: Ints
    weights: Floats
    counts: Longs


@dataclass(frozen=True, slots=True, eq=False)
class Permutation:
    """Records that have traded places: what each cluster holds now."""

    members: Members
    forms: LabelledForms


Price = Callable[[Iterable[Permutation]], Iterable[float]]
"""What clusters cost, in order."""


def compare_with_random(
    scene: Scene,
    clusters: Clusters,
    centre: Ints,
    price: Price | None = None,
    *,
    most_records: int = MOST_RECORDS,
) -> RandomClusters:
    """Symmetric loss in percent of the clusters as they are, and of each permutation, if any.

    Args:
        centre: the concepts of the data set's centre, against which Eq. 13 measures.
        price: `permutation_cost` of each, by whoever may do it; if not given, it is done here.
    """
    random = np.random.default_rng(SEED)
    records = _sample(clusters, most_records, random)
    found, labels = np.unique(clusters.labels[records], return_inverse=True)
    orders = [random.permutation(records) for _ in range(PERMUTATIONS)]
    tried = [records, *orders] if len(records) else []
    permutations = (_permuted(scene.table, order, labels.astype(np.int32)) for order in tried)
    costs = (price or _price_here(scene))(permutations)
    alike = _labelled(scene.table, records, np.zeros(len(records), dtype=np.int32))
    whole = _cost(alike, [centre], scene.taxonomy, inclusive=scene.inclusive)
    losses = [round(percent_of(cost, whole), 3) for cost in costs]
    return {
        "clusters": len(found),
        "records": len(records),
        "of_records": int((clusters.labels >= 0).sum()),
        "own_percent": losses[0] if losses else 0.0,
        "random_percent": losses[1:],
    }


def _price_here(scene: Scene) -> Price:
    return partial(
        map, partial(permutation_cost, taxonomy=scene.taxonomy, inclusive=scene.inclusive)
    )


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


def _permuted(table: RecordTable, records: Longs, labels: Ints) -> Permutation:
    label_of = np.full(len(table), -1, dtype=np.int32)
    label_of[records] = labels
    return Permutation(members_of(table, label_of), _labelled(table, records, labels))


def _labelled(table: RecordTable, records: Longs, labels: Ints) -> LabelledForms:
    pairs = np.stack([table.form_of[records], labels], axis=1).astype(np.int64)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    offsets, attributes, weights = form_attributes(table, distinct[:, 0])
    return LabelledForms(distinct[:, 1], offsets, attributes, weights, counts)


def permutation_cost(permutation: Permutation, taxonomy: Taxonomy, *, inclusive: bool) -> float:
    """Cost of the clusters, each of which publishes what costs it least."""
    published = generalise(permutation.members, taxonomy, inclusive=inclusive)
    return _cost(permutation.forms, published, taxonomy, inclusive=inclusive)


def _cost(
    forms: LabelledForms, published: list[Ints], taxonomy: Taxonomy, *, inclusive: bool
) -> float:
    """What is lost and made up (Eq. 12 in both directions) if labels publish these sets."""
    set_offsets, concepts = ragged_of(published)
    row_offsets, places = take_ragged(set_offsets, forms.labels)
    losses = row_losses(
        taxonomy,
        (forms.offsets, forms.attributes),
        (row_offsets, concepts[places]),
        inclusive=inclusive,
    )
    lost = losses.lost * forms.weights * np.repeat(forms.counts, np.diff(forms.offsets))
    return float(lost.sum() + (losses.made_up * forms.counts).sum())
