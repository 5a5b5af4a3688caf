"""Pairs that are cached: none is computed twice, and nothing changes by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.clustering.blocks import compared_sets, cut_into_blocks
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.digests import Keys, byte_keys, row_keys
from tasks.core.records import AttributeSets, Longs, RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.pairs import NO_PAIRS, SetPairs, least_set_pairs
from tasks.core.taxonomy import Taxonomy
from tasks.runtime.pair_cache import (
    BlockCache,
    PairCache,
    PairCounts,
    SetPairCache,
    Values,
    left_to_compare,
)
from tasks.runtime.store import Store
from tests.helpers.many_blocks import SETS_PER_BLOCK, problem_of_many_blocks
from tests.helpers.random_logs import tables
from tests.runtime.examples import MANY_STORES

SECRET = b"s" * 32
UNITS = 24

# Tables of pairs

KEYS = byte_keys((str(unit).encode() for unit in range(UNITS)), SECRET)
VALUES = np.abs(np.subtract.outer(np.arange(UNITS) ** 1.5, np.arange(UNITS) ** 1.5))
TABLE: Values = VALUES.astype(np.float32)


def whole(units: list[int]) -> Values:
    places = np.array(units, dtype=np.int64)
    return TABLE[np.ix_(places, places)]


class Computed:
    """Computes values of some units, and counts the pairs that it was asked for."""

    def __init__(self, units: list[int]) -> None:
        self.units = np.array(units, dtype=np.int64)
        self.pairs: set[frozenset[int]] = set()

    def __call__(self, rows: Longs, columns: Longs) -> Values:
        left, right = self.units[rows], self.units[columns]
        self.pairs |= {frozenset((a, b)) for a in left.tolist() for b in right.tolist() if a != b}
        return TABLE[np.ix_(left, right)]


UNIT_LISTS = st.lists(st.integers(0, UNITS - 1), max_size=UNITS, unique=True)


@MANY_STORES
@given(batches=st.lists(UNIT_LISTS, min_size=1, max_size=12), grow=st.booleans())
def test_a_pair_is_computed_once_while_units_are_added(
    make_store: Callable[[], Store], batches: list[list[int]], grow: bool
) -> None:
    store, known = make_store(), set[frozenset[int]]()
    units: list[int] = []
    for batch in batches:
        units = [*units, *(u for u in batch if u not in units)] if grow else batch
        compute = Computed(units)
        table, counts = PairCache(store, "measure").read(
            KEYS[np.array(units, dtype=np.int64)], compute
        )
        assert np.array_equal(table, whole(units))
        assert counts.computed == len(compute.pairs)
        assert counts.total == len(units) * (len(units) - 1) // 2
        if grow:
            assert not compute.pairs & known
        known |= compute.pairs


def test_nothing_known_is_computed_again(make_store: Callable[[], Store]) -> None:
    store = make_store()
    for units, computed in (([1, 2, 3], 3), ([3, 1], 0), ([2, 4], 1), ([1, 2, 3, 4], 2)):
        _, counts = PairCache(store, "measure").read(
            KEYS[np.array(units, dtype=np.int64)], Computed(units)
        )
        assert counts == PairCounts(computed, len(units) * (len(units) - 1) // 2 - computed)


def test_many_rectangles_become_one(make_store: Callable[[], Store]) -> None:
    store = make_store()
    for end in range(1, UNITS + 1):
        units = list(range(end))
        table, _ = PairCache(store, "measure", most=3).read(
            KEYS[np.array(units, dtype=np.int64)], Computed(units)
        )
        assert np.array_equal(table, TABLE[:end, :end])
        assert len(store.listed("pairs:measure")) <= 4


@MANY_STORES
@given(units=UNIT_LISTS, lost=st.sets(st.integers(0, 20)), data=st.data())
def test_rectangles_may_vanish(
    make_store: Callable[[], Store], units: list[int], lost: set[int], data: st.DataObject
) -> None:
    store = make_store()
    for end in (1 + len(units) // 3, 1 + len(units) // 2, len(units)):
        PairCache(store, "measure").read(
            KEYS[np.array(units[:end], dtype=np.int64)], Computed(units[:end])
        )
    names = [n for name in store.listed("pairs:measure") for n in (name, f"{name}:values")]
    for name in (name for place, name in enumerate(names) if place in lost):
        store.drop(name)
    table, _ = PairCache(store, "measure").read(
        KEYS[np.array(units, dtype=np.int64)], Computed(units)
    )
    assert np.array_equal(table, whole(units))


def test_a_store_without_room_costs_time_only(tmp_path: Path) -> None:
    store = Store(tmp_path, 1)
    units = list(range(UNITS))
    for _ in range(2):
        table, counts = PairCache(store, "measure").read(KEYS, Computed(units))
        assert np.array_equal(table, TABLE)
    assert counts.total == UNITS * (UNITS - 1) // 2


# Least pairs of sets


def prefix(sets: AttributeSets, chosen: Sequence[int]) -> AttributeSets:
    rows = [sets.row(index) for index in chosen]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return AttributeSets(offsets, np.concatenate([*rows, np.zeros(0, np.int32)]))


@MANY_STORES
@given(case=tables(least=2), data=st.data())
def test_least_pairs_of_a_growing_log(
    make_store: Callable[[], Store], case: tuple[Taxonomy, RecordTable], data: st.DataObject
) -> None:
    taxonomy, table = case
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    similar, store = distances.similar(0.5), make_store()
    chosen: set[int] = set()
    compared = 0
    for _ in range(3):
        if len(table.sets):
            chosen |= data.draw(st.sets(st.integers(0, len(table.sets) - 1)))
        sets = prefix(table.sets, sorted(chosen))
        in_classes = distances.in_classes(sets)

        def compare(known: SetPairs | None, new: Longs | None) -> SetPairs:
            return least_set_pairs(in_classes, similar, distance="jaccard", known=known, new=new)  # noqa: B023

        keys = row_keys(sets.offsets, sets.concepts, SECRET)
        found, counts = SetPairCache(store, "measure").read(keys, compare)
        cold = least_set_pairs(in_classes, similar, distance="jaccard")
        for name in ("left", "right", "scores"):
            assert np.array_equal(getattr(found, name), getattr(cold, name)), name
        assert (found.compared, counts.total) == (cold.compared, cold.compared)
        assert counts.reused == compared
        compared = cold.compared


def test_least_pairs_of_few_logs_are_kept(make_store: Callable[[], Store]) -> None:
    """The oldest go first, and only what a kept log is part of needs no comparing."""
    store, sets = make_store(), AttributeSets(np.arange(9), np.arange(8, dtype=np.int32))
    keys, compared = row_keys(sets.offsets, sets.concepts, SECRET), list[int]()

    def compare(known: SetPairs | None, new: Longs | None) -> SetPairs:
        compared.append(8 if new is None else len(new))
        return SetPairs(*NO_PAIRS, compared=1)

    for end in (2, 3, 4, 4):
        SetPairCache(store, "measure", most=2).read(keys[:end], compare)
        assert len(store.listed("least:measure")) <= 2
    assert compared == [8, 1, 1, 0]
    SetPairCache(store, "measure", most=2).read(keys[:2], compare)
    assert compared[-1] == 8, "that of two sets should be gone"


# Costs in blocks


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_of_many_blocks()


def keys_of(problem: Problem) -> Keys:
    return row_keys(problem.costs.offsets, problem.costs.classes, SECRET)


def pairs_in_blocks(problem: Problem, sets_per_block: int) -> int:
    sizes = [
        len(compared_sets(problem.part(block), sets_per_block=sets_per_block))
        for block in cut_into_blocks(problem, sets_per_block=sets_per_block)
    ]
    return sum(size * (size - 1) // 2 for size in sizes)


def test_blocks_are_compared_once_and_found_again(
    make_store: Callable[[], Store], problem: Problem
) -> None:
    store, blocks = make_store(), cut_into_blocks(problem, sets_per_block=SETS_PER_BLOCK)
    whole = pairs_in_blocks(problem, SETS_PER_BLOCK)
    for computed in (whole, 0):
        cache = BlockCache(store, "concepts", sets_per_block=SETS_PER_BLOCK)
        found, counts = cache.compare(problem, keys_of(problem))
        assert (found.problem, counts) == (problem, PairCounts(computed, whole - computed))
        for block, source in zip(blocks, found.sources, strict=True):
            part = problem.part(block)
            assert np.array_equal(source(part), between_sets(part))


def test_blocks_say_how_many_are_compared(
    make_store: Callable[[], Store], problem: Problem
) -> None:
    told: list[tuple[int, int]] = []
    cache = BlockCache(make_store(), "concepts", sets_per_block=SETS_PER_BLOCK)
    found, _ = cache.compare(problem, keys_of(problem), lambda *step: told.append(step))
    count = len(found.sources)
    assert told == [(done, count) for done in range(count + 1)]


def test_costs_that_are_gone_are_computed_again(
    make_store: Callable[[], Store], problem: Problem
) -> None:
    """Between comparing and clustering others may have written, and the limit evicted."""
    store = make_store()
    cache = BlockCache(store, "concepts", sets_per_block=SETS_PER_BLOCK)
    found, _ = cache.compare(problem, keys_of(problem))
    for name in list(store._cache.iterkeys()):
        store.drop(name)
    part = problem.part(cut_into_blocks(problem, sets_per_block=SETS_PER_BLOCK)[0])
    assert np.array_equal(found.sources[0](part), between_sets(part))


def test_what_is_left_to_others_is_counted(problem: Problem) -> None:
    found, counts = left_to_compare(problem, sets_per_block=SETS_PER_BLOCK)
    blocks = cut_into_blocks(problem, sets_per_block=SETS_PER_BLOCK)
    assert found.sources == (between_sets,) * len(blocks)
    assert counts == PairCounts(pairs_in_blocks(problem, SETS_PER_BLOCK), 0)


def test_nothing_is_compared_where_nothing_can_be_clustered(
    make_store: Callable[[], Store], problem: Problem
) -> None:
    few = replace(problem, k=10_000)
    for found, counts in (
        left_to_compare(few, sets_per_block=SETS_PER_BLOCK),
        BlockCache(make_store(), "concepts").compare(few, keys_of(few)),
    ):
        assert (found.sources, counts) == ((), PairCounts(0, 0))
