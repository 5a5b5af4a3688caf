"""Distances, pairs and centres in parts: the same whatever the parts are and whoever works."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.adapters.resources import wordnet
from tasks.core.records import RecordTable
from tasks.core.similarity import pairs
from tasks.core.similarity.concepts import class_distances, measure_concepts
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.distances import concept_distances
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.similarity.pairs import SetPairs, least_set_pairs, paired_matches
from tasks.core.taxonomy import Taxonomy
from tests.helpers.executors import through_bytes
from tests.helpers.strategies import logs
from tests.oracles import paper as oracles

SIZES = st.integers(1, 12)


def columns(found: SetPairs) -> list[list[float]]:
    return [found.left.tolist(), found.right.tolist(), found.scores.tolist(), [found.compared]]


@settings(max_examples=40)
@given(logs(), st.sampled_from([0.3, 0.8]), SIZES, st.data())
def test_least_pairs_do_not_depend_on_parts(
    log: tuple[Taxonomy, RecordTable], threshold: float, size: int, data: st.DataObject
) -> None:
    taxonomy, table = log
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    sets, similar = distances.in_classes(table.sets), distances.similar(threshold)
    whole = least_set_pairs(sets, similar, distance="jaccard")
    new = np.array(sorted(data.draw(st.sets(st.integers(0, len(sets) - 1)))), dtype=np.int64)
    compare = partial(
        least_set_pairs,
        sets,
        similar,
        distance="jaccard",
        starmap=through_bytes,
        pairs_per_part=10 * size,
    )
    found, grown = compare(), compare(known=whole, new=new)
    assert columns(found) == columns(whole)
    # Known pairs with a new set come again: whatever is least is among them.
    assert {*zip(*columns(grown)[:3], strict=True)} == {*zip(*columns(whole)[:3], strict=True)}


def test_parts_of_rows_hold_about_as_many_pairs() -> None:
    every = np.arange(100)
    parts = list(pairs._parts_of_rows(every, every, 1000))
    assert np.concatenate([rows for rows, _ in parts]).tolist() == every.tolist()
    held = [int((rows[:, None] < behind).sum()) for rows, behind in parts]
    assert len(held) == pairs.parts_of_pairs(100, 1000) == 5
    assert max(held) < 1000 + 100
    assert min(held[:-1]) > 1000 - 100


@settings(max_examples=40)
@given(logs(), SIZES, st.data())
def test_matches_do_not_depend_on_parts(
    log: tuple[Taxonomy, RecordTable], size: int, data: st.DataObject
) -> None:
    taxonomy, table = log
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    sets, similar = distances.in_classes(table.sets), distances.similar(0.3)
    index = st.integers(0, len(sets) - 1)
    chosen = data.draw(st.lists(st.tuples(index, index), max_size=30))
    left, right = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    near = similar.toarray() > 0
    slow = [oracles.most_matches(near[np.ix_(sets.row(a), sets.row(b))]) for a, b in chosen]
    found = paired_matches(sets, similar, left, right, starmap=through_bytes, matches_per_part=size)
    assert found.tolist() == paired_matches(sets, similar, left, right).tolist() == slow


@given(logs(), SIZES)
def test_the_centre_does_not_depend_on_parts(log: tuple[Taxonomy, RecordTable], size: int) -> None:
    taxonomy, table = log
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    own = SetCosts.of(table.sets, distances)
    counts = np.bincount(table.set_of, minlength=len(table.sets))
    totals = [float(own.to(own.row(index)) @ counts) for index in range(len(own))]
    frequent = sorted(range(len(own)), key=lambda index: (-counts[index], index))
    slow = min(frequent, key=lambda index: round(totals[index], 6))
    assert dataset_centre(own, counts, through_bytes, sets_per_part=size) == slow
    assert dataset_centre(own, counts) == slow


@pytest.mark.parametrize("inclusive", [False, True])
def test_distances_do_not_depend_on_parts(store: Path, inclusive: bool) -> None:
    taxonomy = wordnet(str(store)).taxonomy
    left = np.arange(0, 80_000, 997, dtype=np.int32)
    right = np.concatenate([left[::3], np.arange(5, 80_000, 1499, dtype=np.int32)])
    for others in (left, right):
        whole = concept_distances(taxonomy, left, others, inclusive=inclusive)
        found = class_distances(taxonomy, left, others, inclusive=inclusive, concepts_per_part=32)
        assert np.array_equal(found, whole.astype(np.float32))
