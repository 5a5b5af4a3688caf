"""Redaction on random logs: what strict and terms promise, counted the slow way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import split_ragged
from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.mdav import mdav_labels, vmdav_labels
from tasks.core.clustering.problem import Problem, clusters_of, problem_of
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.measures.risk import linkage_risk
from tasks.core.records import (
    NO_TIME,
    PRECISIONS,
    TIME_DAY,
    WORD,
    Clusters,
    Ints,
    RecordTable,
    Release,
    cut_times,
)
from tasks.core.redaction.by_record import redact_by_terms
from tasks.core.redaction.published import dissolve_bare, place_attributes
from tasks.core.redaction.scrubbing import scrub
from tasks.core.redaction.sharing import share_times
from tasks.core.redaction.strict import redact_strictly
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import HOUR, WORDS, table_of, tables, taxonomies
from tests.oracles.redaction import SlowRedaction, rows_of, timed_classes

METHODS = st.sampled_from([adaptive_labels, mdav_labels, vmdav_labels])
PEOPLE = st.integers(2, 20)
TIMES = st.one_of(
    st.sampled_from([NO_TIME, 0, -1]),
    st.builds(
        lambda month, day, hour: (month * 31 + day) * 24 * HOUR + hour * HOUR + 59,
        st.integers(0, 1),
        st.integers(0, 2),
        st.integers(0, 2),
    ),
)


@st.composite
def nasty_logs(draw: st.DrawFn) -> tuple[Taxonomy, RecordTable]:
    """Few users with many rows, many with one, all the same, all different."""
    shape = draw(st.sampled_from(["random", "few", "many", "same", "different"]))
    if shape == "random":
        return draw(tables(users=30, most=60))
    taxonomy = draw(taxonomies())
    last = len(taxonomy) - 1
    count = draw(st.integers(1, 60))
    rows = []
    for row in range(count):
        user = row % 3 if shape == "few" else row
        concepts = [1] if shape == "same" else [row % (last + 1), (row * 7 + 1) % (last + 1)]
        words = ["cheap"] if shape == "same" else [WORDS[row % len(WORDS)]]
        rows.append((user, list(dict.fromkeys(concepts)), words, row * HOUR * 9))
    return taxonomy, table_of(taxonomy, rows)


def redacted(
    taxonomy: Taxonomy,
    table: RecordTable,
    method: Callable[[Problem], Ints],
    k: int,
    redaction: Callable[..., Release],
) -> tuple[Clusters, Release]:
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    problem = problem_of(table, distances, taxonomy, k=k, l=1)
    clusters = clusters_of(table, method(problem), problem)
    sets = generalise(members_of(table, clusters.labels), taxonomy)
    speaking, rows = dissolve_bare(clusters, sets)
    published = place_attributes(table, speaking, rows, taxonomy, inclusive=False)
    return speaking, redaction(table, speaking, published, k=k)


def members(labels: Ints) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for record, label in enumerate(labels.tolist()):
        if label >= 0:
            groups[label].append(record)
    return groups


def words_said(table: RecordTable, record: int) -> set[int]:
    form = int(table.form_of[record])
    items = range(table.forms.item_offsets[form], table.forms.item_offsets[form + 1])
    return {int(table.forms.item_words[i]) for i in items if table.forms.item_kinds[i] == WORD}


@settings(max_examples=150)
@given(nasty_logs(), METHODS, PEOPLE)
def test_strict_rows_are_shared_by_k_people(
    log: tuple[Taxonomy, RecordTable], method: Callable[[Problem], Ints], k: int
) -> None:
    taxonomy, table = log
    clusters, release = redacted(taxonomy, table, method, k, redact_strictly)
    for place, records in members(release.class_of).items():
        assert len({int(table.users[r]) for r in records}) >= k
        terms = split_ragged(release.term_offsets, release.terms)[place].tolist()
        concepts = split_ragged(release.concept_offsets, release.concepts)[place].tolist()
        assert terms
        assert sorted(-1 - term for term in terms if term < 0) == concepts
        for record in records:
            assert {term for term in terms if term >= 0} <= words_said(table, record)
            assert clusters.labels[record] == release.clusters[place]
            if release.times[place] != np.iinfo(np.int64).min:
                cut = cut_times(table.times[[record]], int(release.precisions[place]))
                assert cut[0] == release.times[place]
    for records in members(clusters.labels).values():
        assert len({int(table.users[r]) for r in records}) >= k
        published = {release.class_of[r] for r in records}
        assert -1 not in published, "a cluster that says something publishes all its records"
    assert linkage_risk(table, release)["released_worst"] <= 1 / k


@given(nasty_logs(), METHODS, st.integers(2, 6))
def test_terms_words_are_used_by_k_people(
    log: tuple[Taxonomy, RecordTable], method: Callable[[Problem], Ints], k: int
) -> None:
    taxonomy, table = log
    clusters, release = redacted(taxonomy, table, method, k, redact_by_terms)
    users: dict[int, set[int]] = defaultdict(set)
    for place, records in members(release.class_of).items():
        terms = split_ragged(release.term_offsets, release.terms)[place].tolist()
        for term in terms:
            users[term].update(table.users[records].tolist())
        label = int(release.clusters[place])
        if label >= 0:
            own = split_ragged(release.concept_offsets, release.concepts)[place].tolist()
            others = np.flatnonzero(release.clusters == label).tolist()
            rows = split_ragged(release.concept_offsets, release.concepts)
            assert all(rows[other].tolist() == own for other in others)
    assert all(len(people) >= k for people in users.values())
    for records in members(clusters.labels).values():
        assert len({int(table.users[r]) for r in records}) >= k


@given(nasty_logs(), METHODS, st.integers(2, 6))
def test_terms_keeps_at_least_the_words_of_strict(
    log: tuple[Taxonomy, RecordTable], method: Callable[[Problem], Ints], k: int
) -> None:
    taxonomy, table = log
    counts = []
    for redaction in (redact_strictly, redact_by_terms):
        _, release = redacted(taxonomy, table, method, k, redaction)
        lengths = np.diff(release.term_offsets)
        counts.append(lengths[release.class_of[release.published]].sum())
    assert counts[0] <= counts[1]


@st.composite
def any_clusters(draw: st.DrawFn) -> tuple[Taxonomy, RecordTable, Clusters, list[Ints]]:
    """A log in arbitrary clusters that publish arbitrary concepts."""
    taxonomy, table = draw(nasty_logs())
    concepts = st.sets(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=3)
    sets = draw(st.lists(concepts, min_size=1, max_size=3))
    label = st.integers(-1, len(sets) - 1)
    labels = [draw(label) if own >= 0 else -1 for own in table.set_of.tolist()]
    clusters = Clusters(
        labels=np.array(labels, dtype=np.int32),
        suppressed=np.array([c < 0 and draw(st.booleans()) for c in labels], dtype=np.bool_),
        centroids=np.zeros(len(sets), dtype=np.int32),
    )
    return taxonomy, table, clusters, [np.array(sorted(row), dtype=np.int32) for row in sets]


@settings(max_examples=200)
@given(any_clusters(), st.integers(1, 6))
def test_all_rows_at_once_are_the_rows_one_by_one(
    case: tuple[Taxonomy, RecordTable, Clusters, list[Ints]], k: int
) -> None:
    taxonomy, table, clusters, sets = case
    published = place_attributes(table, clusters, sets, taxonomy, inclusive=False)
    slow = SlowRedaction(table, clusters, sets, taxonomy)
    assert rows_of(redact_strictly(table, clusters, published, k=k)) == slow.strict(k)
    assert rows_of(redact_by_terms(table, clusters, published, k=k)) == slow.by_terms(k)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 6), TIMES), max_size=40),
    st.integers(1, 4),
)
def test_times_of_all_classes_are_cut_as_those_of_each(
    records: list[tuple[int, int, int]], k: int
) -> None:
    people = {label: {u for c, u, _ in records if c == label} for label, _, _ in records}
    labels = [label if len(people[label]) >= k else -1 for label, _, _ in records]
    users, times = [user for _, user, _ in records], [time for _, _, time in records]
    rows = share_times(
        np.array(labels, dtype=np.int64),
        np.array(users, dtype=np.int32),
        np.array(times, dtype=np.int64),
        k=k,
    )
    found = [
        (label, time, precision, np.flatnonzero(rows.row_of == row).tolist())
        for row, (label, time, precision) in enumerate(
            zip(rows.classes.tolist(), rows.times.tolist(), rows.precisions.tolist(), strict=True)
        )
    ]
    assert found == [
        (label, *timed)
        for label in sorted(set(labels) - {-1})
        for timed in timed_classes([r for r, c in enumerate(labels) if c == label], users, times, k)
    ]


def one_concept() -> Taxonomy:
    names = ["entity", "a"]
    return build_taxonomy(names, names, [[], [0]], root="entity", version="")


def test_a_row_reads_in_the_order_of_its_queries() -> None:
    """Attributes are replaced in place: first what the queries say first."""
    names = ["entity", "a", "b"]
    taxonomy = build_taxonomy(names, names, [[], [0], [0]], root="entity", version="")
    rows = [(user, [2, 1], ["best"], 0) for user in range(3)]
    table = table_of(taxonomy, rows)
    _, release = redacted(taxonomy, table, mdav_labels, 3, redact_strictly)
    best = table.words.tolist().index("best")
    assert release.terms.tolist() == [best, -1 - 2, -1 - 1]


def test_every_record_has_a_say_in_the_order() -> None:
    taxonomy = one_concept()
    most = [(user, [1], ["cheap", "best"], 0) for user in range(3)]
    table = table_of(taxonomy, [*most, (3, [1], ["best", "cheap"], 0)])
    _, release = redacted(taxonomy, table, mdav_labels, 3, redact_strictly)
    cheap, best = map(table.words.tolist().index, ("cheap", "best"))
    assert release.terms.tolist() == [cheap, best, -1 - 1]


def test_nobody_in_a_cluster_is_left_behind_for_their_words() -> None:
    taxonomy = one_concept()
    sharing = [(user, [1], ["cheap"], 0) for user in range(3)]
    alone = [(3, [1], ["near"], 0)]
    table = table_of(taxonomy, sharing + alone)
    _, release = redacted(taxonomy, table, mdav_labels, 3, redact_strictly)
    assert release.published.all()
    assert release.terms.tolist() == [-1 - 1]


@pytest.mark.parametrize("redaction", [redact_strictly, redact_by_terms])
@pytest.mark.parametrize("finest", PRECISIONS.values())
def test_no_time_is_finer_than_the_finest_allowed(
    finest: int, redaction: Callable[..., Release]
) -> None:
    """All typed it within one hour, so that nothing else cuts the time."""
    taxonomy = one_concept()
    table = table_of(taxonomy, [(user, [1], [], 500 * HOUR + user) for user in range(3)])
    _, release = redacted(taxonomy, table, mdav_labels, 3, partial(redaction, finest=finest))
    precision = finest if redaction is redact_strictly else min(finest, TIME_DAY)
    assert set(release.precisions.tolist()) == {precision}
    assert set(release.times.tolist()) == {cut_times(table.times[:1], precision).item()}


def test_times_are_cut_no_further_than_needed() -> None:
    taxonomy = one_concept()
    none: list[str] = []
    same_hour = [(user, [1], none, 5 * HOUR + user) for user in range(3)]
    same_day = [(user, [1], none, (24 + user) * HOUR) for user in range(3)]
    table = table_of(taxonomy, same_hour + same_day)
    _, release = redacted(taxonomy, table, mdav_labels, 3, redact_strictly)
    assert sorted(zip(release.precisions.tolist(), release.times.tolist(), strict=True)) == [
        (2, 24 * HOUR),
        (3, 5 * HOUR),
    ]


class Found:
    """A span found by a finder that knows one bad pair of words."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def find_cheap_best(text: str) -> list[Found]:
    place = text.find("cheap best")
    return [Found(place, place + len("cheap best"))] if place >= 0 else []


def test_scrubbing_drops_words_that_name_somebody_and_empty_rows() -> None:
    release = Release(
        class_of=np.array([0, 1, 2, -1], dtype=np.int32),
        term_offsets=np.array([0, 3, 5, 8]),
        terms=np.array([0, 1, 2, 0, 1, 0, -6, 1], dtype=np.int32),
        concept_offsets=np.array([0, 0, 0, 1]),
        concepts=np.array([5], dtype=np.int32),
        times=np.zeros(3, dtype=np.int64),
        precisions=np.zeros(3, dtype=np.int32),
        clusters=np.array([-1, -1, 4], dtype=np.int32),
        reasons=np.array([0, 0, 0, 1], dtype=np.int32),
    )
    words = np.array(["cheap", "best", "near"], dtype=object)
    scrubbed = scrub(release, words, find_cheap_best)
    assert scrubbed.class_of.tolist() == [0, -1, 1, -1]
    assert [row.tolist() for row in split_ragged(scrubbed.term_offsets, scrubbed.terms)] == [
        [2],
        [0, -6, 1],
    ]
    assert scrubbed.clusters.tolist() == [-1, 4]
    assert scrubbed.concepts.tolist() == [5]
