"""Redaction with a guarantee: every published row as a whole is shared by k people.

What is promised: docs/guarantee.md#strict.

All records of a cluster publish the same concepts. Around them a word or a time stays only where
the whole row, all its columns, stays shared: words are decided before times, the least shared go
first; a time is cut from the finest allowed to the month to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tasks.core.arrays import group_by, ragged_of, take_ragged
from tasks.core.records import (
    TIME_HOUR,
    WORD,
    Clusters,
    Ints,
    Longs,
    RecordTable,
    Release,
    too_few_unless_published,
)
from tasks.core.redaction.published import NO_CLUSTER, PublishedSets, ordered_terms
from tasks.core.redaction.sharing import (
    SharedClass,
    TimedRows,
    Unit,
    Words,
    absorb,
    share_times,
    share_words,
)


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """Records of one cluster that publish the same words.

    Attributes:
        class_of: class of each record, or -1 for one that shares nothing, shape (n,).
        clusters: cluster of each class, or NO_CLUSTER.
        words: words of each class.
    """

    class_of: Longs
    clusters: Ints
    words: Sequence[Words]


def redact_strictly(
    table: RecordTable,
    clusters: Clusters,
    published: PublishedSets,
    *,
    k: int,
    finest: int = TIME_HOUR,
) -> Release:
    """Publish classes of at least k people; what cannot be shared is suppressed.

    Args:
        finest: the finest precision of time that any row may have.
    """
    classes = _share_all_words(table, clusters, k=k)
    rows = share_times(classes.class_of, table.users, table.times, k=k, finest=finest)
    return _assemble(table, classes, rows, published)


def words_of_forms(table: RecordTable) -> list[Words]:
    """The distinct plain words of each form, in their order."""
    plain = table.forms.item_kinds == WORD
    bounds = np.concatenate(([0], np.cumsum(plain)))[table.forms.item_offsets].tolist()
    said = table.forms.item_words[plain].tolist()
    return [tuple(dict.fromkeys(said[start:end])) for start, end in pairwise(bounds)]


def _share_all_words(table: RecordTable, clusters: Clusters, *, k: int) -> WordClasses:
    """Words that classes of records of each cluster can share."""
    records = np.flatnonzero(~clusters.suppressed)
    labels, users = clusters.labels[records], table.users[records]
    first, unit_of = group_by(labels, table.form_of[records], users)
    is_filler = table.fillers.tolist().__getitem__
    class_of_unit = np.full(len(first), -1, dtype=np.int64)
    owners: list[int] = []
    words: list[Words] = []
    for label, units in _units_by_label(table, records[first], labels[first]):
        for shared in _share(units, k=k, is_filler=is_filler, bare=label == NO_CLUSTER):
            class_of_unit[[unit.key for unit in shared.units]] = len(words)
            owners.append(label)
            words.append(shared.words)
    class_of = np.full(len(table), -1, dtype=np.int64)
    class_of[records] = class_of_unit[unit_of]
    return WordClasses(class_of, np.array(owners, dtype=np.int32), words)


def _units_by_label(
    table: RecordTable, records: Longs, labels: Ints
) -> Iterator[tuple[int, list[Unit]]]:
    """The units of each label, given one record of each and its label, ascending."""
    words = words_of_forms(table)
    pairs = zip(table.form_of[records].tolist(), table.users[records].tolist(), strict=True)
    units = [Unit(key, user, words[form]) for key, (form, user) in enumerate(pairs)]
    starts = np.flatnonzero(np.diff(labels, prepend=NO_CLUSTER - 1))
    for start, end in pairwise([*starts.tolist(), len(units)]):
        yield int(labels[start]), units[start:end]


def _share(
    units: list[Unit], *, k: int, is_filler: Callable[[int], bool], bare: bool
) -> list[SharedClass]:
    """Classes of units that share words; a `bare` group publishes nothing else."""
    classes, left = share_words(units, k=k, is_filler=is_filler)
    if bare:
        return [shared for shared in classes if shared.words]
    return absorb(classes, left, k=k)[0]


def _assemble(
    table: RecordTable, classes: WordClasses, rows: TimedRows, published: PublishedSets
) -> Release:
    """The release of these rows."""
    clusters = classes.clusters[rows.classes]
    word_offsets, words = ragged_of(classes.words)
    offsets, places = take_ragged(word_offsets, rows.classes)
    term_offsets, terms = ordered_terms(
        table, rows.row_of, clusters, (offsets, words[places]), published
    )
    concept_offsets, concepts = published.concepts(clusters)
    return Release(
        class_of=rows.row_of.astype(np.int32),
        term_offsets=term_offsets,
        terms=terms,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=rows.times,
        precisions=rows.precisions,
        clusters=clusters,
        reasons=too_few_unless_published(rows.row_of.astype(np.int32)),
    )
