"""What public figures are made of: counts in which nobody counts for much (docs/measures.md).

One person may hold thousands of rows, so a count of rows tells of one person, however it is
rounded. Here every person counts with their first few rows alone: whoever is added or removed
changes a count of rows by so many at most. Of each count it is also said how many people stand
behind it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tasks.core.arrays import owners, sums_by
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.counts import unchanged
from tasks.core.measures.information import Information, information_kept, truth_of
from tasks.core.measures.risk import attack_successes, raw_success, released_success
from tasks.core.records import ATTRIBUTE, WITHHELD, Flags, Ints, RecordTable, Release
from tasks.core.taxonomy import Taxonomy
from tasks.schema import Basis

ROWS_PER_K: Final = 10
"""A person counts with so many rows for each of the k people that a row needs."""
WORDS_PER_ROW: Final = 10
"""And with so many words, on average, for each of those rows."""


def public_basis(
    table: RecordTable,
    release: Release,
    taxonomy: Taxonomy,
    topics: TopicMap,
    sets: Ints,
    *,
    k: int,
    finest: int,
) -> Basis:
    """All that the public edition of the figures needs and the internal one does not say.

    Args:
        sets: what is sensitive of each form, or -1.
        finest: the finest precision of time that may be published.
    """
    most = ROWS_PER_K * k
    chosen = first_rows(table, most)
    few, shown = rows_of(table, release, chosen)
    found = _Counter(few, most)
    _count(found, few, shown)
    values = _information(information_kept(few, shown, taxonomy, topics, finest=finest))
    truth = truth_of(few, shown, taxonomy)
    if len(few):
        values["risk.raw_expected"] = float(raw_success(table)[chosen].mean())
        released, shown_rows = released_success(table, release), chosen & release.published
        values["risk.released_expected"] = float(released[chosen].mean())
        values["risk.published_expected"] = float(
            released[shown_rows].sum() / max(1, shown_rows.sum())
        )
        attacks = attack_successes(table, release, sets, chosen)
        values |= {f"risk.{name}": cast("float", value) for name, value in attacks.items()}
    return {
        "rows_per_person": most,
        "counts": found.counts,
        "people": {**found.people, **_people_of_topics(few, topics)},
        "values": {
            **values,
            "truth.concepts_true": truth.concepts_true,
            "truth.rows_true": truth.rows_true,
        },
    }


def first_rows(table: RecordTable, most: int) -> Flags:
    """The first so many rows of each person, by time, then in the order of the records."""
    order = np.lexsort((np.arange(len(table)), table.times, table.users))
    starts = np.searchsorted(table.users[order], table.users[order])
    chosen = np.zeros(len(table), dtype=np.bool_)
    chosen[order] = np.arange(len(table)) - starts < most
    return chosen


def rows_of(table: RecordTable, release: Release, chosen: Flags) -> tuple[RecordTable, Release]:
    """Some of the records, and what is released of them."""
    few = replace(
        table,
        form_of=table.form_of[chosen],
        users=table.users[chosen],
        times=table.times[chosen],
        log_rows=table.log_rows[chosen],
    )
    return few, replace(release, class_of=release.class_of[chosen], reasons=release.reasons[chosen])


class _Counter:
    """Counts things of records, at most so many of each person."""

    def __init__(self, table: RecordTable, most: int) -> None:
        self._users, self._most = table.users, most
        self.counts: dict[str, int] = {}
        self.people: dict[str, int] = {}

    def add(self, key: str, of_record: NDArray[np.generic], *, per_row: int = 1) -> None:
        """Count what there is of each record."""
        own = np.bincount(self._users, of_record.astype(np.float64))
        self.counts[key] = int(np.minimum(own, self._most * per_row).sum())
        self.people[key] = int(np.count_nonzero(own))


def _count(found: _Counter, table: RecordTable, release: Release) -> None:
    holding, published = table.set_of >= 0, release.published
    found.add("records.read", np.ones(len(table)))
    found.add("records.with_attributes", holding)
    found.add("records.published", published)
    found.add("records.withheld", ~published)
    found.add("shares.changed", published & ~unchanged(table, release))
    found.add("shares.with_attributes_published", holding & published)
    for number, reason in enumerate(WITHHELD[1:], start=1):
        found.add(f"withheld_by_reason.{reason}", release.reasons == number)
    items = np.diff(table.forms.item_offsets)[table.form_of]
    said = np.append(np.diff(release.term_offsets), 0)[release.class_of]
    found.add("words.read", items, per_row=WORDS_PER_ROW)
    found.add("words.published", said, per_row=WORDS_PER_ROW)
    forms = table.forms
    found.add("attributes.mentions", _mentioned(table, forms.item_kinds == ATTRIBUTE))
    for number, kind in enumerate(KINDS):
        found.add(f"identifiers.{kind}", _mentioned(table, forms.item_identifiers == number))


def _mentioned(table: RecordTable, chosen: Flags) -> NDArray[np.float64]:
    """How many of the chosen items each record has."""
    rows = owners(table.forms.item_offsets)[chosen]
    return sums_by(rows, np.ones(len(rows)), len(table.forms))[table.form_of]


def _information(found: Information) -> dict[str, float]:
    return {
        "information.kept_percent": found.kept_percent,
        "information.words_percent": found.words_percent,
        "information.concepts_percent": found.concepts_percent,
        "information.time_percent": found.time_percent,
        **{f"information.by_topic.{topic}": value for topic, value in found.by_topic.items()},
    }


def _people_of_topics(table: RecordTable, topics: TopicMap) -> dict[str, int]:
    """People who mention something of each topic."""
    counted = _Counter(table, 1)
    forms, names = table.forms, [*topics.names, "other"]
    held = forms.item_kinds == ATTRIBUTE
    first = topics.first_topics(np.maximum(forms.item_concepts, 0))
    for place, name in enumerate(names):
        own = first == (place if place < len(topics.names) else -1)
        counted.add(f"information.by_topic.{name}", _mentioned(table, held & own))
    return counted.people
