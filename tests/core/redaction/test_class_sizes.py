"""How many rows of each person are kept, against trying all ways."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.redaction.class_sizes import kept_rows, surplus_rows

COUNTS = st.lists(st.integers(1, 6), min_size=2, max_size=4)


def best_total(counts: list[int], most: float, multiple: int) -> int:
    """The oracle: as many rows as any way of keeping some of everybody's allows."""
    ways = product(*(range(count + 1) for count in counts))
    return max(
        sum(way) for way in ways if sum(way) % multiple == 0 and max(way) <= most * sum(way) + 1e-9
    )


@settings(max_examples=150)
@given(COUNTS, st.sampled_from([0.5, 0.6, 0.75, 1.0]), st.integers(1, 2))
def test_as_many_rows_are_kept_as_any_way_allows(
    counts: list[int], most: float, multiple: int
) -> None:
    kept = kept_rows(np.array(counts), most=most, multiple=multiple)
    assert (kept <= counts).all()
    assert kept.sum() == best_total(counts, most, multiple)
    assert kept.sum() % multiple == 0
    assert kept.max() <= most * kept.sum()
    assert multiple > 1 or (kept > 0).all()


@given(st.lists(st.integers(1, 60), min_size=5, max_size=12), st.sampled_from([0.2, 0.34, 0.5]))
def test_a_rounded_class_keeps_k_people(counts: list[int], most: float) -> None:
    kept = kept_rows(np.array(counts), most=most, multiple=5)
    assert np.count_nonzero(kept) >= 5
    assert kept.sum() % 5 == 0
    assert kept.max() <= most * kept.sum() + 1e-9


def test_three_thousand_of_three_thousand_and_four_become_four_of_eight() -> None:
    assert kept_rows(np.array([3000, 1, 1, 1, 1]), most=0.5).tolist() == [4, 1, 1, 1, 1]
    assert kept_rows(np.array([3000, 1, 1, 1, 1]), most=1.0).tolist() == [3000, 1, 1, 1, 1]


def test_the_first_records_of_a_person_are_kept_in_every_group() -> None:
    groups = np.array([0, 0, 0, 0, -1, 1, 1, 0, 0, 0], dtype=np.int32)
    users = np.array([7, 7, 7, 7, 7, 7, 8, 8, 9, 7], dtype=np.int32)
    surplus = surplus_rows(groups, users, most=0.5, multiple=1)
    assert np.flatnonzero(surplus).tolist() == [2, 3, 9]


@pytest.mark.parametrize("count", [0, 3])
def test_nothing_is_too_much_of_nothing(count: int) -> None:
    groups = np.full(count, -1, dtype=np.int32)
    assert not surplus_rows(groups, groups, most=0.5, multiple=1).any()
