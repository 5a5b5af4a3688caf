"""Information loss: what a release costs its records (paper §4.1, Eq. 11–13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import reduce
from operator import add

import numpy as np

from tasks.core.arrays import (
    Ragged,
    distinct,
    owners,
    pairs_of,
    ragged_from_keys,
    ragged_keys,
    take_ragged,
)
from tasks.core.detection.topics import TopicMap
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import (
    ATTRIBUTE,
    Floats,
    Ints,
    Longs,
    RecordTable,
    Release,
    freeze,
)
from tasks.core.similarity.nearest import row_losses
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """Eq. 11 in percent: of what is lost; of what is lost or made up; per topic."""

    percent: float
    symmetric_percent: float
    by_topic: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class ShownRows:
    """What some records held and what stands for it in a release.

    Attributes:
        offsets, attributes: of each row, as ragged arrays.
        weights: mentions that each attribute stands for, over all records of the row.
        published_offsets, published: the concepts of each published row; a suppressed one has none.
        counts: records of each row.
    """

    offsets: Longs
    attributes: Ints
    weights: Floats
    published_offsets: Longs
    published: Ints
    counts: Longs

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class LossSums:
    """Sums of Eq. 12 (error) and of Eq. 13 (spread): of what is lost and of what is made up.

    Attributes:
        topic_error, topic_spread: what is lost by topic, shape (topics + 1,), others at the end.
    """

    error: float
    spread: float
    error_made_up: float
    spread_made_up: float
    topic_error: Floats
    topic_spread: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def __add__(self, other: LossSums) -> LossSums:
        both = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return LossSums(*(own + others for own, others in both))


def information_loss(
    table: RecordTable,
    release: Release,
    centre: Ints,
    taxonomy: Taxonomy,
    topics: TopicMap,
    *,
    inclusive: bool,
    rows_per_part: int = PART_SIZES.rows_per_part,
) -> InformationLoss:
    """Eq. 11–13 over all records with attributes, published or suppressed.

    The published value of an attribute is the nearest of its row's published concepts; an
    attribute of a suppressed record, or of a row that publishes none, costs δ = 1.

    Args:
        centre: the concepts of the data set's centre, against which Eq. 13 measures.
    """
    sums = (
        loss_sums(rows, centre, taxonomy, topics, inclusive=inclusive)
        for rows in shown_rows(table, release, rows_per_part=rows_per_part)
    )
    return loss_of(sums, topics)


def shown_rows(
    table: RecordTable, release: Release, *, rows_per_part: int = PART_SIZES.rows_per_part
) -> Iterator[ShownRows]:
    """The different rows of all records with attributes, so many at a time."""
    # The last row is empty: that of records that are suppressed.
    concept_offsets = np.append(release.concept_offsets, release.concept_offsets[-1])
    for rows in _so_many(_different_rows(table, release), rows_per_part):
        forms, classes, own = rows
        offsets, attributes, weights = form_attributes(table, forms)
        weights = weights * np.repeat(own, np.diff(offsets))
        concepts = take_ragged(concept_offsets, classes)
        published = _published(table, release, forms, classes, concepts)
        yield ShownRows(offsets, attributes, weights, *published, own)


def _different_rows(table: RecordTable, release: Release) -> Iterator[Longs]:
    """Form, class and number of all different rows of records with attributes, shape (3, rows)."""
    for forms, records in table.form_parts():
        held = table.set_of_form[table.form_of[records]] >= 0
        own = table.form_of[records][held].astype(np.int64)
        # Class -1 is one, too.
        found, classes, pair_of = pairs_of(own - forms.start, release.class_of[records][held] + 1)
        counts = np.bincount(pair_of, minlength=len(found))
        yield np.stack([found + forms.start, classes - 1, counts])


def _so_many(parts: Iterable[Longs], count: int) -> Iterator[Longs]:
    """The same, so many rows at a time; if there are none, one part without any."""
    waiting = np.zeros((3, 0), dtype=np.int64)
    for part in parts:
        waiting = np.concatenate([waiting, part], axis=1)
        while waiting.shape[1] > count:
            yield waiting[:, :count]
            waiting = waiting[:, count:]
    yield waiting


def loss_sums(
    rows: ShownRows, centre: Ints, taxonomy: Taxonomy, topics: TopicMap, *, inclusive: bool
) -> LossSums:
    """What some rows lose, and what they would lose if all published the centre."""
    left = (rows.offsets, rows.attributes)
    shown, all_alike = (rows.published_offsets, rows.published), _repeated(centre, len(rows.counts))
    error = row_losses(taxonomy, left, shown, inclusive=inclusive)
    spread = row_losses(taxonomy, left, all_alike, inclusive=inclusive)
    first = topics.first_topics(rows.attributes)
    places = np.where(first >= 0, first, len(topics.names))
    lost, spread_lost = error.lost * rows.weights, spread.lost * rows.weights
    return LossSums(
        error=float(lost.sum()),
        spread=float(spread_lost.sum()),
        error_made_up=float((error.made_up * rows.counts).sum()),
        spread_made_up=float((spread.made_up * rows.counts).sum()),
        topic_error=np.bincount(places, lost, minlength=len(topics.names) + 1).astype(np.float64),
        topic_spread=np.bincount(places, spread_lost, minlength=len(topics.names) + 1).astype(
            np.float64
        ),
    )


def loss_of(parts: Iterable[LossSums], topics: TopicMap) -> InformationLoss:
    """Eq. 11 from the sums of all parts, by topic for each that occurs; the rest is ``other``."""
    sums = reduce(add, parts)
    by_topic = zip([*topics.names, "other"], sums.topic_error, sums.topic_spread, strict=True)
    return InformationLoss(
        percent=percent_of(sums.error, sums.spread),
        symmetric_percent=percent_of(
            sums.error + sums.error_made_up, sums.spread + sums.spread_made_up
        ),
        by_topic={name: percent_of(part, whole) for name, part, whole in by_topic if whole > 0},
    )


def percent_of(part: float, whole: float) -> float:
    return float(100.0 * part / whole) if whole > 0 else 0.0


def form_attributes(table: RecordTable, forms: Longs) -> tuple[Longs, Ints, Floats]:
    offsets, places = take_ragged(table.forms.attribute_offsets, forms)
    weights = table.forms.weights[places].astype(np.float64)
    return offsets, table.forms.attributes[places], weights


def _published(
    table: RecordTable,
    release: Release,
    forms: Longs,
    classes: Longs,
    concepts: tuple[Longs, Longs],
) -> Ragged:
    """What stands for the attributes of each form in its class; class -1 publishes nothing.

    The concepts of the class, and attributes of the form that it tells as they were typed.

    Args:
        concepts: places of those of the classes, as a ragged array.
    """
    offsets, places = concepts
    keys = [ragged_keys(owners(offsets), release.concepts[places])]
    keys.append(_told_as_typed(table, release, forms, classes))
    return ragged_from_keys(distinct(np.concatenate(keys)), len(forms))


def _told_as_typed(table: RecordTable, release: Release, forms: Longs, classes: Longs) -> Longs:
    """Attributes whose word is a term of their class."""
    offsets, items = take_ragged(table.forms.item_offsets, forms)
    row = owners(offsets)
    held = (table.forms.item_kinds[items] == ATTRIBUTE) & (classes[row] >= 0)
    row, items = row[held], items[held]
    offsets, terms = take_ragged(release.term_offsets, different := distinct(classes[row]))
    said = ragged_keys(different[owners(offsets)], release.terms[terms])
    told = np.isin(ragged_keys(classes[row], table.forms.item_words[items]), said)
    row, items = row[told], items[told]
    own = table.forms.attribute_offsets[forms[row]] + table.forms.item_attributes[items]
    return ragged_keys(row, table.forms.attributes[own])


def _repeated(values: Ints, times: int) -> Ragged:
    return np.arange(times + 1, dtype=np.int64) * len(values), np.tile(values, times)
