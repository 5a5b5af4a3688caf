"""Linkage, partial knowledge, diversity and shares against counting by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.measures.counts import count_release, unchanged
from tasks.core.measures.risk import (
    attack_successes,
    commonest,
    diversity,
    homogeneous_classes,
    least_people,
    linkage_risk,
    partial_knowledge,
)
from tasks.core.measures.standing import standing_of
from tasks.core.members import members_of
from tasks.core.records import Clusters, Flags, Floats, Ints, QueryLog, RecordTable
from tasks.core.redaction.by_record import publish_each
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.core.texts import TextColumn
from tests.core.measures.test_information import release_of
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
    standing = standing_of(table, release)
    risk = linkage_risk(standing)
    assert risk["released_worst"] == max(
        chance(users, user) for users in rows.values() for user in users
    )
    assert least_people(standing) == min(len(set(users)) for users in rows.values())
    chances = [chance(users, user) for users in raw.values() for user in users]
    assert risk["raw_expected"] == pytest.approx(sum(chances) / len(chances))
    found = partial_knowledge(standing)
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
    clusters = members_of(np.array([0, 0, 0, 1], dtype=np.int32), 2)
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
        texts=TextColumn.of(["", "", ""]),
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
    standing, same = standing_of(table, release), unchanged(table, release)
    counts = count_release(log, standing, members_of(unclustered(table).labels, 0), same)
    assert counts["shares"] == {
        # An attribute that is told as another concept is not as it was.
        **{"published": 3 / 4, "changed": 1 / 4, "withheld": 0.0},
        **{"with_attributes": 2 / 4, "with_attributes_published": 2 / 4},
    }
    assert counts["withheld_by_reason"] == {}
    assert counts["records"]["read"] == 4
    assert counts["attributes"] == {"mentions": 2, "in_doubt": 0}


LINKS_TAXONOMY = build_taxonomy(
    ["entity.n.01", "flu.n.01", "cold.n.01"],
    ["entity", "flu", "cold"],
    [[], [0], [0]],
    root="entity.n.01",
    version="",
)


CLASS_OF = np.array([0, 0, 0, 1, 1, -1], dtype=np.int32)
"""Of the people; the last is withheld."""


def two_classes() -> tuple[RecordTable, Ints]:
    """Person 0 has two of the first class's four rows; who holds flu, cold or nothing."""
    rows = [(0, [1]), (0, [1]), (1, [2]), (2, [2]), (3, [2]), (4, []), (5, [1])]
    table = table_of(LINKS_TAXONOMY, [(user, own, ["w"], 0) for user, own in rows])
    return table, CLASS_OF[table.users]


def by_person(table: RecordTable, chosen: Flags, found: Floats | Flags) -> dict[int, float]:
    return dict(zip(table.users[chosen].tolist(), found.tolist(), strict=True))


def test_linking_is_the_share_of_other_rows_that_are_the_same_persons() -> None:
    table, classes = two_classes()
    release = release_of(classes.tolist(), [([0], [], 0)] * 2)
    linked = by_person(table, classes >= 0, standing_of(table, release).linked[classes >= 0])
    assert linked == pytest.approx({0: 1 / 3, 1: 0, 2: 0, 3: 0, 4: 0})
    together = release_of(np.minimum(classes, 0).tolist(), [([0], [], 0)])
    assert standing_of(table, together).linked.max() == pytest.approx(1 / 5)


def test_inference_guesses_what_most_people_behind_a_row_hold() -> None:
    """In the first class two rows hold flu, of one person, and two cold, of two people."""
    table, classes = two_classes()
    sets = np.array([1, 2, 2, 2, -1, 1], dtype=np.int32)[table.users]
    held = (classes >= 0) & (sets >= 0)
    groups = classes[held].astype(np.int64)
    inferred = by_person(table, held, commonest(groups, sets[held], table.users[held]))
    assert inferred == {0: 0, 1: 1, 2: 1, 3: 1}


def test_attacks_are_averaged_over_what_is_chosen_and_of_nothing_are_none() -> None:
    table, classes = two_classes()
    release = publish_each(
        table,
        unclustered(table),
        form_by_form(lambda form, label: ([0], np.zeros(0, dtype=np.int32))),
    )
    release = replace(release, class_of=np.where(classes >= 0, 0, -1).astype(np.int32))
    sets = np.arange(len(table.forms), dtype=np.int32)
    standing = standing_of(table, release)
    found = attack_successes(standing, sets)
    assert found["linked_expected"] == found["linked_chance"] == pytest.approx(2 / 5 / 6)
    assert found["inferred_expected"] == found["inferred_chance"]
    risk = linkage_risk(standing)
    assert risk["published_expected"] == pytest.approx(risk["released_expected"] * 7 / 6)
    heavy = attack_successes(standing, sets, table.users == 0)
    assert heavy["linked_expected"] == pytest.approx(1 / 5)
    nothing = attack_successes(standing, sets, np.zeros(len(table), dtype=np.bool_))
    assert set(nothing.values()) == {0.0}
    assert homogeneous_classes(table, release, np.zeros_like(sets)).alike.tolist()[0]
    assert not homogeneous_classes(table, release, sets).alike.any()
