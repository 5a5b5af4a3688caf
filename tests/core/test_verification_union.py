"""Releases of an edition are judged each alone and all together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.counted import Counted
from tasks.core.verification.clauses import Promise
from tasks.core.verification.union import union_faults, union_promise
from tests.core.release_cases import (
    CLAUSES,
    CLUSTER,
    CONCEPTS,
    HEADER,
    KNOWLEDGE,
    NAME,
    QUERY,
    STRICT,
    TERMS,
    TEXTS_OF_ONE,
    Case,
    make_case,
    row_saying,
)
from tests.core.test_verification import let_one_person_mention_something_else, say_fillers


def judge(*cases: Case, **changed: Any) -> list[str]:
    """The faults of an edition, whose promise is the union's but for what is changed."""
    promise = replace(union_promise([case.promise for case in cases]), **changed)
    return union_faults([case.read_back for case in cases], promise, KNOWLEDGE)


def broken(*cases: Case) -> set[tuple[str, str]]:
    """Which clauses are broken, by short name, and by which release or by all."""
    found = judge(*cases)
    named = {
        (fault.partition(": ")[0].removeprefix("release "), name)
        for fault in found
        for name, says in CLAUSES.items()
        if fault.partition(": ")[2].startswith(says + ":")
    }
    assert len(named) == len(found)
    return named


def others(case: Case) -> Case:
    """The same rows of other people."""
    units = tuple(unit + 100 * TEXTS_OF_ONE for unit in case.units)
    return replace(case, users=tuple(user + 100 for user in case.users), units=units)


@pytest.mark.parametrize("case", [STRICT, TERMS])
def test_honest_editions_are_proven(case: Case) -> None:
    assert judge(case) == []
    assert judge(case, case) == [], "the same people may ask again"
    assert judge(case, others(case), make_case([], case.promise.guarantee)) == []


def change_a_cluster(case: Case) -> Case:
    """In the whole release, so that only the earlier releases give it away."""
    changed = case.with_column(CONCEPTS, lambda cell: cell.replace("cancer", "influenza"))
    return changed.with_column(QUERY, lambda text: text.replace("cancer", "influenza")).sorted()


def lose_a_person(case: Case) -> Case:
    return case.without(row_saying(case, "weather"))


def add_a_rare_word(case: Case) -> Case:
    return case.with_cell(0, QUERY, case.rows[0][QUERY] + " zanzibar").sorted()


def put_a_name_back(case: Case) -> Case:
    return case.with_column(QUERY, lambda text: f"{text} {NAME}").sorted()


def swap_two_rows(case: Case) -> Case:
    return case.take(range(len(case.rows))[::-1])


def drop_a_row_of_the_file(case: Case) -> Case:
    return replace(case, rows=case.rows[1:])


def let_a_cluster_hide_one_set(case: Case) -> Case:
    sets = [9 if row[CLUSTER] == "1" else s for row, s in zip(case.rows, case.sets, strict=True)]
    return replace(case, sets=tuple(sets))


def rename_a_column(case: Case) -> Case:
    return replace(case, header=("user", *HEADER[1:]))


UNKNOWN = {"rows", "people", "sets", "shared", "common"}
MUTATIONS: list[tuple[Case, Callable[[Case], Case], set[tuple[str, str]]]] = [
    (STRICT, change_a_cluster, {("2", "true"), ("all releases", "same")}),
    (STRICT, let_one_person_mention_something_else, {("2", "true")}),
    (TERMS, let_one_person_mention_something_else, {("2", "true")}),
    (STRICT, say_fillers, {("2", "fillers")}),
    (STRICT, lose_a_person, {("2", "shared")}),
    (
        STRICT,
        add_a_rare_word,
        {(where, what) for where in ("2", "all releases") for what in ("sets", "shared")},
    ),
    (TERMS, add_a_rare_word, {("2", "words"), ("all releases", "words")}),
    (STRICT, put_a_name_back, {("2", "identifier")}),
    (STRICT, swap_two_rows, {("2", "order")}),
    (STRICT, let_a_cluster_hide_one_set, {("2", "sets")}),
    (STRICT, rename_a_column, {("2", "columns")}),
    (
        STRICT,
        drop_a_row_of_the_file,
        {("2", name) for name in UNKNOWN | {"true"}} | {("all releases", n) for n in UNKNOWN},
    ),
]


@pytest.mark.parametrize(("honest", "mutate", "expected"), MUTATIONS)
def test_a_broken_release_is_named(
    honest: Case, mutate: Callable[[Case], Case], expected: set[tuple[str, str]]
) -> None:
    assert broken(honest, mutate(others(honest)), honest) == expected


def test_faults_name_releases_and_rows_and_no_cell() -> None:
    found = judge(STRICT, change_a_cluster(others(STRICT)))
    assert found[1:] == [
        "all releases: all rows of a cluster publish the same concepts: broken by 8 rows "
        "(release 1 row 1, release 1 row 2, release 1 row 3, ...)"
    ]
    first = STRICT.with_cell(0, QUERY, "a " + STRICT.rows[0][QUERY])
    assert judge(others(STRICT), first)[-1].endswith("broken by 1 row (release 2 row 1)")
    empty = make_case([], "strict")
    added = add_a_rare_word(STRICT)
    assert "(release 3 row 4)" in judge(others(STRICT), empty, added)[-1]


def test_a_release_that_promises_less_is_judged_by_the_edition() -> None:
    found = judge(STRICT, STRICT, k=4)
    assert {fault.partition(":")[0] for fault in found} == {
        "release 1",
        "release 2",
        "all releases",
    }
    loose = replace(STRICT, promise=replace(STRICT.promise, k=2))
    assert judge(loose, lose_a_person(loose), k=3) == judge(STRICT, lose_a_person(STRICT))


def test_people_of_several_releases_do_not_add_up() -> None:
    """Two people in either release make four, but each release is read by itself."""
    row = ("flights", "", "", "")
    parts = [make_case([(row, users, (-1, -1))], "strict") for users in ((1, 2), (3, 4))]
    assert broken(*parts) == {("1", "shared"), ("2", "shared")}


@pytest.mark.parametrize("count", ["read", "published"])
def test_the_counts_of_the_union_are_judged(count: str) -> None:
    honest = union_promise([STRICT.promise] * 2)
    found = judge(STRICT, STRICT, **{count: getattr(honest, count) + 1})
    assert len(found) >= 1
    assert all(fault.startswith("all releases: ") for fault in found)


def test_rows_that_waited_count_once_in_the_union() -> None:
    first = Promise("strict", 3, 1, "month", read=10, rejected=1, withheld=4, published=5)
    second = Promise("strict", 3, 1, "month", read=9, rejected=2, withheld=3, published=4)
    whole = Promise("strict", 3, 1, "month", read=15, rejected=3, withheld=3, published=9)
    assert union_promise([first, second]) == whole
    assert union_promise([first]) == first


def test_releases_that_count_by_different_columns_prove_nothing_together() -> None:
    by_user, by_member = (
        replace(STRICT, promise=replace(STRICT.promise, counted=Counted("people", name)))
        for name in ("user", "member")
    )
    assert judge(by_user, by_user) == []
    (fault,) = judge(by_user, by_member)
    assert "people (column user) in one and some people (column member)" in fault


QUERIES = ("weather", "cheap flights", "winter")
RELEASES = st.lists(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=20
    ),
    min_size=1,
    max_size=3,
)


def asked_by(records: list[tuple[int, int, int]]) -> Case:
    """A release of rows by number, each of a person who asked one of two texts."""
    rows = [((QUERIES[row], "", "", ""), (user,), (-1,)) for row, user, _ in records]
    case = make_case(rows, "strict", l=1)
    texts = [text for _, _, text in records]
    units = (unit - unit % TEXTS_OF_ONE + texts[unit % TEXTS_OF_ONE] for unit in case.units)
    return replace(case, units=tuple(units))


@given(RELEASES)
def test_people_in_common_are_counted_as_sets_would(
    releases: list[list[tuple[int, int, int]]],
) -> None:
    cases = [asked_by(records) for records in releases]
    members, told = defaultdict[Any, set[int]](set), defaultdict[Any, set[Any]](set)
    for number, records in enumerate(releases):
        for row, user, text in records:
            members[number, row].add(user)
            told[user, text].add((number, row))
    several = [own for own in told.values() if len(own) > 1]
    left = [len(set.intersection(*(members[each] for each in own))) for own in several]
    expected = any(people < 3 for people in left)
    assert (("all releases", "common") in broken(*cases)) == expected


def test_a_release_by_itself_is_judged_by_what_people_have_in_common() -> None:
    """One person's query in two rows, each shared by three people, of whom they share one."""
    rows = [(query, "", "", "") for query in ("weather", "winter")]
    entries = [(rows[0], (1, 2, 3), (-1,) * 3), (rows[1], (1, 4, 5), (-1,) * 3)]
    case = make_case(entries, "strict", l=1)
    assert judge(case) == []
    units = tuple(
        0 if user == 1 else unit for user, unit in zip(case.users, case.units, strict=True)
    )
    assert ("1", "common") in broken(replace(case, units=units))
