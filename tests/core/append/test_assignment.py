"""Append mode: who joins, who is in a new cluster, who waits; against rules and a slow oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.append.assignment import Assignment, assign, clusters_in_use
from tasks.core.append.fits import find_fits
from tasks.core.append.redaction import KAnonymous, redact_pool
from tasks.core.arrays import split_ragged
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.measures.risk import PublishedRecords, intersection_risk
from tasks.core.records import Clusters, Ints, RecordTable, Release
from tasks.core.taxonomy import Taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.helpers.strategies import Row, mini_taxonomy
from tests.oracles.append import graded_cost, slow_assign


class Case(NamedTuple):
    """A pool with its clusters, and what the edition has published before."""

    taxonomy: Taxonomy
    table: RecordTable
    clusters: Clusters
    rows: list[Ints]
    published: list[Ints]
    inclusive: bool
    k: int
    l: int  # noqa: E741

    def assigned(self) -> Assignment:
        return assign(
            self.table,
            self.clusters,
            self.rows,
            self.published,
            self.taxonomy,
            inclusive=self.inclusive,
            k=self.k,
            l=self.l,
        )

    def cost(self, record: int, row: Ints) -> float:
        own = self.table.sets.row(int(self.table.set_of[record])).tolist()
        return graded_cost(self.taxonomy, own, row.tolist(), inclusive=self.inclusive)


def case_of(
    taxonomy: Taxonomy,
    table: RecordTable,
    labels: Sequence[int],
    published: Sequence[Sequence[int]],
    *,
    k: int,
    l: int = 1,  # noqa: E741
    inclusive: bool = False,
) -> Case:
    """Clusters by any labels of the records; those without attributes are in none."""
    held = np.where(table.set_of >= 0, np.array(labels, dtype=np.int32), -1)
    numbers, dense = np.unique(np.append(held, -1), return_inverse=True)
    labels_of: Ints = (dense - 1)[:-1].astype(np.int32)
    clusters = Clusters(
        labels=labels_of,
        suppressed=(table.set_of >= 0) & (labels_of < 0),
        centroids=np.full(len(numbers) - 1, -1, dtype=np.int32),
    )
    rows: list[Ints] = []
    if clusters.count:
        rows = generalise(members_of(table, labels_of), taxonomy, inclusive=inclusive)
    old = [np.array(sorted(row), dtype=np.int32) for row in published]
    return Case(taxonomy, table, clusters, rows, old, inclusive, k, l)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    taxonomy, table = draw(tables(users=draw(st.sampled_from([4, 12])), most=30))
    concept = st.integers(0, len(taxonomy) - 1)
    published = draw(st.lists(st.sets(concept, min_size=1, max_size=3), max_size=8))
    spread = draw(st.integers(0, 3))
    # Mostly the records of a set go together, as methods have it; sometimes they do not.
    together = draw(st.integers(0, 3)) > 0
    keys = table.set_of.tolist() if together else range(len(table))
    label = {key: draw(st.integers(-1, spread)) for key in sorted(set(keys))}
    return case_of(
        taxonomy,
        table,
        [label[key] for key in keys],
        [sorted(row) for row in published],
        k=draw(st.integers(2, 4)),
        l=draw(st.sampled_from([1, 1, 2])),
        inclusive=draw(st.booleans()),
    )


def members(labels: Ints) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for record, label in enumerate(labels.tolist()):
        if label >= 0:
            groups[label].append(record)
    return groups


@settings(max_examples=300)
@given(cases())
def test_every_cluster_of_a_release_holds_by_itself(case: Case) -> None:
    assigned = case.assigned()
    for label, records in members(assigned.labels).items():
        assert len(set(case.table.users[records].tolist())) >= case.k
        assert len(set(case.table.set_of[records].tolist())) >= case.l
        assert len(assigned.rows[label])
        for record in records:
            own = case.table.sets.sizes[case.table.set_of[record]]
            assert case.cost(record, assigned.rows[label]) < own


@settings(max_examples=300)
@given(cases())
def test_nobody_is_lost_and_nothing_published_changes(case: Case) -> None:
    assigned = case.assigned()
    holding = case.table.set_of >= 0
    assert ((assigned.labels >= 0) ^ assigned.waiting)[holding].all()
    assert not (assigned.waiting | (assigned.labels >= 0))[~holding].any()
    old = [row.tolist() for row in case.published]
    assert [row.tolist() for row in assigned.rows[: assigned.known]] == old
    assert assigned.known == len(old)
    assert not any(row.tolist() in old for row in assigned.new_rows)


@settings(max_examples=300)
@given(cases())
def test_new_clusters_publish_what_suits_those_who_are_left(case: Case) -> None:
    assigned = case.assigned()
    fresh = [int(label) for label in assigned.labels if label >= assigned.known]
    count = len(assigned.new_rows)
    assert sorted(set(fresh)) == list(range(assigned.known, assigned.known + count))
    by_set = case.table.set_of[assigned.labels >= assigned.known]
    first = [int(by_set[fresh.index(assigned.known + number)]) for number in range(count)]
    assert first == sorted(first)
    if count:
        labels = np.where(assigned.labels >= 0, assigned.labels - assigned.known, -1)
        labels = np.maximum(labels, -1).astype(np.int32)
        found = generalise(members_of(case.table, labels), case.taxonomy, inclusive=case.inclusive)
        assert [row.tolist() for row in found] == [row.tolist() for row in assigned.new_rows]


@settings(max_examples=500)
@given(cases())
def test_settling_equals_the_oracle(case: Case) -> None:
    assigned = case.assigned()
    labels, rows = slow_assign(
        case.table,
        case.clusters,
        case.rows,
        case.published,
        case.taxonomy,
        inclusive=case.inclusive,
        k=case.k,
        l=case.l,
    )
    assert assigned.labels.tolist() == labels
    assert [row.tolist() for row in assigned.new_rows] == rows


@settings(max_examples=300)
@given(cases(), st.integers(1, 3))
def test_fits_equal_the_oracle(case: Case, size: int) -> None:
    found = find_fits(
        case.table.sets,
        case.published,
        case.taxonomy,
        inclusive=case.inclusive,
        table_sizes=(size, size),
    )
    old = [row.tolist() for row in case.published]
    for own in range(len(case.table.sets)):
        row = case.table.sets.row(own).tolist()
        expected = sorted(
            (cost, number)
            for number, other in enumerate(old)
            if old.index(other) == number
            and (cost := graded_cost(case.taxonomy, row, other, inclusive=case.inclusive))
            < len(row)
        )
        part = slice(found.offsets[own], found.offsets[own + 1])
        assert found.targets[part].tolist() == [number for _, number in expected]
        assert found.costs[part].tolist() == pytest.approx([cost for cost, _ in expected])


def test_only_the_nearest_fits_are_kept() -> None:
    taxonomy, table = pool([(0, [5]), (1, [8])])
    old = [np.array([concept], dtype=np.int32) for concept in (6, 5, 7, 3)]
    # Itself, then the node above, then its neighbours below that node in their order.
    every = find_fits(table.sets, old, taxonomy, inclusive=True)
    assert every.targets[: every.offsets[1]].tolist() == [1, 3, 0, 2]
    nearest = find_fits(table.sets, old, taxonomy, inclusive=True, most_fits=2)
    assert nearest.targets[: nearest.offsets[1]].tolist() == [1, 3]


def pool(held: Sequence[tuple[int, list[int]]]) -> tuple[Taxonomy, RecordTable]:
    """Users and their sets over the small taxonomy of the strategies."""
    taxonomy = mini_taxonomy()
    rows: list[Row] = [(user, concepts, ["cheap"], 0) for user, concepts in held]
    return taxonomy, table_of(taxonomy, rows, inclusive=True)


def example(
    held: Sequence[tuple[int, list[int]]],
    labels: Sequence[int],
    published: Sequence[Sequence[int]],
    *,
    k: int = 2,
    l: int = 1,  # noqa: E741
) -> list[int]:
    taxonomy, table = pool(held)
    case = case_of(taxonomy, table, labels, published, k=k, l=l, inclusive=True)
    assigned: list[int] = case.assigned().labels.tolist()
    return assigned


def test_a_published_cluster_that_fits_as_well_is_joined() -> None:
    held = [(0, [5]), (1, [5]), (2, [8]), (3, [8])]
    assert example(held, [0, 0, 1, 1], [[5]]) == [0, 0, 1, 1], "the same set is simply a join"
    assert example(held, [0, 0, 1, 1], [[6]]) == [1, 1, 2, 2], "a cousin is not as good"
    assert example(held, [0, 0, 1, 1], [[8], [5]]) == [1, 1, 0, 0]


def test_nobody_joins_alone() -> None:
    held = [(0, [5]), (1, [8]), (2, [8])]
    assert example(held, [-1, 0, 0], [[5]]) == [-1, 1, 1]
    assert example([(0, [5]), (0, [5])], [-1, -1], [[5]]) == [-1, -1], "one person twice is one"
    assert example([(0, [5]), (1, [5])], [-1, -1], [[5]]) == [0, 0]
    assert example([(0, [5]), (1, [5])], [-1, -1], [[5]], l=2) == [-1, -1]
    assert example([(0, [5]), (1, [6])], [-1, -1], [[5]], l=2) == [0, 0]


def test_who_would_join_alone_takes_the_next_best_together() -> None:
    held = [(0, [5]), (1, [6])]
    assert example(held, [-1, -1], [[5], [6], [3]]) == [0, 0]
    assert example([*held, (2, [7])], [-1] * 3, [[5], [6], [7], [3]], k=3) == [3, 3, 3]


def test_a_join_that_would_strand_others_is_cancelled() -> None:
    held = [(0, [5]), (0, [5]), (0, [5]), (1, [6]), (2, [6])]
    assert example(held, [0] * 5, [[6]]) == [1] * 5, "user 0 would be left alone"
    held[0] = (3, [5])
    assert example(held, [0] * 5, [[6]]) == [1, 1, 1, 0, 0], "user 0 and user 3 are enough"
    assert example(held, [0] * 5, [[6], [5]]) == [1, 1, 1, 0, 0], "nobody is left behind"


def test_what_is_left_of_a_cluster_is_published_anew() -> None:
    held = [(0, [5]), (1, [5]), (2, [6]), (3, [6]), (3, [6]), (3, [6])]
    taxonomy, table = pool(held)
    case = case_of(taxonomy, table, [0] * 6, [[6, 8], [5]], k=2, inclusive=True)
    assert [row.tolist() for row in case.rows] == [[6]]
    assert case.assigned().labels.tolist() == [1, 1, 2, 2, 2, 2]
    loose = case._replace(rows=[np.array([3], dtype=np.int32)])
    assert [row.tolist() for row in loose.assigned().new_rows] == [[6]]


def test_a_cluster_that_says_nothing_waits() -> None:
    held = [(0, [1]), (1, [2]), (2, [3]), (3, [4])]
    taxonomy, table = pool(held)
    case = case_of(taxonomy, table, [0, 0, 0, 0], [], k=4, inclusive=True)
    silent = case._replace(rows=[np.zeros(0, dtype=np.int32)])
    assigned = silent.assigned()
    assert assigned.waiting.all()
    assert assigned.new_rows == ()


@given(cases(), st.randoms(use_true_random=False))
def test_the_numbers_of_clusters_and_users_do_not_matter(case: Case, dice: object) -> None:
    order = list(range(case.clusters.count))
    dice.shuffle(order)  # type: ignore[attr-defined]
    number = np.array([*order, -1], dtype=np.int32)
    renamed = case._replace(
        clusters=Clusters(
            number[case.clusters.labels], case.clusters.suppressed.copy(), case.clusters.centroids
        ),
        rows=[case.rows[order.index(label)] for label in range(len(order))],
    )
    assigned, again = case.assigned(), renamed.assigned()
    if len(np.unique(case.table.set_of[case.clusters.labels >= 0])) == len(
        {(s, n) for s, n in zip(case.table.set_of, case.clusters.labels, strict=True) if n >= 0}
    ):
        assert assigned.labels.tolist() == again.labels.tolist()
    assert assigned.waiting.tolist() == again.waiting.tolist()


def redacted(case: Case, guarantee: KAnonymous) -> tuple[Assignment, Release]:
    assigned = case.assigned()
    release = redact_pool(
        case.table,
        assigned,
        case.taxonomy,
        inclusive=case.inclusive,
        guarantee=guarantee,
        k=case.k,
    )
    return assigned, release


@settings(max_examples=200)
@given(cases(), st.sampled_from(["strict", "terms"]))
def test_a_release_publishes_the_settled_and_nobody_who_waits(
    case: Case, guarantee: KAnonymous
) -> None:
    assigned, release = redacted(case, guarantee)
    assert release.published[assigned.labels >= 0].all()
    assert not release.published[assigned.waiting].any()
    concepts = split_ragged(release.concept_offsets, release.concepts)
    for place, records in members(release.class_of).items():
        label = int(release.clusters[place])
        assert (assigned.labels[records] == label).all()
        assert concepts[place].tolist() == (assigned.rows[label].tolist() if label >= 0 else [])
        if guarantee == "strict":
            assert len(set(case.table.users[records].tolist())) >= case.k
    clusters, numbers = clusters_in_use(assigned)
    assert np.append(numbers, -1)[clusters.labels].tolist() == assigned.labels.tolist()
    assert clusters.suppressed.tolist() == assigned.waiting.tolist()


RECORDS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3), st.integers(0, 5)))


@given(RECORDS, st.integers(1, 4), st.integers(1, 8), st.randoms(use_true_random=False))
def test_intersection_risk_equals_counting(
    records: list[tuple[int, int, int]], k: int, most: int, dice: object
) -> None:
    """A record is in either release, or in both; class -1 is not published."""
    ids = np.arange(len(records)) * 3
    first = {i: row for i, row in zip(ids.tolist(), records, strict=True) if i % 5}
    second = {i: row for i, row in zip(ids.tolist(), records, strict=True) if i % 7}
    shuffled = list(second)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one = {i: {u for a, _, u in first.values() if a == first[i][0]} for i in first}
    other = {i: {u for _, b, u in second.values() if b == second[i][1]} for i in second}
    left = [
        len(one[i] & other[i])
        for i in first
        if i in second and first[i][0] >= 0 and second[i][1] >= 0
    ]
    found = intersection_risk(
        published_records(first, list(first), 0),
        published_records(second, shuffled, 1),
        k=k,
        most_people=most,
    )
    assert found.records == len(left)
    assert found.least == min(left, default=0)
    assert found.mean == pytest.approx(float(np.mean(left)) if left else 0.0)
    assert found.below_k == pytest.approx(float(np.mean(np.array(left) < k)) if left else 0.0)


def published_records(
    records: dict[int, tuple[int, int, int]], ids: list[int], column: int
) -> PublishedRecords:
    return PublishedRecords(
        ids=np.array(ids, dtype=np.int64),
        classes=np.array([records[i][column] for i in ids], dtype=np.int32),
        users=np.array([records[i][2] for i in ids], dtype=np.int32),
    )
