"""Information kept, and whether what is published is true (docs/measures.md#information-kept).

A record holds what its items and its time hold, in bits. Of each item a release keeps the content
of the most informative of its levels that the record's row tells: the word as typed, its concept or
one above it. A concept that is not the record's own, nor above one of those, is no level of any of
its items: what is false keeps nothing. What is withheld keeps nothing either.

Any release can be measured, also one of false concepts. Records of one form and one class keep the
same, so each such pair is measured once, from the few nodes that its row tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Ragged, distinct, owners, pairs_of, sums_by, take_ragged
from tasks.core.columns import row_parts
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information_loss import percent_of
from tasks.core.records import (
    ATTRIBUTE,
    NO_TIME,
    Flags,
    Floats,
    Ints,
    Longs,
    RecordTable,
    Release,
    freeze,
)
from tasks.core.rows.levels import TIME_BITS, ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Information:
    """What is kept of what all records hold, in percent; of withheld records that is nothing.

    Attributes:
        kept_percent: of words, concepts and times together.
        words_percent: of items that are plain words.
        concepts_percent: of items that are attributes, told by word or by concept.
        time_percent: of times, as fine as they may be published.
        by_topic: of attributes, by the first topic of each that occurs; the rest is ``other``.
    """

    kept_percent: float
    words_percent: float
    concepts_percent: float
    time_percent: float
    by_topic: dict[str, float]


@dataclass(frozen=True, slots=True)
class Truth:
    """Shares, 0 … 1; 1 if there is nothing that could be false.

    Attributes:
        concepts_true: of all pairs of a published record and a concept of its row, those where
            the concept is the record's own or above one of its own.
        rows_true: of all published records, those whose row has only such concepts.
    """

    concepts_true: float
    rows_true: float


def information_kept(
    table: RecordTable, release: Release, taxonomy: Taxonomy, topics: TopicMap, *, finest: int
) -> Information:
    """What a release keeps of its log.

    Args:
        finest: the finest precision of time that may be published.
    """
    nodes = _nodes_of_classes(release, len(table.words))
    names = [*topics.names, "other"]
    # Kept and held: of all items, of words, of concepts, of each topic.
    sums = np.zeros((2, 3 + len(names)))
    for records, part in table.parts():
        levels = item_levels(part, taxonomy)
        plain = levels.item_concepts < 0
        places = _topics_of(levels.item_concepts[~plain], topics)
        for own, bits in zip(
            sums, _item_bits(part, release.part(records), levels, nodes), strict=True
        ):
            own[:3] += bits.sum(), bits[plain].sum(), bits[~plain].sum()
            own[3:] += sums_by(places, bits[~plain], len(names))
    times_kept, times_held = _time_bits(table, release, finest)
    kept, held = sums.tolist()
    return Information(
        kept_percent=percent_of(kept[0] + times_kept, held[0] + times_held),
        words_percent=percent_of(kept[1], held[1]),
        concepts_percent=percent_of(kept[2], held[2]),
        time_percent=percent_of(times_kept, times_held),
        by_topic={
            name: percent_of(part, whole)
            for name, part, whole in zip(names, kept[3:], held[3:], strict=True)
            if whole > 0
        },
    )


def _item_bits(
    table: RecordTable, release: Release, levels: ItemLevels, nodes: Ragged
) -> tuple[Floats, Floats]:
    """Bits that each item keeps and holds, over all records of its form."""
    records = np.bincount(table.form_of, minlength=len(levels))
    held = levels.item_bits * np.repeat(records, np.diff(levels.item_offsets))
    shown = _shown_forms(table, release)
    items, pairs, bits = _told(levels, shown, nodes)
    best = _greatest(pairs * max(1, len(held)) + items, bits)
    pair, item = np.divmod(best[0], max(1, len(held)))
    return sums_by(item, best[1] * shown.counts[pair], len(held)), held


@dataclass(frozen=True, slots=True, eq=False)
class ShownForms:
    """The distinct pairs of a form and the class that its records publish.

    Attributes:
        forms, classes: of each pair.
        counts: published records of each pair.
    """

    forms: Longs
    classes: Longs
    counts: Longs

    def __post_init__(self) -> None:
        freeze(self)


def _shown_forms(table: RecordTable, release: Release) -> ShownForms:
    records = np.flatnonzero(release.published)
    forms, classes, pair_of = pairs_of(
        table.form_of[records].astype(np.int64), release.class_of[records]
    )
    return ShownForms(forms, classes, np.bincount(pair_of, minlength=len(forms)).astype(np.int64))


def _nodes_of_classes(release: Release, words: int) -> Ragged:
    """What each class tells, as nodes: the words of its query, then its concepts."""
    said, concepts = release.terms >= 0, _concepts_of_classes(release)
    rows = np.concatenate([owners(release.term_offsets)[said], owners(concepts[0])])
    nodes = np.concatenate([release.terms[said], words + concepts[1]])
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(release.class_count + 1))
    return offsets, nodes[order]


def _concepts_of_classes(release: Release) -> Ragged:
    """The concepts of each class, those that only its query names included."""
    named = release.terms < 0
    rows = np.concatenate([owners(release.term_offsets)[named], owners(release.concept_offsets)])
    concepts = np.concatenate([-1 - release.terms[named], release.concepts]).astype(np.int64)
    width = int(concepts.max(initial=0)) + 1
    rows, concepts = np.divmod(distinct(rows * width + concepts), width)
    return np.searchsorted(rows, np.arange(release.class_count + 1)), concepts.astype(np.int32)


def _told(levels: ItemLevels, shown: ShownForms, nodes: Ragged) -> tuple[Longs, Longs, Floats]:
    """All levels that rows tell: of which item, in which pair, and their bits."""
    offsets, places = take_ragged(nodes[0], shown.classes)
    pairs = owners(offsets)
    width = int(max(levels.nodes.max(initial=0), nodes[1].max(initial=0))) + 1
    items = owners(levels.level_offsets)
    keys = owners(levels.item_offsets)[items] * width + levels.nodes
    order = np.argsort(keys, kind="stable")
    sought = shown.forms[pairs] * width + nodes[1][places]
    ends = (np.searchsorted(keys[order], sought, side=side) for side in ("left", "right"))
    found, matches = _ranges(*ends)
    return items[order[matches]], pairs[found], levels.bits[order[matches]]


def _ranges(starts: Longs, ends: Longs) -> tuple[Longs, Longs]:
    """All numbers of the ranges start … end - 1, and the range of each."""
    lengths = ends - starts
    which = np.repeat(np.arange(len(starts)), lengths)
    first = np.cumsum(lengths) - lengths
    return which, (starts - first)[which] + np.arange(len(which))


def _greatest(keys: Longs, values: Floats) -> tuple[Longs, Floats]:
    """The distinct keys, ascending, and the greatest value of each."""
    order = np.lexsort((values, keys))
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = keys[order][1:] != keys[order][:-1]
    return keys[order[last]], values[order[last]]


def _topics_of(concepts: Ints, topics: TopicMap) -> Longs:
    """The first topic of each concept, or the one after the last."""
    first = topics.first_topics(concepts)
    return np.where(first >= 0, first, len(topics.names)).astype(np.int64)


def _time_bits(table: RecordTable, release: Release, finest: int) -> tuple[float, float]:
    """Bits of times that are kept, and those of all records that have one.

    Nothing is gained by a time that is finer than allowed.
    """
    bits, kept, held = np.array(TIME_BITS), 0.0, 0
    told = bits[np.minimum(release.precisions, finest)]
    for rows in row_parts(len(table)):
        timed, classes = table.times[rows] != NO_TIME, release.class_of[rows]
        kept += float(told[classes[timed & (classes >= 0)]].sum())
        held += int(np.count_nonzero(timed))
    return kept, float(held * bits[finest])


def truth_of(table: RecordTable, release: Release, taxonomy: Taxonomy) -> Truth:
    """How much of what a release says is true of the records behind it."""
    concepts = _concepts_of_classes(release)
    # Concepts and rows, all and those that are true.
    sums = np.zeros(4, dtype=np.int64)
    for records, part in table.parts():
        shown = _shown_forms(part, release.part(records))
        offsets, places = take_ragged(concepts[0], shown.classes)
        pairs = owners(offsets)
        true = _is_true(part, taxonomy, shown.forms[pairs], concepts[1][places])
        rows_true = np.bincount(pairs[~true], minlength=len(shown.counts)) == 0
        counts = shown.counts
        sums += [
            counts[pairs].sum(),
            counts[pairs[true]].sum(),
            counts.sum(),
            counts[rows_true].sum(),
        ]
    told, told_truly, rows, rows_truly = sums.tolist()
    return Truth(_share(told_truly, told), _share(rows_truly, rows))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _is_true(table: RecordTable, taxonomy: Taxonomy, forms: Longs, concepts: Ints) -> Flags:
    """Whether each concept is one of the form's, as mentioned, or above one of those."""
    forms_said, own = _mentions(table)
    offsets, places = take_ragged(taxonomy.ancestor_offsets, own)
    width = len(taxonomy)
    known = distinct(
        np.concatenate(
            [
                forms_said * width + own,
                forms_said[owners(offsets)] * width + taxonomy.ancestors[places],
                # T(x) leaves the root out, which is above all that its branches hold.
                forms_said * width + taxonomy.tops[own],
            ]
        )
    )
    sought = forms * width + concepts
    at = np.minimum(np.searchsorted(known, sought), max(0, len(known) - 1))
    return np.asarray(known[at] == sought) if len(known) else np.zeros(len(sought), np.bool_)


def _mentions(table: RecordTable) -> tuple[Longs, Ints]:
    """Form and concept of every attribute as mentioned."""
    said = table.forms.item_kinds == ATTRIBUTE
    return owners(table.forms.item_offsets)[said], table.forms.item_concepts[said]
