"""Redaction as printed (paper §3.3, Algorithm 3, lines 14–18).

What is similar to the cluster's centroid becomes the centroid's, what is not becomes the centre
of its taxonomic branch: the parent on the longest path, or itself at the top. Other words stay.
This does not give k-anonymity, as the paper's §5 says.
"""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import ragged_of
from tasks.core.records import ATTRIBUTE, WORD, Clusters, Ints, RecordTable, Release
from tasks.core.redaction.variants import Rows, publish_each
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.distances import match_attributes
from tasks.core.taxonomy import Taxonomy

NOTHING: Ints = np.zeros(0, dtype=np.int32)


def replacements(
    attributes: Ints,
    centroid: Ints,
    distances: ConceptDistances,
    taxonomy: Taxonomy,
    threshold: float,
) -> Ints:
    """Lines 16–17 for one record: the published concept of each of its attributes."""
    parents = taxonomy.main_parents[attributes]
    published = np.where(parents >= 0, parents, attributes).astype(np.int32)
    similarities = 1.0 - distances.between(attributes, centroid)
    for own, other in match_attributes(similarities, threshold):
        published[own] = centroid[other]
    return published


def redact_as_printed(
    table: RecordTable,
    clusters: Clusters,
    distances: ConceptDistances,
    taxonomy: Taxonomy,
    *,
    threshold: float,
) -> Release:
    """Publish every record that is not withheld, its attributes replaced in place."""
    known: dict[tuple[int, int], Ints] = {}

    def published_set(own: int, label: int) -> Ints:
        if (own, label) not in known:
            centroid = table.sets.row(int(table.set_of[clusters.centroids[label]]))
            known[own, label] = replacements(
                table.sets.row(own), centroid, distances, taxonomy, threshold
            )
        return known[own, label]

    def rows_of(forms: Ints, labels: Ints) -> tuple[Rows, Rows]:
        owners = zip(table.set_of_form[forms].tolist(), labels.tolist(), strict=True)
        sets = [published_set(own, label) if own >= 0 else NOTHING for own, label in owners]
        terms = [_terms(table, form, row) for form, row in zip(forms.tolist(), sets, strict=True)]
        return ragged_of(terms), ragged_of([np.unique(row) for row in sets])

    return publish_each(table, clusters, rows_of)


def _terms(table: RecordTable, form: int, published: Ints) -> list[int]:
    """The query with its attributes replaced in place, each concept said once."""
    forms = table.forms
    row: list[int] = []
    for item in range(forms.item_offsets[form], forms.item_offsets[form + 1]):
        if forms.item_kinds[item] == ATTRIBUTE:
            term = -1 - int(published[forms.item_slots[item]])
            if term not in row:
                row.append(term)
        elif forms.item_kinds[item] == WORD:
            row.append(int(forms.item_words[item]))
    return row
