"""People matched with different sets: the search's way and the verifier's, against trying all."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.diversity import NOTHING, is_diverse, sensitive_sets, uniform_groups
from tasks.core.taxonomy import build_taxonomy
from tasks.core.verification.evidence import matched_members
from tests.helpers.random_logs import table_of

HELD = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


def most_matched(held: list[tuple[int, int]]) -> int:
    """The oracle: the most people that can each be given a set that only they stand for."""
    people, kinds = sorted({p for p, _ in held}), sorted({s for _, s in held})
    for size in range(min(len(people), len(kinds)), 0, -1):
        for some in combinations(people, size):
            for given_sets in permutations(kinds, size):
                if all(pair in held for pair in zip(some, given_sets, strict=True)):
                    return size
    return 0


@settings(max_examples=150)
@given(HELD, st.integers(1, 5))
def test_both_ways_agree_with_trying_all(held: list[tuple[int, int]], least: int) -> None:
    found = most_matched(held)
    assert is_diverse(held, least) == (found >= least)
    users, sets = (np.array([pair[side] for pair in held], dtype=np.int32) for side in (0, 1))
    groups = np.zeros(len(held), dtype=np.int32)
    assert matched_members(groups, users, sets).tolist() == ([found] if held else [])
    apart = np.concatenate([groups, groups + 2, [-1]]).astype(np.int32)
    twice = (np.concatenate([own, own, [9]]).astype(np.int32) for own in (users, sets))
    assert matched_members(apart, *twice).tolist() == ([found, 0, found] if held else [])


def test_one_person_alone_supplies_no_diversity() -> None:
    one_person = [(1, 10), (1, 11), (2, 10), (3, 10)]
    assert not is_diverse(one_person[1:], 3)
    assert is_diverse(one_person, 2)
    assert not is_diverse([(1, 10), (1, 11), (1, 12)], 2)
    assert is_diverse([*one_person, (4, NOTHING)], 3), "then nothing sensitive is named"


def test_groups_are_judged_one_by_one() -> None:
    groups = np.array([2, 0, 0, 2, -1], dtype=np.int32)
    users = np.array([1, 1, 2, 2, 3], dtype=np.int32)
    sets = np.array([5, 5, 6, 5, 7], dtype=np.int32)
    assert uniform_groups(groups, users, sets, least=2).tolist() == [False, False, True]


def test_a_sensitive_set_holds_what_lies_on_a_topics_branch() -> None:
    names = [f"c{n}" for n in range(4)]
    flat = build_taxonomy(names, names, [[] for _ in names], root="none", version="")
    table = table_of(
        flat, [(0, [1, 3], [], 0), (1, [2, 3], [], 0), (2, [1], [], 0), (3, [3], [], 0)]
    )
    sets = sensitive_sets(table, np.array([False, True, True, False]))
    by_user = dict(zip(table.users.tolist(), sets[table.form_of].tolist(), strict=True))
    assert by_user[0] == by_user[2] != by_user[1]
    assert by_user[3] == NOTHING
