"""Words shared by k people: every class holds them, and more survive than by a naive rule."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tasks.core.redaction.sharing import SharedClass, Unit, absorb, people, share_words

FILLER = 0
unit_rows = st.lists(
    st.tuples(st.integers(0, 6), st.lists(st.integers(0, 5), max_size=4, unique=True)),
    max_size=30,
)


def units_of(rows: list[tuple[int, list[int]]]) -> list[Unit]:
    return [Unit(key, user, tuple(words)) for key, (user, words) in enumerate(rows)]


def share(units: list[Unit], k: int) -> tuple[list[SharedClass], list[Unit]]:
    return share_words(units, k=k, is_filler=lambda word: word == FILLER)


@given(unit_rows, st.integers(2, 5))
def test_every_class_holds_k_people_who_said_all_its_words(
    rows: list[tuple[int, list[int]]], k: int
) -> None:
    units = units_of(rows)
    classes, left = share(units, k)
    for shared in classes:
        assert people(shared.units) >= k
        assert all(set(shared.words) <= set(unit.words) for unit in shared.units)
    keys = [unit.key for shared in classes for unit in shared.units] + [u.key for u in left]
    assert sorted(keys) == list(range(len(units)))
    assert people(left) < k or not left


@given(unit_rows, st.integers(2, 5))
def test_absorbing_leaves_nobody_behind_if_there_are_k_people(
    rows: list[tuple[int, list[int]]], k: int
) -> None:
    units = units_of(rows)
    classes, left = absorb(*share(units, k), k=k)
    assert all(people(shared.units) >= k for shared in classes)
    assert (not left) == (people(units) >= k or not units)
    assert sum(len(shared.units) for shared in classes) + len(left) == len(units)


@given(unit_rows, st.integers(2, 4))
def test_never_fewer_words_than_the_naive_rule(rows: list[tuple[int, list[int]]], k: int) -> None:
    """The naive rule: only words that every unit of the group says."""
    units = units_of(rows)
    if people(units) < k:
        return
    naive = len(units) * len(set(units[0].words).intersection(*(u.words for u in units)))
    classes, _ = share(units, k)
    kept = sum(len(shared.words) * len(shared.units) for shared in classes)
    assert kept >= naive


def test_two_groups_keep_their_own_words() -> None:
    units = units_of([(user, [1, 2]) for user in range(3)] + [(user, [3, 4]) for user in range(3)])
    classes, left = share(units, 3)
    assert sorted(sorted(shared.words) for shared in classes) == [[1, 2], [3, 4]]
    assert not left


def test_what_falls_short_tries_other_words() -> None:
    # Word 1 is shared by most, but users 4 and 5 can share 1 and 3 only with each other.
    rows = [(0, [1, 2]), (1, [1, 2]), (2, [1, 2, 3]), (4, [1, 3]), (5, [1, 3])]
    classes, left = share(units_of(rows), 2)
    words = {unit.user: set(shared.words) for shared in classes for unit in shared.units}
    assert words[0] == words[1] == {1, 2}
    assert words[4] == words[5] == {1, 3}
    assert not left


def test_nobody_loses_what_all_share_for_one_more_word_of_others() -> None:
    # Word 1 is shared by two people, but then the rest of person 0 would be alone.
    rows = [(0, [0, 2, 5]), (0, [0, 2, 5]), (0, [0, 5, 1]), (1, [0, 1, 5])]
    classes, left = share(units_of(rows), 2)
    assert [(set(shared.words), len(shared.units)) for shared in classes] == [({0, 5}, 4)]
    assert not left


def test_fillers_are_tried_last() -> None:
    rows = [(user, [FILLER, 1]) for user in range(2)] + [(user, [FILLER]) for user in range(2, 9)]
    classes, _ = share(units_of([*rows, (9, [1])]), 3)
    words = {unit.user: set(shared.words) for shared in classes for unit in shared.units}
    assert words[0] == words[1] == words[9] == {1}


def test_a_long_shared_text_does_not_recurse_deeply() -> None:
    text = list(range(5000))
    classes, left = share(units_of([(user, text) for user in range(3)]), 3)
    assert [len(shared.words) for shared in classes] == [64]
    assert not left
