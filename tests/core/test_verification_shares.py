"""The verifier on one person's share of rows that belong together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.verification.clauses import promised
from tests.core.release_cases import HONEST, STRICT, TERMS, Case, judge, make_case
from tests.core.test_verification_union import judge as judge_edition

SAYS = {
    "strict": "no person has more than 50 % of the rows that read alike",
    "terms": "no person has more than 50 % of the rows of a cluster",
}


def limited(case: Case, share: float = 0.5) -> Case:
    return replace(case, promise=replace(case.promise, dominance=share))


@pytest.mark.parametrize("guarantee", SAYS)
def test_the_share_is_promised_where_there_is_one(guarantee: str) -> None:
    case = HONEST[guarantee]
    assert judge(limited(case)) == []
    assert SAYS[guarantee] in promised(limited(case).promise)
    assert not any("more than" in says for says in promised(case.promise))
    assert not any("more than" in says for says in promised(limited(HONEST["paper"]).promise))


@pytest.mark.parametrize("case", [STRICT, TERMS], ids=["strict", "terms"])
def test_rows_of_one_person_too_many_are_named(case: Case) -> None:
    """The first row of a cluster once more for each row that is like it: then it is too much."""
    number = next(place for place, row in enumerate(case.rows) if row[3] == "1")
    alike = [
        row for row in case.rows if row == case.rows[number] or (case is TERMS and row[3] == "1")
    ]
    more = len(alike)
    twice = case.take([*range(len(case.rows)), *([number] * more)])
    counts = replace(case.promise, published=len(twice.rows), read=case.promise.read + more)
    (fault,) = judge(limited(replace(twice, promise=counts).sorted()))
    assert fault.startswith(SAYS[case.promise.guarantee])
    assert f"broken by {2 * more} rows" in fault
    assert judge(limited(replace(twice, promise=counts).sorted(), 0.8)) == []
    found = judge_edition(limited(case), limited(replace(twice, promise=counts).sorted()))
    assert [fault.partition(":")[0] for fault in found] == ["release 2", "all releases"]


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5])
def test_a_share_that_is_none_is_a_fault(share: float) -> None:
    assert any(fault.startswith("the promise is") for fault in judge(limited(STRICT, share)))


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12), st.sampled_from([0.34, 0.5, 0.75]))
def test_shares_are_those_of_counting(users: list[int], share: float) -> None:
    entries = [(("cheap flights", "", "", ""), users, [-1] * len(users))]
    found = judge(limited(make_case(entries, "strict", 2), share))
    too_much = max(Counter(users).values()) > share * len(users)
    assert any("no person has" in fault for fault in found) == too_much


def test_sizes_that_are_no_multiple_of_k_are_named_where_that_is_promised() -> None:
    rounded = replace(STRICT, promise=replace(STRICT.promise, rounding=True))
    says = "as many rows read alike as a multiple of 3"
    assert says in promised(rounded.promise)
    assert says not in promised(STRICT.promise)
    (fault,) = judge(rounded)
    assert fault == f"{says}: broken by 4 rows (1, 2, 3, ...)", "four rows say cancer help"
    kept = rounded.without(next(n for n, row in enumerate(STRICT.rows) if row[0] == "cancer help"))
    assert not any(fault.startswith(says) for fault in judge(kept))
