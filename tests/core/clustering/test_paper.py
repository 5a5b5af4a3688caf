"""Eq. 9 and Algorithm 3: the folded, sparse version against a literal one on records."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tasks.core.arrays import people_per_label, ragged_of
from tasks.core.choices import Distance
from tasks.core.clustering.paper import (
    cluster_as_printed,
    cluster_nodes,
    node_centroids,
    suppress_small,
)
from tasks.core.records import AttributeSets, RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.pairs import least_set_pairs, paired_matches, record_pairs
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.oracles import paper as oracles

THRESHOLDS = st.sampled_from([0.3, 0.5, 0.8, 1.0])
KINDS = st.sampled_from(["jaccard", "printed"])


def fast_clusters(
    taxonomy: Taxonomy, table: RecordTable, threshold: float, kind: Distance
) -> tuple[list[set[int]], list[int]]:
    """Clusters and centroids of the records that hold attributes, numbered from 0."""
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    sets = distances.in_classes(table.sets)
    least = least_set_pairs(sets, distances.similar(threshold), distance=kind)
    own = table.set_of[table.set_of >= 0]
    bounds = np.searchsorted(own, np.arange(len(table.sets) + 1))
    pairs = record_pairs(least, table.sets, bounds, distance=kind)
    labels = np.repeat(cluster_nodes(pairs), pairs.sizes)
    found = [set(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1)]
    return found, node_centroids(pairs, cluster_nodes(pairs)).tolist()


def literal_clusters(
    taxonomy: Taxonomy, table: RecordTable, threshold: float, kind: Distance
) -> tuple[list[set[int]], list[int]]:
    rows = [table.sets.row(s).tolist() for s in table.set_of[table.set_of >= 0].tolist()]
    distances = {
        (i, j): oracles.record_distance(taxonomy, rows[i], rows[j], threshold=threshold, kind=kind)
        for i, j in combinations(range(len(rows)), 2)
    }
    pairs = oracles.least_pairs(distances, len(rows))
    clusters = oracles.algorithm_3(pairs, len(rows))
    return clusters, [oracles.centroid(cluster, pairs) for cluster in clusters]


@given(st.data(), THRESHOLDS, KINDS)
def test_algorithm_3_equals_the_literal_version(
    data: st.DataObject, threshold: float, kind: Distance
) -> None:
    taxonomy, table = data.draw(tables(threshold=threshold))
    if not len(table.sets):
        return
    assert fast_clusters(taxonomy, table, threshold, kind) == literal_clusters(
        taxonomy, table, threshold, kind
    )


@st.composite
def similar_sets(draw: st.DrawFn) -> tuple[np.ndarray, AttributeSets, list[int]]:
    """Any symmetric similarity, distinct sets over it, and how many records hold each set.

    Real taxonomies seldom give two records of which several attributes are similar crosswise.
    """
    width = draw(st.integers(1, 7))
    similar = np.eye(width, dtype=bool)
    for i, j in combinations(range(width), 2):
        similar[i, j] = similar[j, i] = draw(st.booleans())
    rows = draw(
        st.lists(
            st.sets(st.integers(0, width - 1), min_size=1, max_size=4).map(sorted),
            min_size=1,
            max_size=8,
            unique_by=tuple,
        )
    )
    offsets, values = ragged_of(sorted(rows))
    counts = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    return similar, AttributeSets(offsets, values), counts


@given(similar_sets(), KINDS)
def test_pairs_of_records_equal_eq_9_on_any_similarity(
    case: tuple[np.ndarray, AttributeSets, list[int]], kind: Distance
) -> None:
    similar, sets, counts = case
    rows = [sets.row(index).tolist() for index, n in enumerate(counts) for _ in range(n)]
    distances = {}
    for i, j in combinations(range(len(rows)), 2):
        shared = oracles.most_matches(similar[np.ix_(rows[i], rows[j])])
        union = len(rows[i]) + len(rows[j]) - shared
        score = (union - shared) / union if kind == "jaccard" else 1 / max(shared, 1)
        distances[i, j] = (score, shared)
    matrix = sparse.csr_matrix(similar.astype(np.float32))
    bounds = np.concatenate(([0], np.cumsum(counts)))
    pairs = record_pairs(least_set_pairs(sets, matrix, distance=kind), sets, bounds, distance=kind)
    assert oracles.expanded(pairs) == oracles.least_pairs(distances, len(rows))


@given(st.data(), THRESHOLDS)
def test_paired_matches_equal_brute_force(data: st.DataObject, threshold: float) -> None:
    taxonomy, table = data.draw(tables(threshold=threshold))
    count = len(table.sets)
    if not count:
        return
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    left, right = np.divmod(np.arange(count * count), count)
    shared = paired_matches(
        distances.in_classes(table.sets), distances.similar(threshold), left, right
    )
    expected = [
        oracles.record_distance(
            taxonomy,
            table.sets.row(i).tolist(),
            table.sets.row(j).tolist(),
            threshold=threshold,
            kind="jaccard",
        )[1]
        for i, j in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert shared.tolist() == expected


@pytest.fixture
def flat() -> Taxonomy:
    """Unrelated concepts: nothing is similar to anything else."""
    names = [f"c{n}" for n in range(6)]
    return build_taxonomy(names, names, [[] for _ in names], root="none", version="")


def test_all_equal_records_are_one_cluster(flat: Taxonomy) -> None:
    table = table_of(flat, [(user, [1], [], 0) for user in range(7)])
    assert fast_clusters(flat, table, 0.8, "jaccard") == ([set(range(7))], [0])


def test_all_different_records_are_left_over_together(flat: Taxonomy) -> None:
    table = table_of(flat, [(user, [user], [], 0) for user in range(6)])
    assert fast_clusters(flat, table, 0.8, "jaccard") == ([set(range(6))], [0])


def test_one_record(flat: Taxonomy) -> None:
    table = table_of(flat, [(0, [1], [], 0)])
    assert fast_clusters(flat, table, 0.8, "jaccard") == ([{0}], [0])


def test_people_are_counted_not_rows(flat: Taxonomy) -> None:
    table = table_of(flat, [(0, [1], [], hour) for hour in range(9)])
    distances = measure_concepts(flat, np.unique(table.sets.concepts))
    least = least_set_pairs(
        distances.in_classes(table.sets), distances.similar(0.8), distance="jaccard"
    )
    clusters = cluster_as_printed(table, least, k=2, l=1, distance="jaccard")
    assert clusters.count == 0
    assert clusters.suppressed.all()


ROWS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4), st.integers(0, 3)), min_size=1)


@given(ROWS, st.integers(1, 4), st.integers(1, 3))
def test_small_clusters_are_withheld_and_nothing_else(
    rows: list[tuple[int, int, int]], k: int, least_sets: int
) -> None:
    labels, users, sets = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
    people = [len({u for label, u, _ in rows if label == c}) for c in range(4)]
    variety = [len({s for label, _, s in rows if label == c}) for c in range(4)]
    assert people_per_label(labels, users, 4).tolist() == people
    clusters = suppress_small(labels, users, sets, np.arange(4), k=k, l=least_sets)
    large = [people[c] >= k and variety[c] >= least_sets for c in range(4)]
    assert clusters.suppressed.tolist() == [c >= 0 and not large[c] for c, _, _ in rows]
    assert clusters.centroids.tolist() == [c for c in range(4) if large[c]]
