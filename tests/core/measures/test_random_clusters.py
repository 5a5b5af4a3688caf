"""The baseline of Figure 6: random clusters of the same sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.measures.random_clusters import PERMUTATIONS, Scene, compare_with_random
from tasks.core.records import Clusters, Ints, RecordTable
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.measures.test_information_loss import one_cluster
from tests.helpers.random_logs import table_of, tables

BRANCHES = 6


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """entity over six branches, each over two concepts."""
    above = [[], *([0] for _ in range(BRANCHES)), *([1 + i // 2] for i in range(2 * BRANCHES))]
    names = [f"c{place}" for place in range(len(above))]
    return build_taxonomy(names, names, above, root="c0", version="")


def branch_rows(taxonomy: Taxonomy, each: int) -> tuple[RecordTable, Clusters]:
    """People who ask for things of one branch, clustered by branch."""
    leaves = range(1 + BRANCHES, 1 + 3 * BRANCHES)
    table = table_of(taxonomy, [(user, [leaf], [], 0) for leaf in leaves for user in range(each)])
    labels = (table.sets.concepts[table.sets.offsets[table.set_of]] - 1 - BRANCHES) // 2
    return table, clusters_of(labels.astype(np.int32))


def clusters_of(labels: Ints) -> Clusters:
    first = np.unique(labels[labels >= 0], return_index=True)[1]
    return Clusters(
        labels=labels,
        suppressed=np.zeros(len(labels), dtype=np.bool_),
        centroids=first.astype(np.int32),
    )


def centre(taxonomy: Taxonomy) -> Ints:
    return np.array([len(taxonomy) - 1], dtype=np.int32)


def test_clusters_that_mean_something_lose_less_than_random_ones(taxonomy: Taxonomy) -> None:
    table, clusters = branch_rows(taxonomy, each=5)
    found = compare_with_random(Scene(table, taxonomy, False), clusters, centre(taxonomy))
    assert (found["clusters"], found["records"], found["of_records"]) == (6, 60, 60)
    assert len(found["random_percent"]) == PERMUTATIONS
    assert found["own_percent"] < min(found["random_percent"]) / 2


def test_the_loss_of_a_small_case_by_hand(taxonomy: Taxonomy) -> None:
    """Two clusters of one leaf each lose nothing; the other way round each pays for one leaf."""
    table = table_of(taxonomy, [(0, [7], [], 0), (1, [9], [], 0)])
    apart = clusters_of(np.array([0, 1], dtype=np.int32))
    scene = Scene(table, taxonomy, False)
    found = compare_with_random(scene, apart, np.array([7], dtype=np.int32))
    assert (found["own_percent"], set(found["random_percent"])) == (0.0, {0.0})
    # Together they publish one leaf: δ = 1 to the other, lost and made up; so does the centre.
    together = compare_with_random(scene, one_cluster(table), np.array([7], dtype=np.int32))
    assert together["own_percent"] == 100.0


def test_the_same_seed_gives_the_same_loss(taxonomy: Taxonomy) -> None:
    table, clusters = branch_rows(taxonomy, each=3)
    scene = Scene(table, taxonomy, False)
    first, again = (compare_with_random(scene, clusters, centre(taxonomy)) for _ in range(2))
    assert first == again


def test_of_many_small_clusters_some_are_taken_whole(taxonomy: Taxonomy) -> None:
    table, clusters = branch_rows(taxonomy, each=5)
    scene = Scene(table, taxonomy, False)
    found = compare_with_random(scene, clusters, centre(taxonomy), most_records=30)
    assert 0 < found["records"] < 60
    assert found["records"] == 10 * found["clusters"]


def test_of_a_large_cluster_some_records_are_taken(taxonomy: Taxonomy) -> None:
    table, _ = branch_rows(taxonomy, each=100)
    scene, clusters = Scene(table, taxonomy, False), one_cluster(table)
    found = compare_with_random(scene, clusters, centre(taxonomy), most_records=300)
    assert found["clusters"] == 1
    assert 200 < found["records"] < 400


def test_no_cluster_loses_nothing(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [7], [], 0)])
    none = clusters_of(np.array([-1], dtype=np.int32))
    found = compare_with_random(Scene(table, taxonomy, False), none, centre(taxonomy))
    assert (found["clusters"], found["records"], found["own_percent"]) == (0, 0, 0.0)
    assert found["random_percent"] == []


@given(tables(), st.integers(1, 20))
def test_any_log_can_be_compared(log: tuple[Taxonomy, RecordTable], most: int) -> None:
    taxonomy, table = log
    clusters = one_cluster(table)
    found = compare_with_random(
        Scene(table, taxonomy, False), clusters, np.array([0], dtype=np.int32), most_records=most
    )
    assert found["records"] <= found["of_records"]
    assert all(percent >= 0 for percent in [found["own_percent"], *found["random_percent"]])
