"""Every method of the comparison: hand-worked examples, and what holds for all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tasks.core.arrays import people_per_label
from tasks.core.measures.information import truth_of
from tasks.core.records import RecordTable
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.evaluation.baselines.floors import DROPPING, RANDOM, ROOT, UNTOUCHED, united
from tasks.evaluation.baselines.km_anonymity import SINGLES, WITH_PAIRS
from tasks.evaluation.baselines.microaggregation import (
    SEMANTIC,
    SYNTACTIC,
    recurrences,
    string_distances,
    weighted_distances,
)
from tasks.evaluation.catalogue import METHODS
from tasks.evaluation.method import Material, Method, Outcome
from tasks.evaluation.own_methods import PRINTED_PAPER
from tests.evaluation.materials import held_by, material_from, published, together
from tests.helpers.strategies import logs, mini_taxonomy

WITHHOLDING = {"adaptive", "paper", "paper-printed", "drop-rare", "greedy", "random"}


def animals_and_things() -> Taxonomy:
    """Two animals and two things, each spelt like one of the other kind."""
    words = ["entity", "animal", "thing", "cat", "dog", "cart", "dock"]
    parents: list[list[int]] = [[], [0], [0], [1], [1], [2], [2]]
    return build_taxonomy(words, words, parents, root="entity", version="hand")


def test_string_distance_counts_edits_in_shares_of_the_longer() -> None:
    found = string_distances(("flu", "flue", "abc"))
    assert found == pytest.approx(np.array([[0, 1 / 4, 1], [1 / 4, 0, 1], [1, 1, 0]]))


def test_syntactic_groups_what_is_spelt_alike_and_semantic_what_means_alike() -> None:
    material = held_by(animals_and_things(), (0, [3]), (1, [4]), (2, [5]), (3, [6]))
    by_spelling = together(material, SYNTACTIC.apply(material, 2))
    by_meaning = together(material, SEMANTIC.apply(material, 2))
    assert by_spelling == {frozenset({0, 2}), frozenset({1, 3})}
    assert by_meaning == {frozenset({0, 1}), frozenset({2, 3})}


def test_semantic_distance_weighs_an_attribute_by_its_recurrence() -> None:
    """{x} and {x, y}, y three times as often as x: (0 + (1/4 · 0 + 3/4 · δ)) / 2."""
    shares = sparse.csr_matrix(np.array([[1.0, 0.0], [0.25, 0.75]]))
    found = weighted_distances(shares, np.array([[0.0, 0.8], [0.8, 0.0]], dtype=np.float32))
    assert found == pytest.approx(np.array([[0.0, 0.3], [0.3, 0.0]]))


def test_recurrence_counts_mentions() -> None:
    """5 and 6 are one attribute of weight 2 (Algorithm 1), beside one mention of 8."""
    material = held_by(mini_taxonomy(), (0, [5, 6, 8]))
    assert sorted(recurrences(material).data.tolist()) == pytest.approx([1 / 3, 2 / 3])


def test_an_item_climbs_to_the_first_node_that_k_people_share_and_takes_all_below_along() -> None:
    held = [(0, [5]), (1, [5]), (2, [6]), (3, [7]), (4, [8]), (5, [8])]
    material = held_by(mini_taxonomy(), *held)
    assert published(material, SINGLES.apply(material, 2)) == {
        (5,): [(3,), (3,)],
        (6,): [(3,)],
        (7,): [(3,)],
        (8,): [(8,), (8,)],
    }


def test_a_pair_climbs_where_that_costs_least() -> None:
    """5, 6 and 8 are common; {5, 8} and {6, 8} are one person's each until 5 and 6 are 3."""
    held = [(0, [5, 8]), (1, [6, 8]), (2, [5]), (3, [6]), (4, [8])]
    material = held_by(mini_taxonomy(), *held)
    assert published(material, SINGLES.apply(material, 2))[5, 8] == [(5, 8)]
    assert published(material, WITH_PAIRS.apply(material, 2)) == {
        (5, 8): [(3, 8)],
        (6, 8): [(3, 8)],
        (5,): [(3,)],
        (6,): [(3,)],
        (8,): [(8,)],
    }


def test_what_no_node_of_its_tree_lets_k_people_share_is_left_out() -> None:
    """3 is a tree by itself, one person's."""
    parents: list[list[int]] = [[], [0], [0], []]
    names = [f"c{concept}.n.01" for concept in range(4)]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="trees")
    material = held_by(taxonomy, (0, [1, 3]), (1, [1]), (2, [2]), (3, [2]))
    assert published(material, SINGLES.apply(material, 2))[1, 3] == [(1,)]


def test_groups_short_of_people_are_united_with_the_next_and_the_last_with_the_one_before() -> None:
    labels = np.array([0, 1, 2, 2, 3, -1], dtype=np.int32)
    users = np.array([0, 1, 2, 3, 0, 4], dtype=np.int32)
    assert united(labels, users, 4, k=2).tolist() == [0, 0, 1, 1, 1, -1]


def test_random_groups_have_the_sizes_of_adaptive() -> None:
    """Eight people with a set each, far apart in pairs: groups of two, whoever is in them."""
    held = [(user, [5 if user % 2 else 8]) for user in range(8)]
    material = held_by(mini_taxonomy(), *held)
    adaptive = np.bincount(METHODS[0].apply(material, 4).labels)
    assert np.bincount(RANDOM.apply(material, 4).labels).tolist() == adaptive.tolist() == [4, 4]


def test_rare_sets_are_dropped_and_others_kept() -> None:
    material = held_by(mini_taxonomy(), (0, [5]), (0, [5]), (1, [8]), (2, [8]), (1, [1, 8]))
    assert published(material, DROPPING.apply(material, 2)) == {
        (5,): [(), ()],
        (8,): [(8,), (8,)],
        (1, 8): [()],
    }


def test_the_floors_publish_the_root_or_everything() -> None:
    material = held_by(mini_taxonomy(), (0, [5]), (1, [8]))
    assert published(material, ROOT.apply(material, 2)) == {(5,): [(0,)], (8,): [(0,)]}
    assert published(material, UNTOUCHED.apply(material, 2)) == {(5,): [(5,)], (8,): [(8,)]}


def test_as_printed_similar_attributes_become_the_centroids_and_others_their_parent() -> None:
    """5 and 6 are alike, 8 is like neither and hangs below 4. One cluster, of centroid {5}."""
    material = held_by(mini_taxonomy(), (0, [5]), (1, [6, 8]))
    found = published(material, PRINTED_PAPER.apply(material, 2))
    assert found == {(5,): [(5,)], (6, 8): [(4, 5)]}


@st.composite
def materials(draw: st.DrawFn) -> tuple[Material, int]:
    taxonomy, table = draw(logs(most=30))
    k = draw(st.integers(2, 6))
    assume(len(np.unique(table.users)) >= k)
    return material_from(taxonomy, table), k


def people(table: RecordTable, labels: np.ndarray, label: int) -> int:
    return len(set(table.users[labels == label].tolist()))


def assert_proper(method: Method, material: Material, outcome: Outcome, k: int) -> None:
    table, labels = material.table, outcome.labels
    assert labels.shape == (len(table),)
    assert set(labels[labels >= 0].tolist()) == set(range(len(outcome.published)))
    if method.name not in WITHHOLDING:
        assert (labels[material.holding] >= 0).all()
    if method.clusters or method.name in ("drop-rare", "root", "greedy"):
        assert all(people(table, labels, label) >= k for label in range(len(outcome.published)))
    if method.clusters or method.name == "greedy":
        assert_true_rows(material, outcome, k)


def assert_true_rows(material: Material, outcome: Outcome, k: int) -> None:
    """Whoever forms clusters publishes rows of k people, of which every concept is true."""
    table, rows = material.table, outcome.rows
    assert rows is not None
    assert (people_per_label(rows.class_of, table.users, rows.class_count) >= k).all()
    assert (np.diff(rows.term_offsets) > 0).all()
    assert truth_of(table, rows, material.taxonomy).rows_true == 1.0


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@settings(max_examples=15, deadline=None)
@given(given_material=materials())
def test_every_record_in_one_group_of_k_people_every_time(
    method: Method, given_material: tuple[Material, int]
) -> None:
    material, k = given_material
    outcome = method.apply(material, k)
    assert_proper(method, material, outcome, k)
    again = method.apply(material_from(material.taxonomy, material.table), k)
    assert again.labels.tolist() == outcome.labels.tolist()
    assert [row.tolist() for row in again.published] == [row.tolist() for row in outcome.published]


@pytest.mark.parametrize(("method", "m"), [(SINGLES, 1), (WITH_PAIRS, 2)])
@settings(max_examples=60, deadline=None)
@given(given_material=materials())
def test_any_m_published_terms_are_shared_by_k_people(
    method: Method, m: int, given_material: tuple[Material, int]
) -> None:
    material, k = given_material
    outcome = method.apply(material, k)
    holders: dict[tuple[int, ...], set[int]] = {}
    for label, user in zip(outcome.labels.tolist(), material.table.users.tolist(), strict=True):
        row = outcome.published[label].tolist() if label >= 0 else []
        for size in range(1, m + 1):
            for terms in combinations(row, size):
                holders.setdefault(terms, set()).add(user)
    assert all(len(held) >= k for held in holders.values())
