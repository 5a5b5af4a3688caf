"""Linkage, partial knowledge, diversity and shares against counting by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.measures.counts import count_release
from tasks.core.measures.risk import diversity, least_people, linkage_risk, partial_knowledge
from tasks.core.records import Clusters, QueryLog, RecordTable
from tasks.core.redaction.by_record import publish_each
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.oracles.redaction import form_by_form


def unclustered(table: RecordTable) -> Clusters:
    return Clusters(
        labels=np.full(len(table), -1, dtype=np.int32),
        suppressed=np.zeros(len(table), dtype=np.bool_),
        centroids=np.zeros(0, dtype=np.int32),
    )


def chance(users: list[int], user: int) -> float:
    """To pick somebody among the people, or one of their rows among the rows."""
    return max(1 / len(set(users)), users.count(user) / len(users))


@given(tables(), st.integers(1, 3))
def test_linkage_and_partial_knowledge_equal_counting(
    log: tuple[Taxonomy, RecordTable], length: int
) -> None:
    _, table = log
    terms = {form: sorted({form % 3, form % 5, 7})[:length] for form in range(len(table.forms))}
    none = np.zeros(0, dtype=np.int32)
    release = publish_each(
        table, unclustered(table), form_by_form(lambda form, label: (terms[form], none))
    )
    rows: dict[int, list[int]] = defaultdict(list)
    raw: dict[int, list[int]] = defaultdict(list)
    knowing: list[dict[tuple[int, ...], set[int]]] = [defaultdict(set), defaultdict(set)]
    for record, user in enumerate(table.users.tolist()):
        rows[int(release.class_of[record])].append(user)
        raw[int(table.form_of[record])].append(user)
        for size in (1, 2):
            for known in combinations(terms[int(table.form_of[record])], size):
                knowing[size - 1][known].add(user)
    risk = linkage_risk(table, release)
    assert risk["released_worst"] == max(
        chance(users, user) for users in rows.values() for user in users
    )
    assert least_people(table, release) == min(len(set(users)) for users in rows.values())
    chances = [chance(users, user) for users in raw.values() for user in users]
    assert risk["raw_expected"] == pytest.approx(sum(chances) / len(chances))
    found = partial_knowledge(table, release)
    for name, people in zip(("one_term", "two_terms"), knowing, strict=True):
        counts = [len(users) for users in people.values()]
        assert found[f"{name}_least"] == min(counts, default=0)
        assert found[f"{name}_mean"] == pytest.approx(sum(counts) / len(counts) if counts else 0)


@pytest.fixture
def flat() -> Taxonomy:
    names = [f"c{n}" for n in range(4)]
    return build_taxonomy(names, names, [[] for _ in names], root="none", version="")


def test_diversity_counts_sets_and_their_entropy(flat: Taxonomy) -> None:
    table = table_of(flat, [(0, [1], [], 0), (1, [1], [], 0), (2, [2], [], 0), (3, [3], [], 0)])
    clusters = Clusters(
        labels=np.array([0, 0, 0, 1], dtype=np.int32),
        suppressed=np.zeros(4, dtype=np.bool_),
        centroids=np.array([0, 3], dtype=np.int32),
    )
    shares = Counter([1, 1, 2])
    entropy = -sum(c / 3 * math.log2(c / 3) for c in shares.values())
    assert diversity(table, clusters) == {
        "min_distinct": 1,
        "median_entropy": pytest.approx((entropy + 0) / 2),
    }


def test_shares_tell_changed_rows_from_unchanged(flat: Taxonomy) -> None:
    table = table_of(flat, [(0, [1], ["best"], 0), (1, [2], [], 0), (2, [], ["near"], 0)])
    best, near, own = (table.words.tolist().index(word) for word in ("best", "near", "word1"))
    # In canonical order: the row of a word alone, then the sets 1 and 2.
    published = {0: [near], 1: [best, own], 2: [-1 - 3]}
    none = np.zeros(0, dtype=np.int32)
    release = publish_each(
        table, unclustered(table), form_by_form(lambda form, label: (published[form], none))
    )
    log = QueryLog(
        texts=np.array(["", "", ""], dtype=object),
        users=np.arange(3, dtype=np.int32),
        times=np.zeros(3, dtype=np.int64),
        people=np.arange(3, dtype=np.int64),
        origins=np.zeros(3, dtype=np.int32),
        rows=np.arange(1, 3 + 1, dtype=np.int64),
        sources=("log",),
        reject_sources=np.zeros(1, dtype=np.int32),
        reject_rows=np.ones(1, dtype=np.int64),
        reject_reasons=np.array(["blank line"], dtype=object),
        has_times=True,
    )
    counts = count_release(log, table, unclustered(table), release)
    assert counts["shares"] == {
        # An attribute that is told as another concept is not as it was.
        **{"published": 3 / 4, "changed": 1 / 4, "withheld": 0.0},
        **{"with_attributes": 2 / 4, "with_attributes_published": 2 / 4},
    }
    assert counts["withheld_by_reason"] == {}
    assert counts["records"]["read"] == 4
    assert counts["attributes"] == {"mentions": 2, "in_doubt": 0}
