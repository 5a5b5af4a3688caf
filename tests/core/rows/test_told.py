"""What classes tell, against plain sets: true of all of them, and as fine as can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import ragged_of, split_ragged
from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_HOUR,
    TIME_MONTH,
    TIME_NONE,
    TOO_FEW,
    Ints,
    Longs,
    RecordTable,
    Release,
    cut_times,
)
from tasks.core.rows.levels import item_levels
from tasks.core.rows.told import cluster_numbers, in_edition, release_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import VAGUEST, Log, hard_logs
from tests.helpers.random_logs import HOUR, table_of
from tests.oracles.levels import SlowItem, slow_items

PRECISIONS = st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR])


class Slow:
    """One class, record by record."""

    def __init__(
        self, taxonomy: Taxonomy, table: RecordTable, records: list[int], k: int, vaguest: float
    ) -> None:
        self.table, self.records, self.k = table, records, k
        self.items = [
            slow_items(table, taxonomy, int(table.form_of[r]), vaguest=vaguest, fillers=True)
            for r in records
        ]

    def told(self) -> list[list[tuple[int, SlowItem]]]:
        """Of each record the finest node of each item that all have; none that only some say."""
        held = [{node for item in items for node, _ in item.levels} for items in self.items]
        common = set.intersection(*held)
        finest = [
            [(own[0], item) for item in items if (own := self.common_nodes(item, common))]
            for items in self.items
        ]
        said = set.intersection(*({node for node, _ in row} for row in finest))
        return [[(node, item) for node, item in row if node in said] for row in finest]

    @staticmethod
    def common_nodes(item: SlowItem, common: set[int]) -> list[int]:
        return [node for node, _ in item.levels if node in common]

    def term(self, node: int) -> int:
        """How a node is said: by the word that most people typed for it, if k did."""
        words = len(self.table.words)
        if node < words:
            return node
        typed: dict[int, set[int]] = {}
        for record, row in zip(self.records, self.told(), strict=True):
            for own, item in row:
                if own == node and item.concept == node - words:
                    typed.setdefault(item.word, set()).add(int(self.table.users[record]))
        best = min(typed, key=lambda word: (-len(typed[word]), word), default=-1)
        return best if best >= 0 and len(typed[best]) >= self.k else words - 1 - node

    def terms(self) -> list[int]:
        """In the mean order in which the records say them."""
        places: dict[int, list[float]] = {}
        for row in self.told():
            for node, item in row:
                places.setdefault(self.term(node), []).append(item.place)
        means = {term: round(sum(own) / len(own), 9) for term, own in places.items()}
        return sorted(means, key=lambda term: (means[term], term))

    def concepts(self, *, senses: bool) -> list[int]:
        words = len(self.table.words)
        told = {node - words for row in self.told() for node, _ in row if node >= words}
        if senses:
            typed = {node for row in self.told() for node, _ in row if node < words}
            for word in typed:
                meant = {self.sense(i) for row in self.told() for n, i in row if n == word}
                told |= meant if len(meant) == 1 else set()
        return sorted(told - {-1})

    def sense(self, item: SlowItem) -> int:
        """The concept of an item, unless that is too vague to be told."""
        return item.concept if len(self.table.words) + item.concept in dict(item.levels) else -1

    def time(self, finest: int) -> tuple[int, int]:
        for precision in range(finest, TIME_NONE, -1):
            spans = set(cut_times(self.table.times[self.records], precision).tolist())
            if len(spans) == 1 and NO_TIME not in spans:
                return spans.pop(), precision
        return NO_TIME, TIME_NONE


def drawn_classes(data: st.DataObject, table: RecordTable) -> Longs:
    """Any classes, numbered without gaps; a form may be in several."""
    labels = [data.draw(st.integers(-1, 2)) for _ in range(len(table))]
    known = sorted({label for label in labels if label >= 0})
    numbers = [known.index(label) if label >= 0 else -1 for label in labels]
    return np.array(numbers, dtype=np.int64)


@settings(max_examples=300)
@given(hard_logs(), st.integers(1, 4), PRECISIONS, st.booleans(), st.data())
def test_classes_tell_what_plain_sets_say(
    log: Log, k: int, finest: int, senses: bool, data: st.DataObject
) -> None:
    taxonomy, table = log
    class_of = drawn_classes(data, table)
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    release = release_of(table, class_of, levels, k=k, precision=finest, senses=senses)
    assert release.class_of.tolist() == class_of.tolist()
    assert release.class_count == int(class_of.max(initial=-1)) + 1
    terms = split_ragged(release.term_offsets, release.terms)
    concepts = split_ragged(release.concept_offsets, release.concepts)
    for own in range(release.class_count):
        slow = Slow(taxonomy, table, np.flatnonzero(class_of == own).tolist(), k, VAGUEST)
        assert terms[own].tolist() == slow.terms()
        assert concepts[own].tolist() == slow.concepts(senses=senses)
        assert (release.times[own], release.precisions[own]) == slow.time(finest)
    assert release.reasons.tolist() == [TOO_FEW if own < 0 else 0 for own in class_of.tolist()]


@given(hard_logs(), st.integers(1, 4), st.booleans(), st.data())
def test_all_that_is_told_is_true_of_every_record(
    log: Log, k: int, senses: bool, data: st.DataObject
) -> None:
    """A word is typed by all, or by k people for a concept that is told as well."""
    taxonomy, table = log
    class_of = drawn_classes(data, table)
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    release = release_of(table, class_of, levels, k=k, precision=TIME_DAY, senses=senses)
    terms = split_ragged(release.term_offsets, release.terms)
    concepts = split_ragged(release.concept_offsets, release.concepts)
    for own in range(release.class_count):
        records = np.flatnonzero(class_of == own).tolist()
        said = [slow_items(table, taxonomy, f, fillers=True) for f in table.form_of[records]]
        for concept in concepts[own].tolist():
            true = [
                any(concept in {i.concept, *above(taxonomy, i.concept)} for i in items)
                for items in said
            ]
            assert all(true)
        for term in terms[own].tolist():
            if term < 0:
                assert -1 - term in concepts[own]
            typed = [any(item.word == term for item in items) for items in said]
            people = {int(table.users[r]) for r, own in zip(records, typed, strict=True) if own}
            assert term < 0 or all(typed) or len(people) >= k


def above(taxonomy: Taxonomy, concept: int) -> list[int]:
    return taxonomy.ancestors_of(concept).tolist() if concept >= 0 else []


@pytest.fixture
def taxonomy() -> Taxonomy:
    """entity over disease, over flu and cold; flu over h1n1; a plant beside them."""
    names = ["entity", "disease", "flu", "cold", "plant", "h1n1"]
    return build_taxonomy(names, names, [[], [0], [1], [1], [0], [2]], root="entity", version="")


def told_together(
    taxonomy: Taxonomy, table: RecordTable, *, k: int = 2, senses: bool = False
) -> tuple[list[str], list[int]]:
    """Terms, concepts by name, and concepts of all records as one class."""
    class_of = np.zeros(len(table), dtype=np.int64)
    levels = item_levels(table, taxonomy, fillers=True)
    release = release_of(table, class_of, levels, k=k, precision=TIME_DAY, senses=senses)
    said = [table.words[t] if t >= 0 else str(taxonomy.names[-1 - t]) for t in release.terms]
    return said, release.concepts.tolist()


def test_a_word_of_all_is_told_alone(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(user, [2], ["best"], 0) for user in range(3)])
    assert told_together(taxonomy, table) == (["best", "word2"], [])
    assert told_together(taxonomy, table, senses=True) == (["best", "word2"], [2])


def test_siblings_tell_what_is_above_them_and_nobody_s_own_word(taxonomy: Taxonomy) -> None:
    """Also where k people typed one of them: who asked for a cold did not ask for flu."""
    table = table_of(taxonomy, [(user, [2 if user < 3 else 3], [], 0) for user in range(4)])
    assert told_together(taxonomy, table) == (["disease"], [1])


def test_a_concept_is_called_as_k_people_who_mean_it_call_it(taxonomy: Taxonomy) -> None:
    """Two ask for flu, one for something below it."""
    table = table_of(taxonomy, [(0, [2], [], 0), (1, [2], [], 0), (2, [5], [], 0)])
    assert told_together(taxonomy, table) == (["word2"], [2])
    assert told_together(taxonomy, table, k=3) == (["flu"], [2])


def test_one_item_is_told_once(taxonomy: Taxonomy) -> None:
    """Flu and cold, and flu alone: a disease beside flu would be said of one who has but flu."""
    table = table_of(taxonomy, [(0, [2, 3], [], 0), (1, [2], [], 0)])
    assert told_together(taxonomy, table) == (["word2"], [])


def test_every_record_has_a_say_in_the_order(taxonomy: Taxonomy) -> None:
    most: list[tuple[int, list[int], list[str], int]] = [
        (user, [], ["cheap", "best"], 0) for user in range(3)
    ]
    table = table_of(taxonomy, [*most, (3, [], ["best", "cheap"], 0)])
    assert told_together(taxonomy, table) == (["cheap", "best"], [])


def test_a_sense_is_told_only_where_all_mean_it(taxonomy: Taxonomy) -> None:
    rows: list[tuple[int, list[int], list[str], int]] = [
        (0, [2], ["best"], 0),
        (1, [], ["best", "word2", "near"], 0),
    ]
    table = table_of(taxonomy, rows)
    assert told_together(taxonomy, table, senses=True) == (["best", "word2"], [])


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ([1, 1], (TIME_HOUR, 1)),
        ([1, 2], (TIME_DAY, 0)),
        ([1, 30], (TIME_MONTH, 0)),
        ([1, 24 * 40], (TIME_NONE, None)),
        ([1, None], (TIME_NONE, None)),
    ],
)
def test_a_time_is_the_finest_that_all_share(
    taxonomy: Taxonomy, hours: list[int | None], expected: tuple[int, int | None]
) -> None:
    times = [NO_TIME if hour is None else hour * HOUR + 59 for hour in hours]
    table = table_of(taxonomy, [(user, [2], [], time) for user, time in enumerate(times)])
    levels = item_levels(table, taxonomy)
    zeros = np.zeros(len(table), dtype=np.int64)
    release = release_of(table, zeros, levels, k=2, precision=TIME_HOUR, senses=False)
    hour = None if release.times[0] == NO_TIME else int(release.times[0]) // HOUR
    assert (int(release.precisions[0]), hour) == expected
    coarse = release_of(table, zeros, levels, k=2, precision=TIME_MONTH, senses=False)
    assert coarse.precisions[0] == min(TIME_MONTH, expected[0])


SETS = st.lists(st.sets(st.integers(0, 3), max_size=2).map(sorted), max_size=8)


@given(SETS)
def test_rows_of_the_same_concepts_are_one_cluster(sets: list[list[int]]) -> None:
    found = cluster_numbers(ragged_of(sets)).tolist()
    met: list[list[int]] = []
    for own in sets:
        if own and own not in met:
            met.append(own)
    assert found == [met.index(own) if own else -1 for own in sets]


def bare_release(sets: list[list[int]]) -> Release:
    """A release of which only the concepts matter."""
    count = len(sets)
    concept_offsets, concepts = ragged_of(sets)
    none: Ints = np.zeros(count, dtype=np.int32)
    return Release(
        class_of=np.arange(count, dtype=np.int32),
        term_offsets=np.arange(count + 1),
        terms=none,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=np.full(count, NO_TIME),
        precisions=none,
        clusters=cluster_numbers((concept_offsets, concepts)),
        reasons=none,
    )


@given(SETS, SETS)
def test_an_edition_keeps_the_numbers_of_sets_it_has_published(
    published: list[list[int]], sets: list[list[int]]
) -> None:
    before = bare_release(sets)
    arrays = [np.array(own, dtype=np.int32) for own in published]
    found = in_edition(before, arrays)
    numbers = list(published)
    for own in sets:
        if own and own not in numbers:
            numbers.append(own)
    assert found.clusters.tolist() == [numbers.index(own) if own else -1 for own in sets]
    assert found.terms is before.terms
