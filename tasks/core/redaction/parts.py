"""Redaction in parts: what a cluster publishes depends on no other cluster.

So a log is cut between clusters, and whoever redacts a part is given nothing else. One group cannot
be cut, and waits until all parts are done: records that publish no concept, because they have no
attributes or because their cluster found no concept worth publishing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from tasks.core.arrays import joined_offsets, take_ragged
from tasks.core.generalisation.lineage import Lineage
from tasks.core.generalisation.members import members_of
from tasks.core.generalisation.publish import publish_along
from tasks.core.records import Clusters, Flags, Ints, Longs, RecordTable, Release, freeze
from tasks.core.redaction.narrowing import narrowed, words_said
from tasks.core.redaction.published import NO_CLUSTER, dissolve_bare, place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.taxonomy import Taxonomy

MOST_RECORDS: Final = 50_000
"""A part holds no more, unless that is one cluster: a second of work."""


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


def cut_into_parts(labels: Ints) -> list[Longs]:
    """The records of each part, ascending: of as many clusters in a row as it may hold.

    Cuts follow from the data alone, so the parts are the same whoever redacts them.
    """
    held = np.flatnonzero(labels >= 0)
    by_label = held[np.argsort(labels[held], kind="stable")]
    return [np.sort(by_label[start:end]) for start, end in _stretches(np.bincount(labels[held]))]


def _stretches(sizes: Longs) -> Iterator[tuple[int, int]]:
    """Where parts start and end in a row of clusters of these sizes."""
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    first = 0
    while first < len(sizes):
        fitting = np.searchsorted(bounds, bounds[first] + MOST_RECORDS, side="right") - 1
        last = max(first + 1, int(fitting))
        yield int(bounds[first]), int(bounds[last])
        first = last


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


def redact_part(part: Part, taxonomy: Taxonomy, *, k: int) -> RedactedPart:
    """Redact the clusters that publish concepts."""
    found = publish_along(part.lineage, members_of(part.table, part.labels), taxonomy)
    speaking, rows = dissolve_bare(_clusters(part.labels, len(found)), found)
    inclusive = part.lineage.inclusive
    published = place_attributes(part.table, speaking, rows, taxonomy, inclusive=inclusive)
    chosen = replace(speaking, withheld=speaking.labels == NO_CLUSTER)
    release = redact_strictly(part.table, chosen, published, k=k)
    return RedactedPart(release, np.array([len(row) > 0 for row in found], dtype=np.bool_))


def _clusters(labels: Ints, count: int) -> Clusters:
    """Clusters of which nobody asks for the centroids."""
    nobody = np.zeros(len(labels), dtype=np.bool_)
    return Clusters(labels, nobody, np.full(count, -1, dtype=np.int32))


def redact_without_cluster(
    table: RecordTable, records: Longs, taxonomy: Taxonomy, *, k: int
) -> Release:
    """The release of records that publish no concept, in the numbers of their own part."""
    own = narrowed(table, records)
    clusters = _clusters(np.full(len(records), NO_CLUSTER, dtype=np.int32), 0)
    published = place_attributes(own, clusters, [], taxonomy, inclusive=False)
    return redact_strictly(own, clusters, published, k=k)


def left_by_parts(clusters: Clusters, redacted: Sequence[RedactedPart]) -> Longs:
    """The records that publish no concept, ascending, without those that are withheld."""
    # The last entry is for records without a cluster, whose label is -1.
    speaks = np.concatenate([*(found.speaks for found in redacted), [False]])
    return np.flatnonzero(~speaks[clusters.labels] & ~clusters.withheld)


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
    return Release(**{**columns, "terms": np.concatenate(said), "class_of": classes})


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
