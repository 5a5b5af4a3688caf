"""What methods are given, made from small taxonomies and logs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.records import RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.similarity.pairs import least_set_pairs
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.method import Material, Outcome
from tests.helpers.random_logs import table_of


def material_from(taxonomy: Taxonomy, table: RecordTable) -> Material:
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    sets, similar = distances.in_classes(table.sets), distances.similar(0.8)
    costs = SetCosts.of(table.sets, distances)
    counts = np.bincount(table.set_of[table.set_of >= 0], minlength=len(table.sets))
    return Material(
        table=table,
        taxonomy=taxonomy,
        distances=distances,
        set_pairs=least_set_pairs(sets, similar, distance="jaccard"),
        centre=table.sets.row(dataset_centre(costs, counts)),
    )


def held_by(taxonomy: Taxonomy, *held: tuple[int, Sequence[int]]) -> Material:
    """Material of records (user, concepts)."""
    return material_from(taxonomy, table_of(taxonomy, [(u, c, [], 0) for u, c in held]))


def published(material: Material, outcome: Outcome) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """What the records of each set publish; nothing for those that are withheld."""
    rows: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for record, own in enumerate(material.table.set_of.tolist()):
        label = int(outcome.labels[record])
        row = tuple(outcome.published[label].tolist()) if label >= 0 else ()
        rows.setdefault(tuple(material.table.sets.row(own).tolist()), []).append(row)
    return rows


def together(material: Material, outcome: Outcome) -> set[frozenset[int]]:
    """Which users share a group."""
    users, labels = material.table.users, outcome.labels
    return {frozenset(users[labels == label].tolist()) for label in set(labels.tolist())}
