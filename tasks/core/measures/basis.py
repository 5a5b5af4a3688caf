"""What public figures are made of: counts in which nobody counts for much (docs/measures.md).

One person may hold thousands of rows, so a count of rows tells of one person, however it is
rounded. Here every person counts with their first few rows alone: whoever is added or removed
changes a count of rows by so many at most. Of each count it is also said how many people stand
behind it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tasks.core.arrays import owners, take_ragged
from tasks.core.columns import column, joined, row_parts
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information import Information, information_kept, truth_of
from tasks.core.measures.risk import attack_successes, mean_of
from tasks.core.measures.standing import Standing
from tasks.core.members import Members, members_of
from tasks.core.records import (
    ATTRIBUTE,
    WITHHELD,
    Flags,
    Ints,
    Longs,
    QueryForms,
    RecordTable,
)
from tasks.core.taxonomy import Taxonomy
from tasks.schema import Basis

ROWS_PER_K: Final = 10
"""A person counts with so many rows for each of the k people that a row needs."""
WORDS_PER_ROW: Final = 10
"""And with so many words, on average, for each of those rows."""


def public_basis(
    standing: Standing,
    taxonomy: Taxonomy,
    topics: TopicMap,
    sets: Ints,
    same: Flags,
    *,
    k: int,
    finest: int,
) -> Basis:
    """All that the public edition of the figures needs and the internal one does not say.

    Args:
        sets: what is sensitive of each form, or -1.
        same: records that are `unchanged`.
        finest: the finest precision of time that may be published.
    """
    most, table, release = ROWS_PER_K * k, standing.table, standing.release
    people = members_of(table.users, max(1, standing.user_count))
    chosen = first_rows(table, people, most)
    counts, of_topics = _count(standing, people, chosen, same, topics, most)
    few = some_records(table, chosen)
    shown = replace(
        release,
        class_of=some_rows(release.class_of, chosen),
        reasons=some_rows(release.reasons, chosen),
    )
    values = _information(information_kept(few, shown, taxonomy, topics, finest=finest))
    truth = truth_of(few, shown, taxonomy)
    if len(few):
        every, released = partial(row_parts, len(table)), standing.released
        values["risk.raw_expected"] = mean_of(standing.raw[own][chosen[own]] for own in every())
        values["risk.released_expected"] = mean_of(released[own][chosen[own]] for own in every())
        values["risk.published_expected"] = mean_of(
            released[own][chosen[own] & (release.class_of[own] >= 0)] for own in every()
        )
        attacks = attack_successes(standing, sets, chosen)
        values |= {f"risk.{name}": cast("float", value) for name, value in attacks.items()}
    return {
        "rows_per_person": most,
        "counts": counts.counts,
        "people": {**counts.people, **of_topics.people},
        "values": {
            **values,
            "truth.concepts_true": truth.concepts_true,
            "truth.rows_true": truth.rows_true,
        },
    }


def first_rows(table: RecordTable, people: Members, most: int) -> Flags:
    """The first so many rows of each person, by time, then in the order of the records: a column.

    Args:
        people: the records of each.
    """
    chosen = column(len(table), np.bool_)
    for groups, records, owner in people.parts():
        starts = people.offsets[groups] - people.offsets[groups.start]
        order = np.lexsort((table.times[records], owner))
        chosen[records[order]] = np.arange(len(records)) - starts[owner] < most
    return chosen


def some_rows(values: NDArray[Any], chosen: Flags) -> NDArray[Any]:
    """Those of the chosen rows: a column."""
    count = sum(int(np.count_nonzero(chosen[rows])) for rows in row_parts(len(chosen)))
    parts = (values[rows][chosen[rows]] for rows in row_parts(len(chosen)))
    return joined(count, values.dtype, parts)


def some_records(table: RecordTable, chosen: Flags) -> RecordTable:
    """The table of some of its records."""
    return replace(
        table,
        form_of=some_rows(table.form_of, chosen),
        users=some_rows(table.users, chosen),
        times=some_rows(table.times, chosen),
        log_rows=some_rows(table.log_rows, chosen),
    )


class _Counter:
    """Counts things of records, at most so many of each person."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.counts: dict[str, int] = {}
        self.people: dict[str, int] = {}

    def add(
        self, key: str, whose: Longs, weights: Longs | None = None, *, per_row: int = 1
    ) -> None:
        """Count something that is somebody's, given all there is of these people."""
        own = np.bincount(whose, weights)
        counted = int(np.minimum(own, self._most * per_row).sum())
        self.counts[key] = self.counts.get(key, 0) + counted
        self.people[key] = self.people.get(key, 0) + int(np.count_nonzero(own))


def _count(
    standing: Standing, people: Members, chosen: Flags, same: Flags, topics: TopicMap, most: int
) -> tuple[_Counter, _Counter]:
    """What there is of the chosen records; and people who mention something of each topic."""
    table, release = standing.table, standing.release
    found, of_topics = _Counter(most), _Counter(1)
    said = np.append(np.diff(release.term_offsets), 0)
    for _, records, owner in people.parts():
        kept = chosen[records]
        records, whose = records[kept], owner[kept]
        forms, classes = table.form_of[records], release.class_of[records]
        holding, published = table.set_of_form[forms] >= 0, classes >= 0
        found.add("records.read", whose)
        found.add("records.with_attributes", whose[holding])
        found.add("records.published", whose[published])
        found.add("records.withheld", whose[~published])
        found.add("shares.changed", whose[published & ~same[records]])
        found.add("shares.with_attributes_published", whose[holding & published])
        reasons = release.reasons[records]
        for number, reason in enumerate(WITHHELD[1:], start=1):
            found.add(f"withheld_by_reason.{reason}", whose[reasons == number])
        offsets, items = take_ragged(table.forms.item_offsets, forms)
        found.add("words.read", whose, np.diff(offsets), per_row=WORDS_PER_ROW)
        found.add("words.published", whose, said[classes], per_row=WORDS_PER_ROW)
        _count_items(found, of_topics, table.forms, items, whose[owners(offsets)], topics)
    return found, of_topics


def _count_items(
    found: _Counter,
    of_topics: _Counter,
    forms: QueryForms,
    items: Longs,
    whose: Longs,
    topics: TopicMap,
) -> None:
    """Items that are attributes or identifiers, each somebody's."""
    held = forms.item_kinds[items] == ATTRIBUTE
    found.add("attributes.mentions", whose[held])
    first = topics.first_topics(np.maximum(forms.item_concepts[items[held]], 0))
    for place, name in enumerate([*topics.names, "other"]):
        own = first == (place if place < len(topics.names) else -1)
        of_topics.add(f"information.by_topic.{name}", whose[held][own])
    identifiers = forms.item_identifiers[items]
    for number, kind in enumerate(KINDS):
        found.add(f"identifiers.{kind}", whose[identifiers == number])


def _information(found: Information) -> dict[str, float]:
    return {
        "information.kept_percent": found.kept_percent,
        "information.words_percent": found.words_percent,
        "information.concepts_percent": found.concepts_percent,
        "information.time_percent": found.time_percent,
        **{f"information.by_topic.{topic}": value for topic, value in found.by_topic.items()},
    }
