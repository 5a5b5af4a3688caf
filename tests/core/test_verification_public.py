"""What can be checked without the store: rows are counted where people are promised."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.verification.evidence import FileRows
from tasks.core.verification.public import (
    Names,
    public_faults,
    public_promise,
    publicly_promised,
    unchecked_names,
)
from tests.core.release_cases import HONEST, KNOWLEDGE, STRICT, TERMS, Case

NO_NAMES = Names(lambda query: frozenset(), lambda query: False)
CELLS = st.sampled_from(["a", "b", "a b", "b c", "c"])


def judge(case: Case, names: Names = NO_NAMES) -> list[str]:
    return public_faults(case.header, FileRows.of(case.rows), case.promise, KNOWLEDGE, names)


@pytest.mark.parametrize("guarantee", HONEST)
def test_an_honest_release_is_not_faulted(guarantee: str) -> None:
    assert judge(HONEST[guarantee]) == []


def test_clauses_that_need_the_store_are_not_claimed() -> None:
    said = publicly_promised(STRICT.promise, NO_NAMES)
    assert not [clause for clause in said if "people" in clause or "person" in clause]
    assert "every whole row stands there at least 3 times" in said


def of_words(case: Case, queries: list[str]) -> list[str]:
    rows = [(query, "", "", "") for query in sorted(queries)]
    return public_faults(case.header, FileRows.of(rows), case.promise, KNOWLEDGE, NO_NAMES)


@given(st.lists(CELLS, max_size=30))
def test_whole_rows_are_counted_as_an_oracle_counts_them(queries: list[str]) -> None:
    rare = [query for query, rows in Counter(queries).items() if rows < STRICT.promise.k]
    broken = [fault for fault in of_words(STRICT, queries) if "whole row" in fault]
    assert bool(broken) == bool(rare)
    if rare:
        count = sum(query in rare for query in queries)
        assert f"broken by {count} row" in broken[0]


@given(st.lists(CELLS, max_size=30))
def test_words_are_counted_as_an_oracle_counts_them(queries: list[str]) -> None:
    uses = Counter(word for query in queries for word in set(query.split(" ")))
    rare = {word for word, rows in uses.items() if rows < TERMS.promise.k}
    broken = [fault for fault in of_words(TERMS, queries) if "every word" in fault]
    assert bool(broken) == bool(rare)
    if rare:
        count = sum(not rare.isdisjoint(query.split(" ")) for query in queries)
        assert f"broken by {count} row" in broken[0]


def test_a_cluster_of_few_rows_is_seen_whatever_the_guarantee() -> None:
    last = max(range(len(TERMS.rows)), key=lambda place: TERMS.rows[place][3])
    lone = replace(TERMS, rows=tuple(r for n, r in enumerate(TERMS.rows) if n == last or not r[3]))
    assert any("every cluster has at least" in fault for fault in judge(lone))


def test_a_concept_that_no_word_names_is_seen_unless_a_word_is_unknown() -> None:
    """It is named by the words that we give it, or by any other word for it."""
    place = next(place for place, row in enumerate(STRICT.rows) if row[1] == "cancer.n.01")
    own = STRICT.rows[place]
    renamed = STRICT.with_column(0, lambda query: "tumour" if query == own[0] else query).sorted()
    number = KNOWLEDGE.numbers["cancer.n.01"]
    assert any("by a word for it" in fault for fault in judge(renamed))
    knows = Names(lambda query: {number} if query == "tumour" else frozenset(), lambda query: False)
    assert judge(renamed, knows) == []
    unsure = Names(lambda query: frozenset(), lambda query: query == "tumour")
    assert judge(renamed, unsure) == []
    assert unchecked_names(FileRows.of(renamed.rows), KNOWLEDGE, unsure) == 4
    assert unchecked_names(FileRows.of(STRICT.rows), KNOWLEDGE, unsure) == 0


@pytest.mark.parametrize(
    "settings", [{}, {"guarantee": "strict"}, {"guarantee": "strict", "k": "5", "l": 1, "time": ""}]
)
def test_settings_that_promise_nothing_are_no_promise(settings: dict[str, object]) -> None:
    assert public_promise(settings) is None
