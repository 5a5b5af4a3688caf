"""Redaction record by record: what a form publishes in its cluster, its time a day or coarser.

Guarantee `terms`: every published word is used by k people. Records of a class publish what it
tells, as in strict mode, and each of them its own words that k people use. More text survives;
somebody who knows several words of a query may still find its row.

Guarantee `paper`: redaction as printed (paper §3.3, Algorithm 3, lines 14–18). What is similar to
the cluster's centroid becomes the centroid's, what is not becomes the centre of its taxonomic
branch: the parent on the longest path, or itself at the top. Other words stay. This does not give
k-anonymity, as the paper's §5 says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tasks.core.arrays import (
    Ragged,
    group_by,
    owners,
    people_per_label,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
    split_ragged,
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
    Strings,
    cut_times,
    too_few_unless_published,
)
from tasks.core.redaction.scrubbing import Find, scrub, with_terms
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.distances import match_attributes
from tasks.core.taxonomy import Taxonomy

NOTHING: Ints = np.zeros(0, dtype=np.int32)


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
    table: RecordTable, strict: Release, *, k: int, finest: int, attributes: bool
) -> Release:
    """Publish of every record its words of at least k people, beside what its class tells.

    Args:
        strict: the release of classes of at least k people.
        attributes: whether attributes as typed are words like others; if not, they are told by
            the class alone.
    """
    words = _words_of_forms(table, attributes=attributes)
    speaks = ~table.fillers
    shared = speaks & shared_words(table, words, np.ones(len(table), dtype=np.bool_), k=k)
    told = _hold(words, shared, len(table.forms))[table.form_of] | strict.published
    shared |= ~speaks & shared_words(table, words, told, k=k)

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        offsets, places = take_ragged(
            np.append(strict.concept_offsets, len(strict.concepts)), labels
        )
        return _own_and_told(strict, forms, labels, words, shared), (
            offsets,
            strict.concepts[places],
        )

    nobody = np.zeros(0, dtype=np.int32)
    release = publish_each(table, Clusters(strict.class_of, ~told, nobody), rows_of, finest=finest)
    return replace(release, clusters=np.append(strict.clusters, np.int32(-1))[release.clusters])


def _words_of_forms(table: RecordTable, *, attributes: bool) -> Ragged:
    """The different words of each form that may be published, in their order."""
    forms = table.forms
    plain = (forms.item_kinds == WORD) | (attributes & (forms.item_kinds == ATTRIBUTE))
    keys = ragged_keys(owners(forms.item_offsets)[plain], forms.item_words[plain])
    return ragged_from_keys(keys[np.sort(np.unique(keys, return_index=True)[1])], len(forms))


def shared_words(table: RecordTable, words: Ragged, chosen: Flags, *, k: int) -> Flags:
    """Words that at least k people use in the chosen records, shape of the vocabulary.

    Args:
        words: of each form.
    """
    records = np.flatnonzero(chosen)
    offsets, places = take_ragged(words[0], table.form_of[records])
    users = np.repeat(table.users[records], np.diff(offsets))
    return people_per_label(words[1][places], users, len(table.words)) >= k


def _hold(words: Ragged, chosen: Flags, count: int) -> Flags:
    """Forms that hold one of the chosen words."""
    return np.bincount(owners(words[0])[chosen[words[1]]], minlength=count) > 0


def _own_and_told(
    strict: Release, forms: Ints, labels: Ints, words: Ragged, shared: Flags
) -> Ragged:
    """The words of each query that are shared or told by its class, then what else that tells."""
    offsets, places = take_ragged(words[0], forms)
    own_rows, own = owners(offsets), words[1][places].astype(np.int64)
    told_offsets, told_places = take_ragged(
        np.append(strict.term_offsets, len(strict.terms)), labels
    )
    told_keys = ragged_keys(owners(told_offsets), strict.terms[told_places])
    own_keys = ragged_keys(own_rows, own)
    kept = shared[own] | np.isin(own_keys, told_keys)
    keys = np.concatenate([own_keys[kept], told_keys])
    rows = np.concatenate([own_rows[kept], owners(told_offsets)])
    by_row = keys[np.argsort(rows, kind="stable")]
    return ragged_from_keys(by_row[np.sort(np.unique(by_row, return_index=True)[1])], len(forms))


def without_rare_words(
    release: Release, table: RecordTable, find: Find, names: Strings, *, k: int
) -> Release:
    """The release without words of fewer than k people, which scrubbing may have left.

    Without them other words may read as a name, and so on until nothing changes.
    """
    while True:
        records = np.flatnonzero(release.published)
        offsets, places = take_ragged(release.term_offsets, release.class_of[records])
        users = np.repeat(table.users[records], np.diff(offsets))
        people = people_per_label(release.terms[places], users, len(table.words))
        # The last entry is for concepts, which are negative.
        rare = np.append(people < k, False)[np.maximum(release.terms, -1)]
        if not rare.any():
            return release
        rows = split_ragged(*_chosen(release, ~rare))
        release = with_terms(release, [tuple(row.tolist()) for row in rows], table)
        release = scrub(release, table, find, names)


def _chosen(release: Release, kept: Flags) -> Ragged:
    """Some of the terms of each class."""
    counts = np.concatenate(([0], np.cumsum(kept)))
    return counts[release.term_offsets], release.terms[kept]


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
    finest: int,
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
