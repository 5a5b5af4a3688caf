"""Redaction with a guarantee: every published row as a whole is shared by k people (SPEC §3.3).

All records of a cluster publish the same concepts. Around them a word or a time stays only where
the whole row, all its columns, stays shared: words are decided before times, the least shared go
first; a time is cut from the hour to the day to the month to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    TIME_NONE,
    WORD,
    Clusters,
    Longs,
    RecordTable,
    Release,
)
from tasks.core.redaction.published import NO_CLUSTER, PublishedSets, ordered_terms
from tasks.core.redaction.sharing import SharedClass, Unit, Words, absorb, share_words
from tasks.core.rows import compress, cut_times


class RowClass(NamedTuple):
    """Records that publish the same row."""

    cluster: int
    words: Words
    time: int
    precision: int
    records: Longs


def redact_strictly(
    table: RecordTable, clusters: Clusters, published: PublishedSets, *, k: int
) -> Release:
    """Publish classes of at least k people; what cannot be shared is withheld."""
    words = words_of_forms(table)
    classes: list[RowClass] = []
    for label, records in groups(clusters):
        bare = label == NO_CLUSTER
        for shared_words, members in _share(table, words, records, k=k, bare=bare):
            classes.extend(_share_times(table, label, shared_words, members, k=k))
    return assemble(table, classes, published)


def groups(clusters: Clusters) -> Iterator[tuple[int, Longs]]:
    """The records of each cluster, and those without attributes as NO_CLUSTER."""
    labels = np.where(clusters.withheld, clusters.count, clusters.labels)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(NO_CLUSTER, clusters.count + 1))
    for label in range(NO_CLUSTER, clusters.count):
        records = order[bounds[label + 1] : bounds[label + 2]]
        if len(records):
            yield label, records


def words_of_forms(table: RecordTable) -> list[Words]:
    """The distinct plain words of each form, in their order."""
    forms = table.forms
    said, kinds = forms.item_words.tolist(), forms.item_kinds.tolist()
    bounds = forms.item_offsets.tolist()
    return [
        tuple(dict.fromkeys(said[i] for i in range(start, end) if kinds[i] == WORD))
        for start, end in pairwise(bounds)
    ]


def _share(
    table: RecordTable, words: list[Words], records: Longs, *, k: int, bare: bool
) -> Iterator[tuple[Words, Longs]]:
    """Words that classes of these records can share; a `bare` group publishes nothing else."""
    pairs = np.stack([table.form_of[records], table.users[records]], axis=1)
    distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
    units = [Unit(key, user, words[form]) for key, (form, user) in enumerate(distinct.tolist())]
    fillers = table.fillers.tolist()
    classes, left = share_words(units, k=k, is_filler=fillers.__getitem__)
    if bare:
        classes = [shared for shared in classes if shared.words]
    else:
        classes, _ = absorb(classes, left, k=k)
    class_of = _class_of_units(classes, len(units))[inverse.ravel()]
    for place, shared in enumerate(classes):
        yield shared.words, records[class_of == place]


def _class_of_units(classes: list[SharedClass], count: int) -> Longs:
    class_of = np.full(count, -1, dtype=np.int64)
    for place, shared in enumerate(classes):
        class_of[[unit.key for unit in shared.units]] = place
    return class_of


def _share_times(
    table: RecordTable, label: int, words: Words, records: Longs, *, k: int
) -> list[RowClass]:
    """Cut the times of records that share their words as little as the rule allows."""
    classes: list[RowClass] = []
    for precision in (TIME_HOUR, TIME_DAY, TIME_MONTH):
        cut = cut_times(table.times[records], precision)
        order = np.argsort(cut, kind="stable")
        bounds = np.flatnonzero(np.diff(cut[order])) + 1
        waiting = []
        for part in np.split(order, bounds):
            time = int(cut[part[0]]) if len(part) else NO_TIME
            if time != NO_TIME and len(np.unique(table.users[records[part]])) >= k:
                classes.append(RowClass(label, words, time, precision, records[part]))
            else:
                waiting.append(records[part])
        records = np.sort(np.concatenate(waiting)) if waiting else records[:0]
    return _absorb_timeless(table, classes, RowClass(label, words, NO_TIME, TIME_NONE, records), k)


def _absorb_timeless(
    table: RecordTable, classes: list[RowClass], timeless: RowClass, k: int
) -> list[RowClass]:
    """Cut the smallest of the timed classes to nothing until the timeless one holds k people."""
    if not len(timeless.records):
        return classes
    kept = sorted(classes, key=lambda c: (len(c.records), -c.precision, c.time), reverse=True)
    records = timeless.records
    while len(np.unique(table.users[records])) < k:
        records = np.concatenate([records, kept.pop().records])
    return [*kept, timeless._replace(records=np.sort(records))]


def assemble(table: RecordTable, classes: list[RowClass], published: PublishedSets) -> Release:
    """The release of these classes."""
    class_of = np.full(len(table), -1, dtype=np.int32)
    terms = []
    for place, row in enumerate(classes):
        class_of[row.records] = place
        terms.append(ordered_terms(table, row.records, row.cluster, row.words, published))
    term_offsets, term_values = compress(terms)
    concept_offsets, concepts = compress([published.concepts(row.cluster) for row in classes])
    return Release(
        class_of=class_of,
        term_offsets=term_offsets,
        terms=term_values,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=np.array([row.time for row in classes], dtype=np.int64),
        precisions=np.array([row.precision for row in classes], dtype=np.int32),
        clusters=np.array([row.cluster for row in classes], dtype=np.int32),
    )
