"""People who return: all classes of one person's query keep k people in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.measures.risk import returning_risk
from tasks.core.records import Longs
from tasks.core.rows.returning import (
    NOT_BEFORE,
    PublishedRows,
    company_of,
    keep_company,
    never_enough,
)

PEOPLE, TEXTS, CLASSES = 6, 2, 3
ROWS = st.lists(
    st.tuples(st.integers(0, PEOPLE - 1), st.integers(0, TEXTS - 1), st.integers(0, CLASSES - 1)),
    max_size=30,
)


@pytest.fixture(autouse=True, scope="module")
def few_rows_at_a_time() -> Iterator[None]:
    """As rows of an edition of many millions are looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.core.columns.ROWS_AT_A_TIME", 3)
        yield


def published(rows: list[tuple[int, int, int]]) -> PublishedRows:
    """Rows of (person, text, class)."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return PublishedRows(columns[:, 0] * TEXTS + columns[:, 1], columns[:, 2], columns[:, 0])


def units(rows: list[tuple[int, int, int]]) -> tuple[Longs, Longs, Longs]:
    """Pairs, people and classes, each pair once."""
    once = {(person, text): own for person, text, own in rows}
    people = np.array([person for person, _ in once], dtype=np.int64)
    texts = np.array([text for _, text in once], dtype=np.int64)
    return people * TEXTS + texts, people, np.array([*once.values()], dtype=np.int64)


def common_before(rows: list[tuple[int, int, int]]) -> dict[int, set[int]]:
    """The oracle: people that all classes of each pair share."""
    members, told = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for person, text, own in rows:
        members[own].add(person)
        told[person * TEXTS + text].add(own)
    return {pair: set.intersection(*map(members.get, own)) for pair, own in told.items()}  # type: ignore[arg-type]


def people_in(classes: Longs, people: Longs) -> dict[int, set[int]]:
    numbers = set(classes[classes >= 0].tolist())
    return {number: set(people[classes == number].tolist()) for number in numbers}


@given(ROWS, ROWS)
def test_company_is_what_all_earlier_classes_share(
    rows: list[tuple[int, int, int]], before: list[tuple[int, int, int]]
) -> None:
    pairs, people, _ = units(rows)
    company, expected = company_of(pairs, people, published(before)), common_before(before)
    for pair, met in zip(pairs.tolist(), company.met_of.tolist(), strict=True):
        assert (met == NOT_BEFORE) == (pair not in expected)
        assert met == NOT_BEFORE or company.met[met] == expected[pair]


@given(ROWS, ROWS, st.integers(2, 3))
def test_whoever_stays_keeps_k_people_and_nobody_leaves_without_need(
    rows: list[tuple[int, int, int]], before: list[tuple[int, int, int]], k: int
) -> None:
    pairs, people, classes = units(rows)
    for number, members in people_in(classes, people).items():
        if len(members) < k:
            classes[classes == number] = -1
    company = company_of(pairs, people, published(before))
    found, left = keep_company(classes, company, k=k)
    expected, kept, out = common_before(before), classes.copy(), [0]
    while out:
        now = people_in(kept, people)
        out = [
            at
            for at, (pair, own) in enumerate(zip(pairs.tolist(), kept.tolist(), strict=True))
            if own >= 0 and len(now[own] & expected.get(pair, now[own])) < k
        ]
        kept[out] = -1
    assert found.tolist() == kept.tolist()
    assert not (left & (found >= 0)).any()
    assert set(np.flatnonzero(left).tolist()) <= {
        at for at, pair in enumerate(pairs.tolist()) if pair in expected
    }


def test_units_whose_company_has_not_come_are_known_before_any_search() -> None:
    before = [(person, 0, 0) for person in range(3)] + [(person, 1, 1) for person in (0, 3, 4)]
    pairs, people, _ = units([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (5, 1, 0)])
    never = never_enough(company_of(pairs, people, published(before)), k=3)
    assert never.tolist() == [False, False, False, True, False]


@given(ROWS, ROWS, st.integers(2, 3))
def test_the_risk_of_returning_is_counted_as_sets_would(
    rows: list[tuple[int, int, int]], before: list[tuple[int, int, int]], k: int
) -> None:
    once = [(person, text, own) for (person, text), own in {(p, t): c for p, t, c in rows}.items()]
    risk = returning_risk(published(before), published(once), k=k)
    earlier, now = common_before(before), common_before(once)
    left = [len(earlier[pair] & now[pair]) for pair in now if pair in earlier]
    assert risk.records == len(left)
    if left:
        assert (risk.least, risk.mean) == (min(left), sum(left) / len(left))
        assert risk.below_k == sum(people < k for people in left) / len(left)
