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
    joined_ragged,
    owners,
    people_of,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
    take_ragged,
)
from tasks.core.columns import column, computed
from tasks.core.members import members_of
from tasks.core.records import (
    ATTRIBUTE,
    NO_TIME,
    TIME_DAY,
    TIME_NONE,
    WORD,
    Clusters,
    Flags,
    Ints,
    Longs,
    QueryForms,
    RecordTable,
    Release,
    Strings,
    cut_times,
    too_few_unless_published,
)
from tasks.core.redaction.scrubbing import Find, scrub, with_terms
from tasks.core.rows.levels import SharedNodes
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.distances import match_attributes
from tasks.core.taxonomy import Taxonomy

NOTHING: Ints = np.zeros(0, dtype=np.int32)
NO_TIMES: Longs = np.zeros(0, dtype=np.int64)


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
    precision = min(finest, TIME_DAY)
    class_of = column(len(table), np.int32)
    terms, concepts, labels, times = [ragged_of([])], [ragged_of([])], [NOTHING], [NO_TIMES]
    count = 0
    for _, records in table.form_parts():
        held = np.flatnonzero(~clusters.suppressed[records])
        forms, own_labels = table.form_of[records][held], clusters.labels[records][held]
        cut = cut_times(table.times[records][held], precision)
        first, variant_of = group_by(forms, own_labels, cut)
        said, meant = rows_of(forms[first], own_labels[first])
        kept = np.diff(said[0]) > 0
        number = np.where(kept, np.cumsum(kept) - 1 + count, -1)
        own_classes = np.full(records.stop - records.start, -1, dtype=np.int32)
        own_classes[held] = number[variant_of]
        class_of[records] = own_classes
        offsets, places = take_ragged(meant[0], np.flatnonzero(kept))
        # Only rows without terms are dropped.
        terms.append((np.append(said[0][:-1][kept], said[0][-1]), said[1]))
        concepts.append((offsets, meant[1][places]))
        labels.append(own_labels[first][kept])
        times.append(cut[first][kept])
        count += int(kept.sum())
    term_offsets, all_terms = joined_ragged(terms)
    concept_offsets, all_concepts = joined_ragged(concepts)
    all_times = np.concatenate(times)
    return Release(
        class_of=class_of,
        term_offsets=term_offsets,
        terms=all_terms,
        concept_offsets=concept_offsets,
        concepts=all_concepts,
        times=all_times,
        precisions=np.where(all_times == NO_TIME, TIME_NONE, precision).astype(np.int32),
        clusters=np.concatenate(labels),
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
    shared = speaks & shared_words(table, words, k=k)
    speaking = _hold(words, shared, len(table.forms))
    told = computed(
        len(table),
        np.bool_,
        lambda own: speaking[table.form_of[own]] | (strict.class_of[own] >= 0),
    )
    shared |= ~speaks & shared_words(table, words, told, k=k)
    # The last class is that of records of none.
    class_concepts = np.append(strict.concept_offsets, len(strict.concepts)), strict.concepts
    class_terms = np.append(strict.term_offsets, len(strict.terms)), strict.terms

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        offsets, places = take_ragged(class_concepts[0], labels)
        return (
            _own_and_told(class_terms, forms, labels, words, shared),
            (offsets, strict.concepts[places]),
        )

    withheld = computed(len(table), np.bool_, lambda own: ~told[own])
    release = publish_each(
        table, Clusters(strict.class_of, withheld, NOTHING), rows_of, finest=finest
    )
    return replace(release, clusters=np.append(strict.clusters, np.int32(-1))[release.clusters])


def _words_of_forms(table: RecordTable, *, attributes: bool) -> Ragged:
    """The different words of each form that may be published, in their order."""
    return joined_ragged(
        [
            ragged_of([]),
            *(
                _words(table.forms.part(own.start, own.stop), attributes=attributes)
                for own, _ in table.form_parts()
            ),
        ]
    )


def _words(forms: QueryForms, *, attributes: bool) -> Ragged:
    plain = (forms.item_kinds == WORD) | (attributes & (forms.item_kinds == ATTRIBUTE))
    keys = ragged_keys(owners(forms.item_offsets)[plain], forms.item_words[plain])
    return ragged_from_keys(keys[np.sort(np.unique(keys, return_index=True)[1])], len(forms))


def shared_words(
    table: RecordTable, words: Ragged, chosen: Flags | None = None, *, k: int
) -> Flags:
    """Words that at least k people use, shape of the vocabulary.

    Args:
        words: of each form.
        chosen: records that count; all if not given.
    """
    shared = SharedNodes(len(table.words), table.users, k)
    for forms, records in table.form_parts():
        form_of, users = table.form_of[records] - np.int32(forms.start), table.users[records]
        if chosen is not None:
            form_of, users = form_of[chosen[records]], users[chosen[records]]
        offsets = words[0][forms.start : forms.stop + 1]
        own = words[1][offsets[0] : offsets[-1]]
        shared.add(own, owners(offsets), *people_of(form_of, users, forms.stop - forms.start))
    return shared.enough


def _hold(words: Ragged, chosen: Flags, count: int) -> Flags:
    """Forms that hold one of the chosen words."""
    return np.bincount(owners(words[0])[chosen[words[1]]], minlength=count) > 0


def _own_and_told(told: Ragged, forms: Ints, labels: Ints, words: Ragged, shared: Flags) -> Ragged:
    """The words of each query that are shared or told by its class, then what else that tells."""
    offsets, places = take_ragged(words[0], forms)
    own_rows, own = owners(offsets), words[1][places].astype(np.int64)
    told_offsets, told_places = take_ragged(told[0], labels)
    told_keys = ragged_keys(owners(told_offsets), told[1][told_places])
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
        shared = SharedNodes(len(table.words), table.users, k)
        for classes, rows, class_of in members_of(release.class_of, release.class_count).parts():
            offsets = release.term_offsets[classes.start : classes.stop + 1]
            own = release.terms[offsets[0] : offsets[-1]]
            people = people_of(class_of, table.users[rows], classes.stop - classes.start)
            shared.add(own[own >= 0], owners(offsets)[own >= 0], *people)
        # The last entry is for concepts, which are negative.
        rare = np.append(~shared.enough, False)[np.maximum(release.terms, -1)]
        if not rare.any():
            return release
        release = with_terms(release, _chosen(release, ~rare), table)
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
            form = table.form_of[clusters.centroids[label]]
            centroid = table.sets.row(int(table.set_of_form[form]))
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
