"""Helpers for compressed rows against lists and sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.arrays import (
    distinct,
    equal_sets,
    group_by,
    owners,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
)

VALUES = st.sampled_from([-(2**31), -2, -1, 0, 1, 2, 2**31 - 1])
ROWS = st.lists(st.lists(VALUES, max_size=4), max_size=8)


@given(st.lists(st.tuples(VALUES, st.sampled_from([np.iinfo(np.int64).min, 0, 5]), VALUES)))
def test_groups_are_the_distinct_combinations_in_their_order(keys: list[tuple[int, ...]]) -> None:
    columns = np.array(keys, dtype=np.int64).reshape(-1, 3).T
    first, group_of = group_by(*columns)
    distinct = sorted(set(keys))
    assert [keys[place] for place in first.tolist()] == distinct
    assert first.tolist() == [keys.index(key) for key in distinct]
    assert [distinct[group] for group in group_of.tolist()] == keys


@given(ROWS)
def test_rows_come_back_from_their_keys(rows: list[list[int]]) -> None:
    offsets, values = ragged_of(rows)
    keys = ragged_keys(owners(offsets), values)
    found_offsets, found_values = ragged_from_keys(keys, len(rows))
    assert found_offsets.tolist() == offsets.tolist()
    assert found_values.tolist() == values.tolist()
    pairs = [(row, value) for row, held in enumerate(rows) for value in held]
    assert np.argsort(keys, kind="stable").tolist() == sorted(
        range(len(pairs)), key=pairs.__getitem__
    )


@given(ROWS, st.data())
def test_equal_sets_are_those_of_equal_values(rows: list[list[int]], data: st.DataObject) -> None:
    others = [
        data.draw(st.one_of(st.permutations(row + row[:1]), st.lists(VALUES, max_size=4)))
        for row in rows
    ]
    found = equal_sets(ragged_of(rows), ragged_of(others))
    assert found.tolist() == [set(a) == set(b) for a, b in zip(rows, others, strict=True)]


@given(st.lists(st.integers(-3, 3)))
def test_distinct_values_ascend(values: list[int]) -> None:
    assert distinct(np.array(values, dtype=np.int64)).tolist() == sorted(set(values))
