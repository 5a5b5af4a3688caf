"""Redaction record by record, on random logs, against plain sets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import split_ragged
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
    cut_times,
)
from tasks.core.redaction.by_record import (
    redact_as_printed,
    redact_by_terms,
    replacements,
    without_rare_words,
)
from tasks.core.redaction.scrubbing import Span, scrub
from tasks.core.rows.classes import classes_of
from tasks.core.rows.levels import item_levels
from tasks.core.rows.problem import row_problem
from tasks.core.rows.told import release_of
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import VAGUEST, Log, hard_logs
from tests.helpers.random_logs import HOUR, table_of
from tests.oracles.paper import concept_distance, most_matches
from tests.oracles.redaction import Row, rows_of

LOGS = hard_logs(least=1, most=40, users=9)
PEOPLE = st.integers(2, 4)
FINEST = st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR])


def strict_release(log: Log, k: int, *, senses: bool, finest: int = TIME_MONTH) -> Release:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    problem, unit_of = row_problem(table, levels, k=k, l=1, precision=finest)
    classes = classes_of(problem)[unit_of]
    return release_of(table, classes, levels, k=k, precision=finest, senses=senses)


def typed(table: RecordTable, record: int, kinds: tuple[int, ...] = (WORD, ATTRIBUTE)) -> list[int]:
    """The different words of a record's query, in order."""
    forms, form = table.forms, int(table.form_of[record])
    places = range(forms.item_offsets[form], forms.item_offsets[form + 1])
    return list(
        dict.fromkeys(int(forms.item_words[i]) for i in places if forms.item_kinds[i] in kinds)
    )


def people_of_terms(table: RecordTable, release: Release) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for row in rows_of(release):
        for term in row.terms:
            found[term].update(table.users[row.records].tolist())
    return found


@settings(max_examples=80)
@given(LOGS, PEOPLE, st.booleans(), FINEST)
def test_every_word_is_used_by_k_people(log: Log, k: int, as_typed: bool, finest: int) -> None:
    _, table = log
    strict = strict_release(log, k, senses=not as_typed)
    release = redact_by_terms(table, strict, k=k, finest=finest, attributes=as_typed)
    assert all(len(users) >= k for users in people_of_terms(table, release).values())


@settings(max_examples=80)
@given(LOGS, PEOPLE, st.booleans(), FINEST)
def test_a_record_says_its_shared_words_then_what_its_class_tells(
    log: Log, k: int, as_typed: bool, finest: int
) -> None:
    _, table = log
    strict = strict_release(log, k, senses=not as_typed)
    release = redact_by_terms(table, strict, k=k, finest=finest, attributes=as_typed)
    kinds = (WORD, ATTRIBUTE) if as_typed else (WORD,)
    own = [typed(table, record, kinds) for record in range(len(table))]
    everybody = range(len(table))
    loud = {
        word
        for word in range(len(table.words))
        if not table.fillers[word] and used_by(table, own, everybody, word) >= k
    }
    told = [r for r in everybody if strict.published[r] or loud.intersection(own[r])]
    quiet = {
        word
        for word in range(len(table.words))
        if table.fillers[word] and used_by(table, own, told, word) >= k
    }
    assert np.flatnonzero(release.published).tolist() == told
    terms = split_ragged(release.term_offsets, release.terms)
    strict_rows = rows_of(strict)
    for record in told:
        row = strict_rows[strict.class_of[record]] if strict.published[record] else None
        shared = [w for w in own[record] if w in loud | quiet or (row and w in row.terms)]
        expected = list(dict.fromkeys([*shared, *(row.terms if row else [])]))
        assert sorted(terms[release.class_of[record]].tolist()) == sorted(expected)
        assert terms[release.class_of[record]].tolist()[: len(shared)] == shared


def used_by(table: RecordTable, own: list[list[int]], records: range | list[int], word: int) -> int:
    return len({int(table.users[record]) for record in records if word in own[record]})


@settings(max_examples=80)
@given(LOGS, PEOPLE, st.booleans(), FINEST)
def test_concepts_are_those_of_the_class_and_times_no_finer_than_days(
    log: Log, k: int, as_typed: bool, finest: int
) -> None:
    _, table = log
    strict = strict_release(log, k, senses=not as_typed)
    release = redact_by_terms(table, strict, k=k, finest=finest, attributes=as_typed)
    strict_rows = rows_of(strict)
    for row in rows_of(release):
        for record in row.records:
            own = strict_rows[strict.class_of[record]] if strict.published[record] else None
            assert row.concepts == (own.concepts if own else [])
            assert row.cluster == (own.cluster if own else -1)
            assert row.time == cut_times(table.times[[record]], min(finest, TIME_DAY))[0]
        untimed = row.time == NO_TIME
        assert row.precision == (TIME_NONE if untimed else min(finest, TIME_DAY))


@settings(max_examples=80)
@given(LOGS, PEOPLE, st.booleans())
def test_no_row_is_fillers_alone_and_no_word_of_strict_is_lost(
    log: Log, k: int, as_typed: bool
) -> None:
    _, table = log
    strict = strict_release(log, k, senses=not as_typed)
    release = scrubbed(redact_by_terms(table, strict, k=k, finest=0, attributes=as_typed), table)
    fillers = set(np.flatnonzero(table.fillers).tolist())
    assert all(not fillers.issuperset(row.terms) for row in rows_of(release))
    strict = scrubbed(strict, table)
    terms = [split_ragged(r.term_offsets, r.terms) for r in (strict, release)]
    for record in np.flatnonzero(strict.published).tolist():
        before, after = (
            set(rows[own.class_of[record]].tolist())
            for rows, own in zip(terms, (strict, release), strict=True)
        )
        assert before <= after


def nothing_found(text: str) -> list[Span]:
    return []


def scrubbed(release: Release, table: RecordTable) -> Release:
    return scrub(release, table, nothing_found, np.full(99, "a concept", dtype=object))


class Found:
    """A span of a finder that knows but one name."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def find_best_near(text: str) -> list[Span]:
    place = text.find("best near")
    return [Found(place, place + len("best near"))] if place >= 0 else []


@settings(max_examples=80)
@given(LOGS, PEOPLE)
def test_what_scrubbing_leaves_of_a_word_is_used_by_k_people_or_goes(log: Log, k: int) -> None:
    _, table = log
    strict = strict_release(log, k, senses=False)
    by_terms = redact_by_terms(table, strict, k=k, finest=0, attributes=True)
    once = scrub(by_terms, table, find_best_near, log[0].words)
    release = without_rare_words(once, table, find_best_near, log[0].words, k=k)
    words = {t: users for t, users in people_of_terms(table, release).items() if t >= 0}
    assert all(len(users) >= k for users in words.values())
    for row in rows_of(release):
        said = " ".join(table.words[t] if t >= 0 else "|" for t in row.terms)
        assert "best near" not in said


def test_a_word_that_scrubbing_has_made_rare_goes_too() -> None:
    """Three say *near*, two of them after *best*: of these two it is scrubbed, of one left."""
    taxonomy = build_taxonomy(["entity"], ["entity"], [[]], root="entity", version="")
    rows: list[tuple[int, list[int], list[str], int]] = [
        (0, [], ["best", "near", "me"], 0),
        (1, [], ["best", "near", "me"], 0),
        (2, [], ["near", "me"], 0),
    ]
    table = table_of(taxonomy, rows)
    nobody = strict_release((taxonomy, table), 9, senses=False)
    by_terms = redact_by_terms(table, nobody, k=2, finest=0, attributes=True)
    once = scrub(by_terms, table, find_best_near, taxonomy.words)
    near, me = (table.words.tolist().index(word) for word in ("near", "me"))
    assert sorted(row.terms for row in rows_of(once)) == sorted([[me], [near, me]])
    release = without_rare_words(once, table, find_best_near, taxonomy.words, k=2)
    assert [row.terms for row in rows_of(release)] == [[me], [me]]


class Printed:
    """Lines 14-18 of Algorithm 3, record by record."""

    def __init__(self, taxonomy: Taxonomy, table: RecordTable, threshold: float) -> None:
        self.taxonomy, self.table, self.threshold = taxonomy, table, threshold

    def may_become(self, attribute: int, centroid: list[int]) -> set[int]:
        """What an attribute may be published as: the centroid's similar ones, or its parent."""
        parent = int(self.taxonomy.main_parents[attribute])
        similar = {other for other in centroid if self.similar(attribute, other)}
        return similar | {parent if parent >= 0 else attribute}

    def similar(self, own: int, other: int) -> bool:
        return 1 - concept_distance(self.taxonomy, own, other) >= self.threshold

    def matched(self, own: list[int], centroid: list[int]) -> int:
        eligible = [[self.similar(a, b) for b in centroid] for a in own]
        return most_matches(np.array(eligible).reshape(len(own), len(centroid)))


@st.composite
def clustered(draw: st.DrawFn) -> tuple[Log, Clusters]:
    """A log in arbitrary clusters, each with one of its records as centroid."""
    log = draw(LOGS)
    table = log[1]
    labels = [draw(st.integers(-1, 2)) if own >= 0 else -1 for own in table.set_of.tolist()]
    known = sorted(set(labels) - {-1})
    numbers = [known.index(own) if own >= 0 else -1 for own in labels]
    suppressed = [
        number < 0 and (own >= 0 or draw(st.booleans()))
        for number, own in zip(numbers, table.set_of.tolist(), strict=True)
    ]
    centroids = [
        draw(st.sampled_from([r for r, own in enumerate(numbers) if own == number]))
        for number in range(len(known))
    ]
    return log, Clusters(
        np.array(numbers, dtype=np.int32),
        np.array(suppressed, dtype=np.bool_),
        np.array(centroids, dtype=np.int32),
    )


@settings(max_examples=80)
@given(clustered(), st.sampled_from([0.3, 0.6, 0.9]), FINEST)
def test_as_printed_every_attribute_becomes_the_centroid_s_or_its_parent(
    drawn: tuple[Log, Clusters], threshold: float, finest: int
) -> None:
    (taxonomy, table), clusters = drawn
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    release = redact_as_printed(
        table, clusters, distances, taxonomy, threshold=threshold, finest=finest
    )
    slow = Printed(taxonomy, table, threshold)
    published = {record: row for row in rows_of(release) for record in row.records}
    for record in range(len(table)):
        row, words = published.get(record), typed_in_place(table, record)
        if clusters.suppressed[record]:
            assert row is None
        elif row is None:
            assert words == []
        else:
            own = sets_of(table, record)
            centroid = centroid_of(table, clusters, record)
            assert row.cluster == clusters.labels[record]
            # Each concept is said once.
            assert row.concepts == sorted(-1 - term for term in row.terms if term < 0)
            may = [slow.may_become(attribute, centroid) for attribute in own]
            assert all(any(concept in some for some in may) for concept in row.concepts)
            assert_in_place(row, words, may)


def sets_of(table: RecordTable, record: int) -> list[int]:
    own = int(table.set_of[record])
    return table.sets.row(own).tolist() if own >= 0 else []


def centroid_of(table: RecordTable, clusters: Clusters, record: int) -> list[int]:
    label = int(clusters.labels[record])
    return sets_of(table, int(clusters.centroids[label])) if label >= 0 else []


def typed_in_place(table: RecordTable, record: int) -> list[tuple[int, int]]:
    """Word, and attribute or -1, of all items that are said."""
    forms, form = table.forms, int(table.form_of[record])
    places = range(forms.item_offsets[form], forms.item_offsets[form + 1])
    said = [i for i in places if forms.item_kinds[i] in (WORD, ATTRIBUTE)]
    return [(int(forms.item_words[i]), int(forms.item_attributes[i])) for i in said]


def assert_in_place(row: Row, words: list[tuple[int, int]], may: list[set[int]]) -> None:
    """Plain words stay; where an attribute stood, one of its concepts is said, or was before."""
    left, said = list(row.terms), set[int]()
    for word, attribute in words:
        if attribute < 0:
            assert left.pop(0) == word
        elif left and left[0] < 0 and -1 - left[0] in may[attribute]:
            said.add(-1 - left.pop(0))
        else:
            assert said & may[attribute]
    assert not left


@settings(max_examples=80)
@given(clustered(), st.sampled_from([0.3, 0.6, 0.9]))
def test_as_many_attributes_as_can_become_the_centroid_s(
    drawn: tuple[Log, Clusters], threshold: float
) -> None:
    (taxonomy, table), clusters = drawn
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    slow = Printed(taxonomy, table, threshold)
    for record in np.flatnonzero(clusters.labels >= 0).tolist():
        own, centroid = sets_of(table, record), centroid_of(table, clusters, record)
        arrays: list[Ints] = [np.array(row, dtype=np.int32) for row in (own, centroid)]
        found = replacements(arrays[0], arrays[1], distances, taxonomy, threshold).tolist()
        parents = taxonomy.main_parents[own].tolist()
        unlike = [p if p >= 0 else a for a, p in zip(own, parents, strict=True)]
        changed = sum(new != old for new, old in zip(found, unlike, strict=True))
        assert changed <= slow.matched(own, centroid)
        assert sum(new in centroid for new in found) >= slow.matched(own, centroid)


def test_as_printed_by_hand() -> None:
    """a1's cluster stands for a2: similar, it becomes a2; b1, which is not, becomes b."""
    names = ["entity", "a", "b", "a1", "a2", "b1"]
    parents: list[list[int]] = [[], [0], [0], [1], [1], [2]]
    taxonomy = build_taxonomy(names, names, parents, root="entity", version="")
    table = table_of(taxonomy, [(0, [4], [], 0), (1, [3, 5], ["best"], 30 * HOUR)])
    centroid = table.set_of.tolist().index(
        next(s for s in range(len(table.sets)) if table.sets.row(s).tolist() == [4])
    )
    clusters = Clusters(
        np.zeros(2, dtype=np.int32),
        np.zeros(2, dtype=np.bool_),
        np.array([centroid], dtype=np.int32),
    )
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    release = redact_as_printed(
        table, clusters, distances, taxonomy, threshold=0.9, finest=TIME_HOUR
    )
    best = table.words.tolist().index("best")
    found = {tuple(row.terms): (row.concepts, row.time) for row in rows_of(release)}
    assert found == {(-5,): ([4], 0), (best, -5, -3): ([2, 4], 24 * HOUR)}
    assert set(release.precisions.tolist()) == {TIME_DAY}
    nobody = replace(clusters, suppressed=np.ones(2, dtype=np.bool_))
    withheld = redact_as_printed(
        table, nobody, distances, taxonomy, threshold=0.9, finest=TIME_HOUR
    )
    assert not withheld.published.any()
