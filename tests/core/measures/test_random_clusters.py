"""The baseline of Figure 6: random classes of the same sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information import information_kept
from tasks.core.measures.random_clusters import PERMUTATIONS, compare_with_random
from tasks.core.records import TIME_NONE, Longs, RecordTable, Release
from tasks.core.rows.levels import item_levels
from tasks.core.rows.told import release_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import Log, hard_logs
from tests.helpers.random_logs import table_of

BRANCHES = 6


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    """entity over six branches, each over two concepts."""
    above = [[], *([0] for _ in range(BRANCHES)), *([1 + i // 2] for i in range(2 * BRANCHES))]
    names = [f"c{place}" for place in range(len(above))]
    return build_taxonomy(names, names, above, root="c0", version="")


def released(table: RecordTable, taxonomy: Taxonomy, class_of: Longs) -> Release:
    levels = item_levels(table, taxonomy)
    return release_of(table, class_of, levels, k=2, precision=TIME_NONE, senses=False)


def branch_rows(taxonomy: Taxonomy, each: int) -> tuple[RecordTable, Release]:
    """People who ask for things of one branch, in classes by branch."""
    leaves = range(1 + BRANCHES, 1 + 3 * BRANCHES)
    table = table_of(taxonomy, [(user, [leaf], [], 0) for leaf in leaves for user in range(each)])
    labels = (table.sets.concepts[table.sets.offsets[table.set_of]] - 1 - BRANCHES) // 2
    return table, released(table, taxonomy, labels.astype(np.int64))


def one_class(table: RecordTable, taxonomy: Taxonomy) -> Release:
    return released(table, taxonomy, np.zeros(len(table), dtype=np.int64))


def test_classes_that_mean_something_keep_more_than_random_ones(taxonomy: Taxonomy) -> None:
    table, release = branch_rows(taxonomy, each=5)
    found = compare_with_random(table, release, item_levels(table, taxonomy))
    assert (found["clusters"], found["records"], found["of_records"]) == (6, 60, 60)
    assert len(found["random_percent"]) == PERMUTATIONS
    # Each of the ten records of a class tells its branch of the ten bits that it holds.
    assert found["own_percent"] == pytest.approx(100 * taxonomy.information[1] / 10, abs=1e-3)
    assert found["own_percent"] > 2 * max(found["random_percent"])


def test_a_small_case_by_hand(taxonomy: Taxonomy) -> None:
    """Alone, each is told as typed; together two of one branch tell it, two of two nothing."""
    for leaves, bits in (((7, 8), float(taxonomy.information[1])), ((7, 9), 0.0)):
        table = table_of(taxonomy, [(user, [leaf], [], 0) for user, leaf in enumerate(leaves)])
        levels = item_levels(table, taxonomy)
        apart = compare_with_random(table, released(table, taxonomy, np.arange(2)), levels)
        assert (apart["own_percent"], set(apart["random_percent"])) == (100.0, {100.0})
        together = compare_with_random(table, one_class(table, taxonomy), levels)
        assert together["own_percent"] == pytest.approx(100 * bits / 10.0, abs=1e-3)
        assert set(together["random_percent"]) == {together["own_percent"]}


@settings(max_examples=60)
@given(hard_logs(), st.data())
def test_of_a_log_told_whole_as_much_is_kept_as_its_measure_says(
    log: Log, data: st.DataObject
) -> None:
    taxonomy, table = log
    labels = np.array([data.draw(st.integers(0, 2)) for _ in range(len(table))], dtype=np.int64)
    class_of = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    # So many people that no concept is called by a word, which would tell more.
    levels = item_levels(table, taxonomy)
    release = release_of(table, class_of, levels, k=99, precision=TIME_NONE, senses=False)
    topics = TopicMap((), np.zeros(len(taxonomy), dtype=np.uint32))
    measured = information_kept(table, release, taxonomy, topics, finest=TIME_NONE)
    found = compare_with_random(table, release, levels)
    assert found["own_percent"] == pytest.approx(measured.kept_percent, abs=1e-3)


def test_the_same_seed_keeps_the_same(taxonomy: Taxonomy) -> None:
    table, release = branch_rows(taxonomy, each=2)
    levels = item_levels(table, taxonomy)
    first, again = (compare_with_random(table, release, levels) for _ in range(2))
    assert first == again


def test_of_many_small_classes_some_are_taken_whole(taxonomy: Taxonomy) -> None:
    table, release = branch_rows(taxonomy, each=5)
    found = compare_with_random(table, release, item_levels(table, taxonomy), most_records=30)
    assert 0 < found["records"] < 60
    assert found["records"] == 10 * found["clusters"]


def test_of_a_large_class_some_records_are_taken(taxonomy: Taxonomy) -> None:
    table, _ = branch_rows(taxonomy, each=100)
    release, levels = one_class(table, taxonomy), item_levels(table, taxonomy)
    found = compare_with_random(table, release, levels, most_records=300)
    assert found["clusters"] == 1
    assert 200 < found["records"] < 400


def test_nothing_published_keeps_nothing(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [7], [], 0)])
    nothing = released(table, taxonomy, np.full(1, -1, dtype=np.int64))
    found = compare_with_random(table, nothing, item_levels(table, taxonomy))
    assert (found["clusters"], found["records"], found["own_percent"]) == (0, 0, 0.0)
    assert found["random_percent"] == []
