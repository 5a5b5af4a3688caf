"""The concepts that clusters publish, and how a published row reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tasks.core.losses import nearest_values
from tasks.core.records import ATTRIBUTE, WORD, Clusters, Ints, Longs, RecordTable
from tasks.core.rows import compress, split_rows, take_rows
from tasks.core.taxonomy import Taxonomy

NO_CLUSTER = -1
_NONE: Ints = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSets:
    """What each cluster publishes, and what becomes of each attribute in it.

    Attributes:
        rows: concepts of each cluster, ascending.
        replaced: for a set in a cluster, the published concept of each of its attributes.
    """

    rows: tuple[Ints, ...]
    replaced: dict[tuple[int, int], list[int]] = field(repr=False)

    def concepts(self, cluster: int) -> Ints:
        return self.rows[cluster] if cluster != NO_CLUSTER else _NONE

    def replacement(self, own_set: int, cluster: int, slot: int) -> int:
        """The concept that stands for an attribute, or -1 if nothing does."""
        return self.replaced[own_set, cluster][slot]


def place_attributes(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
) -> PublishedSets:
    """Find the nearest published concept of every attribute of every set of each cluster."""
    members = clusters.labels >= 0
    pairs = np.stack([table.set_of[members], clusters.labels[members]], axis=1)
    distinct = np.unique(pairs, axis=0)
    left_offsets, places = take_rows(table.sets.offsets, distinct[:, 0])
    offsets, values = compress(rows)
    right_offsets, right_places = take_rows(offsets, distinct[:, 1])
    nearest = nearest_values(
        taxonomy,
        (left_offsets, table.sets.concepts[places]),
        (right_offsets, values[right_places]),
        inclusive=inclusive,
    )
    parts = split_rows(left_offsets, nearest)
    replaced = {
        (own, label): part.tolist()
        for (own, label), part in zip(distinct.tolist(), parts, strict=True)
    }
    return PublishedSets(tuple(rows), replaced)


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


def ordered_terms(
    table: RecordTable,
    records: Longs,
    cluster: int,
    words: Sequence[int],
    published: PublishedSets,
) -> list[int]:
    """Words and concepts of a class in the mean order in which its queries say them."""
    concepts = published.concepts(cluster).tolist()
    wanted = {*words, *(-1 - concept for concept in concepts)}
    totals = dict.fromkeys(wanted, 0.0)
    weights = dict.fromkeys(wanted, 0)
    for form, count in zip(*np.unique(table.form_of[records], return_counts=True), strict=True):
        for term, place in _said(table, int(form), cluster, published):
            if term in wanted:
                totals[term] += count * place
                weights[term] += int(count)
    means = {term: totals[term] / weights[term] if weights[term] else 1.0 for term in wanted}
    return sorted(wanted, key=lambda term: (round(means[term], 9), term))


def _said(
    table: RecordTable, form: int, cluster: int, published: PublishedSets
) -> list[tuple[int, float]]:
    """The terms that a form's items become, each with its place between 0 and 1."""
    forms = table.forms
    start, end = int(forms.item_offsets[form]), int(forms.item_offsets[form + 1])
    said = []
    for item in range(start, end):
        place = (item - start + 0.5) / (end - start)
        if forms.item_kinds[item] == WORD:
            said.append((int(forms.item_words[item]), place))
        elif forms.item_kinds[item] == ATTRIBUTE and cluster != NO_CLUSTER:
            own_set, slot = int(table.set_of_form[form]), int(forms.item_slots[item])
            said.append((-1 - published.replacement(own_set, cluster, slot), place))
    return said
