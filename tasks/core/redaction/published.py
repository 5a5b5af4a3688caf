"""What published rows say: the concepts of each cluster, what stands for each attribute, and in
which order a row says its terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import (
    VALUES,
    Ragged,
    distinct,
    group_by,
    owners,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
    take_ragged,
)
from tasks.core.records import ATTRIBUTE, WORD, Clusters, Floats, Ints, Longs, RecordTable, freeze
from tasks.core.similarity.nearest import nearest_values
from tasks.core.taxonomy import Taxonomy

NO_CLUSTER = -1
NOTHING: Ints = np.zeros(0, dtype=np.int32)
UNSAID_PLACE = 1.0
"""Where a concept stands that no query of its row says: last."""
DECIMALS = 9
"""Places are compared after rounding, so that ties go to the lower term."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSets:
    """What each cluster publishes, and what becomes of each attribute in it.

    Attributes:
        offsets, values: concepts of each cluster, ascending, as ragged arrays; the last row,
            which is empty, is that of NO_CLUSTER.
        pairs: each set of each cluster as set * width + cluster, ascending.
        nearest_offsets, nearest: for each of these the published concept of each of the set's
            attributes, or -1 if nothing stands for it, as ragged arrays.
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

    def concepts(self, clusters: Ints | Longs) -> Ragged:
        """What each of these clusters publishes, as ragged arrays."""
        offsets, places = take_ragged(self.offsets, clusters)
        return offsets, self.values[places]

    def replacements(self, own_sets: Ints, clusters: Ints | Longs, attributes: Ints) -> Ints:
        """The concept that stands for attribute attributes[i] of a set in a cluster, or -1."""
        pairs = own_sets.astype(np.int64) * self.width + clusters
        starts = self.nearest_offsets[np.searchsorted(self.pairs, pairs)]
        return np.asarray(self.nearest[starts + attributes])


def place_attributes(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
) -> PublishedSets:
    """Find the nearest published concept of every attribute of every set of each cluster."""
    offsets, values = ragged_of([*rows, NOTHING])
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
        suppressed=clusters.suppressed,
        centroids=clusters.centroids[speaks],
    )
    return dissolved, [row for row in rows if len(row)]


class Said(NamedTuple):
    """Terms that queries say: whose term it is, ascending, the term, its place from 0 to 1."""

    queries: Longs
    terms: Longs
    places: Floats


def said_terms(
    table: RecordTable, forms: Ints | Longs, clusters: Ints | Longs, published: PublishedSets
) -> Said:
    """What the items of each query become, in their order: form forms[i] in cluster clusters[i]."""
    offsets, items = take_ragged(table.forms.item_offsets, forms)
    queries = owners(offsets)
    places = (np.arange(len(items)) - offsets[queries] + 0.5) / np.diff(offsets)[queries]
    kinds = table.forms.item_kinds[items]
    terms = table.forms.item_words[items].astype(np.int64)
    held = np.flatnonzero((kinds == ATTRIBUTE) & (clusters[queries] != NO_CLUSTER))
    own, attributes = queries[held], table.forms.item_attributes[items[held]]
    concepts = published.replacements(table.set_of_form[forms[own]], clusters[own], attributes)
    terms[held] = -1 - concepts
    said = kinds == WORD
    said[held] = concepts >= 0
    return Said(queries[said], terms[said], places[said])


def ordered_terms(
    table: RecordTable,
    row_of: Longs,
    clusters: Ints,
    words: Ragged,
    published: PublishedSets,
) -> Ragged:
    """Words and concepts of each row in the mean order in which its queries say them.

    Args:
        row_of: row of each record, or -1.
        clusters: cluster of each row.
        words: words of each row, as ragged arrays.
    """
    wanted = _wanted(words, published.concepts(clusters))
    records = np.flatnonzero(row_of >= 0)
    first, query_of = group_by(row_of[records], table.form_of[records])
    rows, forms = row_of[records[first]], table.form_of[records[first]]
    said = said_terms(table, forms, clusters[rows], published)
    keys = ragged_keys(rows[said.queries], said.terms)
    weights = np.bincount(query_of, minlength=len(first))[said.queries]
    means = _mean_places(wanted, keys, weights, said.places)
    order = np.lexsort((wanted, np.round(means, DECIMALS), wanted // VALUES))
    return ragged_from_keys(wanted[order], len(clusters))


def _wanted(words: Ragged, concepts: Ragged) -> Longs:
    """The terms of all rows, ascending."""
    keys = [
        ragged_keys(owners(words[0]), words[1]),
        ragged_keys(owners(concepts[0]), -1 - concepts[1]),
    ]
    return distinct(np.concatenate(keys))


def _mean_places(wanted: Longs, said: Longs, weights: Longs, places: Floats) -> Floats:
    """The mean place of each wanted term over all that is said."""
    held = np.isin(said, wanted)
    found, counts = np.searchsorted(wanted, said[held]), weights[held]
    totals = np.bincount(found, counts * places[held], minlength=len(wanted))
    said_by = np.bincount(found, counts, minlength=len(wanted))
    return np.where(said_by > 0, totals / np.maximum(said_by, 1), UNSAID_PLACE)
