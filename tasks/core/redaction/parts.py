"""Redaction in parts: what a cluster publishes depends on no other cluster.

So a log is cut between clusters, and whoever redacts a part is given nothing else: the table is
narrowed down to its records, numbered anew. Numbers keep their order, so ties are decided as in
the whole log; and what was narrowed down to different records cannot be joined by its users or
words. One group cannot be cut, and waits until all parts are done: records that publish no
concept, because they have no attributes or because their cluster found no concept worth publishing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np

from tasks.core.arrays import joined_offsets, part_slices, take_ragged
from tasks.core.generalisation.generalise import generalise_along
from tasks.core.generalisation.members import Lineage, members_of
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import (
    TIME_HOUR,
    WORD,
    AttributeSets,
    Clusters,
    Flags,
    Ints,
    Longs,
    QueryForms,
    RecordTable,
    Release,
    Strings,
    cut_times,
    freeze,
    too_few_unless_published,
)
from tasks.core.redaction.published import NO_CLUSTER, dissolve_bare, place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.taxonomy import Taxonomy

_NO_WORDS = cast("Strings", np.zeros(0, dtype=np.str_))
"""An array of strings, not of objects, can be written to a file without a pickle."""

_NOTHING: Ints = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The records of some clusters.

    Attributes:
        table: these records with all that is needed of the log, numbered anew.
        labels: cluster 0, 1, … of each record, shape (n,).
        lineage: of the concepts of the part.
    """

    table: RecordTable
    labels: Ints
    lineage: Lineage

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class RedactedPart:
    """What a part publishes.

    Attributes:
        release: of its records, in the numbers of the part; its clusters are those that speak.
        speaks: which of its clusters publish a concept; the records of the others are left.
    """

    release: Release
    speaks: Flags

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        """Records."""
        return len(self.release.class_of)


def cut_into_parts(
    labels: Ints, *, records_per_part: int = PART_SIZES.records_per_part
) -> list[Longs]:
    """The records of each part, ascending: of as many clusters in a row as it may hold.

    Cuts follow from the data alone, so the parts are the same whoever redacts them.
    """
    held = np.flatnonzero(labels >= 0)
    by_label = held[np.argsort(labels[held], kind="stable")]
    sizes = np.bincount(labels[held])
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    return [
        np.sort(by_label[bounds[part.start] : bounds[part.stop]])
        for part in part_slices(sizes, records_per_part)
    ]


def lineage_of(table: RecordTable, labels: Ints, taxonomy: Taxonomy, *, inclusive: bool) -> Lineage:
    """The lineage of the concepts of all clusters."""
    _, places = take_ragged(table.sets.offsets, np.unique(table.set_of[labels >= 0]))
    return Lineage.of(table.sets.concepts[places], taxonomy, inclusive=inclusive)


def part_of(
    table: RecordTable, labels: Ints, records: Longs, lineage: Lineage, taxonomy: Taxonomy
) -> Part:
    """The part of some records; `lineage` is that of the whole log."""
    own = narrowed(table, records)
    numbers = np.unique(labels[records], return_inverse=True)[1]
    return Part(own, numbers.astype(np.int32), lineage.part(own.sets.concepts, taxonomy))


def narrowed(table: RecordTable, records: Longs) -> RecordTable:
    """A table of these records, ascending, with their forms and sets alone.

    It holds no words and no places in the log, no time finer than any that is published, and does
    not tell what attributes and identifiers are called.
    """
    forms, form_of = np.unique(table.form_of[records], return_inverse=True)
    own_sets = table.set_of_form[forms]
    sets = np.unique(own_sets[own_sets >= 0])
    words = words_said(table, records)
    offsets, places = take_ragged(table.sets.offsets, sets)
    return RecordTable(
        forms=_narrowed_forms(table.forms, forms, words),
        sets=AttributeSets(offsets, table.sets.concepts[places]),
        set_of_form=_ranks(own_sets, sets, own_sets >= 0),
        form_of=form_of.astype(np.int32),
        users=np.unique(table.users[records], return_inverse=True)[1].astype(np.int32),
        times=cut_times(table.times[records], TIME_HOUR),
        log_rows=_NOTHING,
        words=_NO_WORDS,
        word_bits=table.word_bits[words],
        fillers=table.fillers[words],
        in_doubt=0,
        identifiers=np.zeros_like(table.identifiers),
    )


def words_said(table: RecordTable, records: Longs) -> Ints:
    """The plain words of these records, ascending: word w of their own table is words_said[w]."""
    _, items = take_ragged(table.forms.item_offsets, np.unique(table.form_of[records]))
    return np.unique(table.forms.item_words[items[table.forms.item_kinds[items] == WORD]])


def _narrowed_forms(forms: QueryForms, chosen: Ints, words: Ints) -> QueryForms:
    item_offsets, items = take_ragged(forms.item_offsets, chosen)
    attribute_offsets, places = take_ragged(forms.attribute_offsets, chosen)
    kinds = forms.item_kinds[items]
    return QueryForms(
        item_offsets=item_offsets,
        item_words=_ranks(forms.item_words[items], words, kinds == WORD),
        item_kinds=kinds,
        item_concepts=np.full(len(items), -1, dtype=np.int32),
        item_attributes=forms.item_attributes[items],
        attribute_offsets=attribute_offsets,
        attributes=forms.attributes[places],
        weights=forms.weights[places],
    )


def _ranks(values: Ints, among: Ints, held: Flags) -> Ints:
    """The rank of each held value among some, which are ascending; -1 for the others."""
    return np.where(held, np.searchsorted(among, values), -1).astype(np.int32)


def redact_part(part: Part, taxonomy: Taxonomy, *, k: int, finest: int = TIME_HOUR) -> RedactedPart:
    """Redact the clusters that publish concepts."""
    found = generalise_along(part.lineage, members_of(part.table, part.labels), taxonomy)
    speaking, rows = dissolve_bare(_clusters(part.labels, len(found)), found)
    inclusive = part.lineage.inclusive
    published = place_attributes(part.table, speaking, rows, taxonomy, inclusive=inclusive)
    chosen = replace(speaking, suppressed=speaking.labels == NO_CLUSTER)
    release = redact_strictly(part.table, chosen, published, k=k, finest=finest)
    return RedactedPart(release, np.array([len(row) > 0 for row in found], dtype=np.bool_))


def _clusters(labels: Ints, count: int) -> Clusters:
    """Clusters of which nobody asks for the centroids."""
    nobody = np.zeros(len(labels), dtype=np.bool_)
    return Clusters(labels, nobody, np.full(count, -1, dtype=np.int32))


def redact_without_cluster(
    table: RecordTable, records: Longs, taxonomy: Taxonomy, *, k: int, finest: int = TIME_HOUR
) -> Release:
    """The release of records that publish no concept, in the numbers of their own part."""
    own = narrowed(table, records)
    clusters = _clusters(np.full(len(records), NO_CLUSTER, dtype=np.int32), 0)
    published = place_attributes(own, clusters, [], taxonomy, inclusive=False)
    return redact_strictly(own, clusters, published, k=k, finest=finest)


def left_by_parts(clusters: Clusters, redacted: Sequence[RedactedPart]) -> Longs:
    """The records that publish no concept, ascending, without those that are suppressed."""
    # The last entry is for records without a cluster, whose label is -1.
    speaks = np.concatenate([*(found.speaks for found in redacted), [False]])
    return np.flatnonzero(~speaks[clusters.labels] & ~clusters.suppressed)


def join(
    table: RecordTable,
    left: tuple[Longs, Release],
    parts: Sequence[Longs],
    redacted: Sequence[RedactedPart],
) -> Release:
    """One release in the numbers of the log: first what has no cluster, then the parts."""
    speaking = np.cumsum([0, *(np.count_nonzero(found.speaks) for found in redacted)])
    releases = [left[1]] + [
        replace(found.release, clusters=(found.release.clusters + before).astype(np.int32))
        for found, before in zip(redacted, speaking.tolist(), strict=False)
    ]
    return _joined(table, [left[0], *parts], releases)


def _joined(table: RecordTable, parts: Sequence[Longs], releases: Sequence[Release]) -> Release:
    columns: dict[str, Any] = {}
    for entry in fields(Release):
        values = [getattr(release, entry.name) for release in releases]
        whole = joined_offsets if entry.name.endswith("offsets") else np.concatenate
        columns[entry.name] = whole(values)
    said = [_in_words_of(table, *own) for own in zip(parts, releases, strict=True)]
    classes = _classes(len(table), parts, releases)
    reasons = too_few_unless_published(classes)
    own = {"terms": np.concatenate(said), "class_of": classes, "reasons": reasons}
    return Release(**{**columns, **own})


def _in_words_of(table: RecordTable, records: Longs, release: Release) -> Ints:
    """The terms of a part's release, its words by their numbers in the log."""
    # The last entry is for concepts, which are negative and stay as they are.
    words = np.append(words_said(table, records), np.int32(0))
    return np.where(release.terms >= 0, words[np.maximum(release.terms, -1)], release.terms)


def _classes(count: int, parts: Sequence[Longs], releases: Sequence[Release]) -> Ints:
    """The class of each record of the log."""
    class_of = np.full(count, -1, dtype=np.int32)
    before = 0
    for records, release in zip(parts, releases, strict=True):
        # What a part has left is among the records without a cluster.
        class_of[records[release.published]] = release.class_of[release.published] + before
        before += release.class_count
    return class_of
