"""Eq. 1–8: the fast versions against the obvious ones, on random taxonomies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.similarity.concepts import ConceptDistances, measure_concepts
from tasks.core.similarity.distances import (
    concept_distances,
    match_attributes,
    paired_distances,
    record_distances,
)
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import taxonomies
from tests.oracles import paper as oracles


@given(taxonomies(), st.booleans())
def test_concept_distances_equal_the_oracle(taxonomy: Taxonomy, inclusive: bool) -> None:
    everything = np.arange(len(taxonomy), dtype=np.int32)
    expected = [
        [oracles.concept_distance(taxonomy, x, y, inclusive=inclusive) for y in everything.tolist()]
        for x in everything.tolist()
    ]
    fast = concept_distances(taxonomy, everything, everything, inclusive=inclusive)
    assert np.allclose(fast, expected, atol=1e-12)
    left, right = np.divmod(np.arange(len(taxonomy) ** 2, dtype=np.int32), len(taxonomy))
    paired = paired_distances(taxonomy, left, right, inclusive=inclusive)
    assert np.allclose(paired, np.ravel(expected), atol=1e-12)
    classes = measure_concepts(taxonomy, everything, inclusive=inclusive)
    assert np.allclose(classes.between(everything, everything), expected, atol=1e-6)


@given(taxonomies())
def test_concept_distance_is_symmetric_and_between_0_and_1(taxonomy: Taxonomy) -> None:
    everything = np.arange(len(taxonomy), dtype=np.int32)
    distances = concept_distances(taxonomy, everything, everything)
    assert (distances == distances.T).all()
    assert (np.diag(distances) == 0).all()
    assert distances.min() >= 0
    assert distances.max() <= 1


def test_two_concepts_without_ancestors_are_at_1() -> None:
    taxonomy = build_taxonomy(["a", "b"], ["a", "b"], [[], []], root="entity", version="")
    both = np.array([0, 1], dtype=np.int32)
    assert concept_distances(taxonomy, both, both).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert measure_concepts(taxonomy, both).between(both, both).tolist() == [[0, 1], [1, 0]]


def test_a_cycle_makes_nobody_its_own_ancestor() -> None:
    taxonomy = build_taxonomy(["a", "b"], ["a", "b"], [[1], [0]], root="entity", version="")
    assert taxonomy.ancestors_of(0).tolist() == [1]
    assert taxonomy.ancestors_of(1).tolist() == [0]


similarity_blocks = st.tuples(st.integers(0, 5), st.integers(0, 5)).flatmap(
    lambda shape: st.lists(
        st.sampled_from([0.0, 0.5, 0.79, 0.8, 0.9, 1.0]),
        min_size=shape[0] * shape[1],
        max_size=shape[0] * shape[1],
    ).map(lambda values: np.array(values, dtype=float).reshape(shape))
)


@given(similarity_blocks)
def test_matching_is_one_to_one_eligible_and_greatest(block: np.ndarray) -> None:
    pairs = match_attributes(block, 0.8)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert all(block[pair] >= 0.8 for pair in pairs)
    assert len(pairs) == oracles.most_matches(block >= 0.8)


def test_matching_prefers_more_pairs_then_similarity_then_order() -> None:
    # The best single pair, (0, 0), would cost a pair.
    assert match_attributes(np.array([[1.0, 0.8], [0.8, 0.0]]), 0.8) == [(0, 1), (1, 0)]
    assert match_attributes(np.array([[0.8, 0.9]]), 0.8) == [(0, 1)]
    assert match_attributes(np.array([[0.9, 0.9]]), 0.8) == [(0, 0)]


@pytest.mark.parametrize(
    ("shared", "union", "jaccard", "printed"),
    [(2, 5, 3 / 5, 1 / 2), (0, 4, 1, 1), (1, 1, 0, 1), (3, 3, 0, 1 / 3), (0, 0, 1, 1)],
)
def test_record_distances(shared: float, union: float, jaccard: float, printed: float) -> None:
    counts = np.array([float(shared)]), np.array([float(union)])
    assert record_distances(*counts, distance="jaccard")[0] == jaccard
    assert record_distances(*counts, distance="printed")[0] == printed


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.8])
def test_similar_classes_are_those_of_the_whole_matrix(count: int, threshold: float) -> None:
    matrix = np.random.default_rng(count).random((count, count)).astype(np.float32).round(1)
    np.fill_diagonal(matrix, 0.0)
    names = np.arange(count, dtype=np.int32)
    found = ConceptDistances(names, names, matrix).similar(threshold)
    assert np.array_equal(found.toarray(), (1.0 - matrix >= threshold).astype(np.float32))
    assert found.has_sorted_indices
