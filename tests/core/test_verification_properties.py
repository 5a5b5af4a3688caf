"""The verifier against random releases and a brute-force oracle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.core.members import members_of
from tasks.core.verification.clauses import _in_common
from tasks.core.verification.evidence import COLUMNS, FileRows, Row, classify, distinct_members
from tests.core.release_cases import HEADER, WORDS, Case, broken, judge, make_case

TIMES = st.sampled_from(["", "2006-03", "2006-03-05", "2006-03-05 07"])
PLAIN = st.lists(st.sampled_from(["cheap", "help", "new", "winter"]), min_size=1, max_size=3)
PEOPLE = st.integers(0, 30)


@pytest.fixture(autouse=True, scope="module")
def few_rows_at_a_time() -> Iterator[None]:
    """As a release of many millions is judged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.core.members.ROWS_PER_GROUP", 3)
        patch.setattr("tasks.core.verification.truth.PART", 3)
        patch.setattr("tasks.core.columns.ROWS_AT_A_TIME", 4)
        patch.setattr("tasks.core.verification.evidence.CELLS", 2)
        patch.setattr("tasks.core.verification.clauses.CELLS", 2)
        yield


@st.composite
def honest_releases(draw: st.DrawFn, *, exactly_k: bool = False) -> Case:
    """Strict releases; if `exactly_k`, every class of rows has k people with one row each."""
    k, diversity = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    most = k if exactly_k else k + 3
    groups = st.lists(PEOPLE, min_size=k, max_size=most, unique=True)
    entries = {}
    for cluster in range(draw(st.integers(1, 4))):
        kinds = st.sets(st.sampled_from(sorted(WORDS)), min_size=1, max_size=2)
        names = sorted(draw(kinds)) if cluster else []
        for _ in range(draw(st.integers(1, 3))):
            query = " ".join([*draw(PLAIN), *(WORDS[name] for name in names)])
            row = (query, ";".join(names), draw(TIMES), str(cluster or ""))
            users = draw(groups)
            sets = [number % diversity for number in range(len(users))]
            entries[row] = (row, users, sets if cluster else [-1] * len(users))
    return make_case(list(entries.values()), "strict", k, diversity)


@given(honest_releases())
def test_releases_built_to_hold_are_proven(case: Case) -> None:
    assert judge(case) == []


@given(st.data())
def test_any_changed_cell_of_a_class_of_exactly_k_people_is_caught(data: st.DataObject) -> None:
    case = data.draw(honest_releases(exactly_k=True))
    row = data.draw(st.integers(0, len(case.rows) - 1))
    column = data.draw(st.integers(0, len(HEADER) - 1))
    known = sorted({other[column] for other in case.rows})
    cells = st.one_of(st.sampled_from(known), st.text(max_size=8), TIMES)
    cell = data.draw(cells.filter(lambda cell: cell != case.rows[row][column]))
    mutated = case.with_cell(row, column, cell)
    assert judge(mutated.sorted() if data.draw(st.booleans()) else mutated) != []


def members_by_group(pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, set[Hashable]]:
    """The oracle: a set of members for each group."""
    members: dict[Hashable, set[Hashable]] = defaultdict(set)
    for group, member in pairs:
        members[group].add(member)
    return members


@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 2**31 - 1) | st.integers(-1, 4))))
def test_distinct_members_are_counted_as_sets_would(pairs: list[tuple[int, int]]) -> None:
    groups = np.array([group for group, _ in pairs], dtype=np.int64)
    members = np.array([member for _, member in pairs], dtype=np.int32)
    counts = distinct_members(groups, members)
    oracle = members_by_group(pair for pair in pairs if min(pair) >= 0)
    assert counts.tolist() == [len(oracle[group]) for group in range(groups.max(initial=-1) + 1)]


ROWS = st.tuples(
    st.sampled_from(["influenza", "influenza help", "help influenza cheap", "cheap", "help"]),
    st.sampled_from(["", "influenza.n.01"]),
    st.sampled_from(["", "2006-03"]),
    st.sampled_from(["", "1", "2"]),
)
RECORDS = st.lists(st.tuples(ROWS, st.integers(0, 4), st.integers(-1, 2)), max_size=25)


def _too_uniform(held: set[tuple[int, int]], least: int) -> bool:
    """Whether all hold a set, and no so many people can be given different ones of theirs."""
    pairs = list(held)
    if any(number < 0 for _, number in pairs):
        return False
    return not any(
        len({user for user, _ in some}) == len({number for _, number in some}) == least
        for some in combinations(pairs, least)
    )


def oracle_breaches(case: Case) -> set[str]:
    """The clauses about people, told by dictionaries of sets."""
    k, least_sets = case.promise.k, case.promise.l
    triples = list(zip(case.rows, case.users, case.sets, strict=True))
    clustered = [(row[3], row[1], user, number) for row, user, number in triples if row[3]]
    people = members_by_group((cluster, user) for cluster, _, user, _ in clustered)
    concepts = members_by_group((cluster, published) for cluster, published, _, _ in clustered)
    of_strict = case.promise.guarantee == "strict"
    sets: dict[Hashable, set[tuple[int, int]]] = defaultdict(set)
    for row, user, number in triples:
        if of_strict or row[3]:
            sets[row if of_strict else row[3]].add((user, number))
    shared = members_by_group((row, user) for row, user, _ in triples)
    words = members_by_group((word, user) for row, user, _ in triples for word in row[0].split(" "))
    verdicts = {
        "people": any(len(members) < k for members in people.values()),
        "same": any(len(members) > 1 for members in concepts.values()),
        "sets": any(_too_uniform(members, least_sets) for members in sets.values()),
        "bare": any(row[3] != "" and row[1] == "" for row in case.rows),
        "shared": any(len(members) < k for members in shared.values()),
        "words": any(len(members) < k for members in words.values()),
    }
    return {name for name, broken_ in verdicts.items() if broken_}


@given(RECORDS, st.sampled_from(["strict", "terms"]))
def test_clauses_about_people_agree_with_the_oracle(
    records: list[tuple[tuple[str, ...], int, int]], guarantee: str
) -> None:
    case = make_case([(row, (user,), (number,)) for row, user, number in records], guarantee)
    judged = {"people", "same", "sets", "bare", "shared" if guarantee == "strict" else "words"}
    assert broken(case) & judged == oracle_breaches(case) & judged


ODD_CELLS = st.text("ab\0\1\2\3\4\x7f\xe9\ud800\U0001f600", max_size=3) | st.text(max_size=3)
ANY_ROWS: st.SearchStrategy[list[Row]] = st.lists(
    st.lists(ODD_CELLS, max_size=5).map(tuple), max_size=6
)
FILES = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=3)


def drawn_files(kinds: list[Row], places: list[list[int]]) -> list[list[Row]]:
    return [[kinds[place % len(kinds)] for place in own] if kinds else [] for own in places]


@given(ANY_ROWS, FILES)
@example([("\0\1\2\3\4", "\2\2\2\3\2\4"), ("\0",), ("\2\2",), ("\2",)], [[0, 1, 2, 3, 1]])
def test_rows_of_a_file_are_kept_whatever_stands_in_them(
    kinds: list[Row], places: list[list[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.core.texts.TEXTS_AT_A_TIME", 2)
        patch.setattr("tasks.core.verification.evidence.TEXTS_AT_A_TIME", 2)
        for rows in drawn_files(kinds, places):
            file = FileRows.of(rows)
            assert list(file) == rows
            distinct = list(dict.fromkeys(rows))
            assert list(file.distinct) == distinct
            assert [file.distinct[place] for place in range(len(distinct))] == distinct
            assert file.distinct[1:] == distinct[1:]
            assert file.distinct.widths.tolist() == list(map(len, distinct))
            assert file.ranks.tolist() == [sorted(distinct).index(row) for row in distinct]
            assert file.sizes.tolist() == [rows.count(row) for row in distinct]


@given(ANY_ROWS, FILES)
def test_rows_of_four_fields_are_classes(kinds: list[Row], places: list[list[int]]) -> None:
    files = drawn_files([*kinds, ("a", "", "", "1")], places)
    classes, class_of = classify([FileRows.of(rows) for rows in files])
    joined = [row for rows in files for row in rows]
    wide = [row for row in joined if len(row) == len(COLUMNS)]
    assert list(classes) == list(dict.fromkeys(wide))
    found = [classes[number] if number >= 0 else None for number in class_of.tolist()]
    assert found == [row if len(row) == len(COLUMNS) else None for row in joined]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30))
def test_people_in_common_are_counted_as_sets_would(rows: list[tuple[int, int]]) -> None:
    groups, users = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    held = {group: {user for own, user in rows if own == group} for group, _ in rows}
    in_common = _in_common(members_of(groups, 4), users)
    for chosen in chain(combinations(held, 1), combinations(held, 2), combinations(held, 3)):
        sets = [held[group] for group in chosen]
        assert in_common(chosen) == len(set.intersection(*sets))
