"""Columns, and the rows of groups: the same however many rows are looked at together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core import columns
from tasks.core.columns import column, columns_in, computed, counts_of, joined, places_of, row_parts
from tasks.core.members import members_of, parted
from tasks.core.records import Ints

LABELS = st.lists(st.integers(-1, 5), max_size=40)


@pytest.fixture(autouse=True)
def _few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "ROWS_AT_A_TIME", 7)


def labels_of(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int32)


def test_rows_come_in_parts_each_once() -> None:
    assert [(own.start, own.stop) for own in row_parts(16)] == [(0, 7), (7, 14), (14, 16)]


@given(LABELS)
def test_members_are_those_of_a_stable_sort(values: list[int]) -> None:
    labels = labels_of(values)
    found = members_of(labels, 6)
    order = np.argsort(labels, kind="stable")
    assert found.rows.tolist() == order[labels[order] >= 0].tolist()
    assert found.sizes.tolist() == [values.count(group) for group in range(6)]


@given(LABELS)
def test_parts_of_members_hold_every_row_with_its_group(values: list[int]) -> None:
    found = [
        (int(row), groups.start + int(own))
        for groups, rows, owners in members_of(labels_of(values), 6).parts()
        for row, own in zip(rows, owners, strict=True)
    ]
    assert sorted(found) == [(row, label) for row, label in enumerate(values) if label >= 0]


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 3)), max_size=40))
def test_people_are_counted_once_in_each_group(held: list[tuple[int, int]]) -> None:
    members = members_of(labels_of([label for label, _ in held]), 6)
    people = members.people(labels_of([user for _, user in held]))
    expected = [len({user for label, user in held if label == group}) for group in range(6)]
    assert people.tolist() == expected


@given(LABELS)
def test_counts_and_places(values: list[int]) -> None:
    labels = labels_of(values)
    assert counts_of(labels, 6).tolist() == [values.count(group) for group in range(6)]
    weighted = counts_of(labels, 6, np.arange(len(labels)))
    assert weighted.sum() == sum(place for place, label in enumerate(values) if label >= 0)
    assert places_of(labels > 2).tolist() == [p for p, label in enumerate(values) if label > 2]


def test_columns_are_made_of_parts() -> None:
    source = np.arange(16)
    assert computed(16, np.int64, lambda rows: source[rows] * 2).tolist() == (source * 2).tolist()
    assert joined(16, np.int32, (source[own] for own in row_parts(16))).tolist() == source.tolist()


def test_a_room_makes_the_columns_while_it_is_there() -> None:
    class Ones:
        def column(self, shape, kind):  # type: ignore[no-untyped-def]
            return np.ones(shape, dtype=kind)

        def rest(self) -> None: ...

    with columns_in(Ones()):
        assert column((2, 3), np.int32).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert column(3, np.int32).shape == (3,)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=40))
def test_rows_of_one_value_come_in_one_part(values: list[int]) -> None:
    column = np.array(values, dtype=np.int64)
    seen: set[int] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.core.members.ROWS_PER_GROUP", 4)
        parts = [rows.tolist() for rows in parted(column)]
    assert sorted(row for rows in parts for row in rows) == list(range(len(values)))
    for rows in parts:
        own = {values[row] for row in rows}
        assert seen.isdisjoint(own)
        seen |= own
        for value in own:
            places = [row for row in rows if values[row] == value]
            assert places == sorted(places)


@given(LABELS)
def test_the_rows_of_each_group_come_one_after_the_other(values: list[int]) -> None:
    found = [rows.tolist() for rows in members_of(labels_of(values), 6).each()]
    assert found == [[row for row, own in enumerate(values) if own == n] for n in range(6)]
