"""Redaction record by record: what a form publishes in its cluster, its time a day or coarser.

Guarantee `terms`: every published word is used by k people. All records of a cluster publish the
same concepts, as in strict mode, but a word stays wherever k people use it. More text survives;
somebody who knows several words of a query may still find its row.

Guarantee `paper`: redaction as printed (paper §3.3, Algorithm 3, lines 14–18). What is similar to
the cluster's centroid becomes the centroid's, what is not becomes the centre of its taxonomic
branch: the parent on the longest path, or itself at the top. Other words stay. This does not give
k-anonymity, as the paper's §5 says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tasks.core.arrays import (
    Ragged,
    group_by,
    owners,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
    take_ragged,
)
from tasks.core.records import (
    ATTRIBUTE,
    NO_TIME,
    TIME_DAY,
    TIME_NONE,
    WORD,
    Clusters,
    Flags,
    Ints,
    RecordTable,
    Release,
    cut_times,
    too_few_unless_published,
)
from tasks.core.redaction.published import NOTHING, PublishedSets, said_terms
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.distances import match_attributes
from tasks.core.taxonomy import Taxonomy


def publish_each(
    table: RecordTable,
    clusters: Clusters,
    rows_of: Callable[[Ints, Ints], tuple[Ragged, Ragged]],
    *,
    finest: int = TIME_DAY,
) -> Release:
    """Publish every record that is not suppressed and of which something is left.

    Args:
        rows_of: terms and concepts of forms[i] in clusters[i] (-1: a form without attributes).
        finest: the finest precision of time that may be published; no hour is published in any
            case, for no people share these times.
    """
    records = np.flatnonzero(~clusters.suppressed)
    precision = min(finest, TIME_DAY)
    cut = cut_times(table.times[records], precision)
    first, variant_of = group_by(table.form_of[records], clusters.labels[records], cut)
    labels, times = clusters.labels[records[first]], cut[first]
    terms, concepts = rows_of(table.form_of[records[first]], labels)
    kept = np.diff(terms[0]) > 0
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    class_of = np.full(len(table), -1, dtype=np.int32)
    class_of[records] = number[variant_of]
    concept_offsets, places = take_ragged(concepts[0], np.flatnonzero(kept))
    return Release(
        class_of=class_of,
        # Only rows without terms are dropped.
        term_offsets=np.append(terms[0][:-1][kept], terms[0][-1]),
        terms=terms[1],
        concept_offsets=concept_offsets,
        concepts=concepts[1][places],
        times=times[kept],
        precisions=np.where(times[kept] == NO_TIME, TIME_NONE, precision).astype(np.int32),
        clusters=labels[kept],
        reasons=too_few_unless_published(class_of),
    )


def redact_by_terms(
    table: RecordTable,
    clusters: Clusters,
    published: PublishedSets,
    *,
    k: int,
    finest: int = TIME_DAY,
) -> Release:
    """Publish every record that is not suppressed with its words of at least k people."""
    shared = shared_words(table, ~clusters.suppressed, k=k)

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        return _shared_terms(table, forms, labels, shared, published), published.concepts(labels)

    return publish_each(table, clusters, rows_of, finest=finest)


def shared_words(table: RecordTable, chosen: Flags, *, k: int) -> Flags:
    """Words that at least k people use in the chosen records, shape of the vocabulary."""
    records = np.flatnonzero(chosen)
    offsets, places = take_ragged(table.forms.item_offsets, table.form_of[records])
    users = np.repeat(table.users[records], np.diff(offsets))
    plain = table.forms.item_kinds[places] == WORD
    width = int(table.users.max(initial=0)) + 1
    keys = np.unique(table.forms.item_words[places[plain]].astype(np.int64) * width + users[plain])
    return np.bincount(keys // width, minlength=len(table.words)) >= k


def _shared_terms(
    table: RecordTable, forms: Ints, labels: Ints, shared: Flags, published: PublishedSets
) -> Ragged:
    """The queries with attributes replaced in place; concepts they do not say come last."""
    said = said_terms(table, forms, labels, published)
    # The last entry is for concepts, which are negative and always stay.
    kept = np.append(shared, True)[np.maximum(said.terms, -1)]
    offsets, concepts = published.concepts(labels)
    rows = owners(offsets)
    keys = np.concatenate(
        [ragged_keys(said.queries[kept], said.terms[kept]), ragged_keys(rows, -1 - concepts)]
    )
    by_row = keys[np.argsort(np.concatenate([said.queries[kept], rows]), kind="stable")]
    first = np.sort(np.unique(by_row, return_index=True)[1])
    return ragged_from_keys(by_row[first], len(forms))


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
    finest: int = TIME_DAY,
) -> Release:
    """Publish every record that is not suppressed, its attributes replaced in place."""
    known: dict[tuple[int, int], Ints] = {}

    def published_set(own: int, label: int) -> Ints:
        if (own, label) not in known:
            centroid = table.sets.row(int(table.set_of[clusters.centroids[label]]))
            known[own, label] = replacements(
                table.sets.row(own), centroid, distances, taxonomy, threshold
            )
        return known[own, label]

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        owners = zip(table.set_of_form[forms].tolist(), labels.tolist(), strict=True)
        sets = [published_set(own, label) if own >= 0 else NOTHING for own, label in owners]
        terms = [
            _printed_terms(table, form, row) for form, row in zip(forms.tolist(), sets, strict=True)
        ]
        return ragged_of(terms), ragged_of([np.unique(row) for row in sets])

    return publish_each(table, clusters, rows_of, finest=finest)


def _printed_terms(table: RecordTable, form: int, published: Ints) -> list[int]:
    """The query with its attributes replaced in place, each concept said once."""
    forms = table.forms
    row: list[int] = []
    for item in range(forms.item_offsets[form], forms.item_offsets[form + 1]):
        if forms.item_kinds[item] == ATTRIBUTE:
            term = -1 - int(published[forms.item_attributes[item]])
            if term not in row:
                row.append(term)
        elif forms.item_kinds[item] == WORD:
            row.append(int(forms.item_words[item]))
    return row
