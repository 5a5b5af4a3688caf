"""Redaction row by row, slowly: what the fast one must publish, in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Ragged, ragged_of, split_ragged
from tasks.core.records import (
    ATTRIBUTE,
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    TIME_NONE,
    WORD,
    Clusters,
    Ints,
    RecordTable,
    Release,
)
from tasks.core.redaction.sharing import SharedClass, Unit, absorb, share_words
from tasks.core.taxonomy import Taxonomy
from tests.oracles.paper import concept_distance

NO_CLUSTER = -1


class TimedClass(NamedTuple):
    """Records that publish the same time."""

    time: int
    precision: int
    records: list[int]


class Row(NamedTuple):
    """What some records publish."""

    terms: list[int]
    concepts: list[int]
    time: int
    precision: int
    cluster: int
    records: list[int]


def rows_of(release: Release) -> list[Row]:
    """The rows of a release, to be compared."""
    return [
        Row(terms.tolist(), concepts.tolist(), time, precision, cluster, records.tolist())
        for terms, concepts, time, precision, cluster, records in zip(
            split_ragged(release.term_offsets, release.terms),
            split_ragged(release.concept_offsets, release.concepts),
            release.times.tolist(),
            release.precisions.tolist(),
            release.clusters.tolist(),
            [np.flatnonzero(release.class_of == row) for row in range(release.class_count)],
            strict=True,
        )
    ]


def form_by_form(
    row_of: Callable[[int, int], tuple[Sequence[int], Ints]],
) -> Callable[[Ints, Ints], tuple[Ragged, Ragged]]:
    """What `publish_each` asks for, from the terms and concepts of one form in its cluster."""

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        rows = [row_of(*pair) for pair in zip(forms.tolist(), labels.tolist(), strict=True)]
        return ragged_of([terms for terms, _ in rows]), ragged_of([found for _, found in rows])

    return rows_of


def cut(time: int, precision: int) -> int:
    if time == NO_TIME or precision == TIME_NONE:
        return NO_TIME
    moment = datetime.fromtimestamp(time, UTC).replace(minute=0, second=0)
    if precision <= TIME_DAY:
        moment = moment.replace(hour=0)
    if precision <= TIME_MONTH:
        moment = moment.replace(day=1)
    return int(moment.timestamp())


def timed_classes(
    records: Sequence[int], users: Sequence[int], times: Sequence[int], k: int
) -> list[TimedClass]:
    """Split records that share their words by hour, day and month; the rest has no time."""
    classes: list[TimedClass] = []
    left = list(records)
    for precision in (TIME_HOUR, TIME_DAY, TIME_MONTH):
        parts: dict[int, list[int]] = defaultdict(list)
        for record in left:
            parts[cut(times[record], precision)].append(record)
        for time, part in sorted(parts.items()):
            if time != NO_TIME and len({users[record] for record in part}) >= k:
                classes.append(TimedClass(time, precision, part))
                left = [record for record in left if record not in part]
    if not left:
        return classes
    classes.sort(key=lambda c: (len(c.records), -c.precision, c.time), reverse=True)
    while len({users[record] for record in left}) < k:
        left += classes.pop().records
    return [*classes, TimedClass(NO_TIME, TIME_NONE, sorted(left))]


class SlowRedaction:
    """Strict redaction and redaction by terms of one log."""

    def __init__(
        self, table: RecordTable, clusters: Clusters, sets: Sequence[Ints], taxonomy: Taxonomy
    ) -> None:
        self.table = table
        self.clusters = clusters
        self.sets = [row.tolist() for row in sets]
        self.taxonomy = taxonomy
        self.users, self.times = table.users.tolist(), table.times.tolist()
        self.forms = table.form_of.tolist()

    def strict(self, k: int) -> list[Row]:
        rows = []
        for label in range(NO_CLUSTER, self.clusters.count):
            for shared, records in self._shared(label, k):
                for timed in timed_classes(records, self.users, self.times, k):
                    terms = self._ordered(timed.records, label, shared.words)
                    concepts = self._concepts(label)
                    rows.append(
                        Row(terms, concepts, timed.time, timed.precision, label, timed.records)
                    )
        return rows

    def by_terms(self, k: int) -> list[Row]:
        users: dict[int, set[int]] = defaultdict(set)
        variants: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for record in np.flatnonzero(~self.clusters.suppressed).tolist():
            form, label = self.forms[record], int(self.clusters.labels[record])
            variants[form, label, cut(self.times[record], TIME_DAY)].append(record)
            for term, _ in self._said(form, label):
                users[term].add(self.users[record])
        rows = []
        for (form, label, day), records in sorted(variants.items()):
            said = [t for t, _ in self._said(form, label) if t < 0 or len(users[t]) >= k]
            concepts = self._concepts(label)
            terms = list(dict.fromkeys([*said, *(-1 - concept for concept in concepts)]))
            if terms:
                precision = TIME_NONE if day == NO_TIME else TIME_DAY
                rows.append(Row(terms, concepts, day, precision, label, records))
        return rows

    def _concepts(self, label: int) -> list[int]:
        return self.sets[label] if label != NO_CLUSTER else []

    def _shared(self, label: int, k: int) -> list[tuple[SharedClass, list[int]]]:
        """Classes of words of a cluster, each with its records."""
        held: dict[tuple[int, int], list[int]] = defaultdict(list)
        for record in np.flatnonzero((self.clusters.labels == label) & ~self.clusters.suppressed):
            held[self.forms[record], self.users[record]].append(int(record))
        units = [
            Unit(key, user, tuple(dict.fromkeys(t for t, _ in self._said(form, NO_CLUSTER))))
            for key, (form, user) in enumerate(sorted(held))
        ]
        is_filler = self.table.fillers.tolist().__getitem__
        classes, left = share_words(units, k=k, is_filler=is_filler)
        if label == NO_CLUSTER:
            classes = [shared for shared in classes if shared.words]
        else:
            classes, _ = absorb(classes, left, k=k)
        records = [held[pair] for pair in sorted(held)]
        return [(c, sorted(r for unit in c.units for r in records[unit.key])) for c in classes]

    def _ordered(self, records: Sequence[int], label: int, words: Sequence[int]) -> list[int]:
        """Words and concepts in the mean order in which the records say them."""
        places: dict[int, list[float]] = {
            term: [] for term in [*words, *(-1 - concept for concept in self._concepts(label))]
        }
        for form, count in sorted(Counter(self.forms[record] for record in records).items()):
            for term, place in self._said(form, label):
                if term in places:
                    places[term] += [place] * count
        means = {term: sum(found) / len(found) if found else 1.0 for term, found in places.items()}
        return sorted(places, key=lambda term: (round(means[term], 9), term))

    def _said(self, form: int, label: int) -> list[tuple[int, float]]:
        """What a query's items become, each with its place between 0 and 1."""
        forms = self.table.forms
        start, end = int(forms.item_offsets[form]), int(forms.item_offsets[form + 1])
        said = []
        for item in range(start, end):
            place = (item - start + 0.5) / (end - start)
            if forms.item_kinds[item] == WORD:
                said.append((int(forms.item_words[item]), place))
            elif forms.item_kinds[item] == ATTRIBUTE and label != NO_CLUSTER:
                own = self.table.sets.row(int(self.table.set_of_form[form]))
                said.append(
                    (-1 - self._nearest(int(own[forms.item_attributes[item]]), label), place)
                )
        return said

    def _nearest(self, concept: int, label: int) -> int:
        near: tuple[float, int] = min(
            (concept_distance(self.taxonomy, concept, other), int(other))
            for other in self.sets[label]
        )
        return near[1]
