"""Measures and distances in shards: the figures of one piece, whoever works on which shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tasks.measuring import measure
from tasks.runtime.memory import open_memory
from tasks.runtime.workers import blocks_run, running_shards
from tasks.workbench import Workbench

from tasks import phases
from tasks.adapters.resources import knowledge_in
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information_loss import information_loss, loss_of, loss_sums, shown_rows
from tasks.core.measures.random_clusters import (
    Permutation,
    Scene,
    compare_with_random,
    permutation_cost,
)
from tasks.core.records import RecordTable
from tasks.core.similarity import pairs
from tasks.core.similarity.concepts import class_distances, measure_concepts
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.distances import concept_distances
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.similarity.pairs import SetPairs, least_set_pairs, paired_matches
from tasks.core.starmap import Result, serial
from tasks.core.taxonomy import Taxonomy
from tasks.runtime.codec import name_of, named, pack, unpack
from tasks.runtime.remote import SharedFiles
from tasks.settings import Settings
from tests import oracles
from tests.core.measures.test_information_loss import one_cluster, publishing
from tests.random_logs import tables
from tests.small_shards import small
from tests.strategies import logs
from tests.test_shards import Here, sharing

SIZES = st.integers(1, 12)


def through_bytes(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """A run that sends all it is given, and what comes of it, as shards are sent."""
    call = named(name_of(function))
    return (unpack(pack(call(*unpack(pack(own))))) for own in arguments)


# One shard or many


def columns(found: SetPairs) -> list[list[float]]:
    return [found.left.tolist(), found.right.tolist(), found.scores.tolist(), [found.compared]]


@settings(max_examples=40)
@given(logs(), st.sampled_from([0.3, 0.8]), SIZES, st.data())
def test_least_pairs_do_not_depend_on_shards(
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
def test_matches_do_not_depend_on_shards(
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
def test_the_centre_does_not_depend_on_shards(log: tuple[Taxonomy, RecordTable], size: int) -> None:
    taxonomy, table = log
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    own = SetCosts.of(table.sets, distances)
    counts = np.bincount(table.set_of, minlength=len(table.sets))
    totals = [float(own.to(own.row(index)) @ counts) for index in range(len(own))]
    frequent = sorted(range(len(own)), key=lambda index: (-counts[index], index))
    slow = min(frequent, key=lambda index: round(totals[index], 6))
    assert dataset_centre(own, counts, through_bytes, sets_per_part=size) == slow
    assert dataset_centre(own, counts) == slow


@settings(max_examples=40)
@given(tables(), SIZES, st.data())
def test_the_loss_adds_up_over_shards(
    log: tuple[Taxonomy, RecordTable], size: int, data: st.DataObject
) -> None:
    taxonomy, table = log
    release = publishing(table, [data.draw(st.integers(0, len(taxonomy) - 1))])
    masks = data.draw(st.lists(st.integers(0, 3), min_size=len(taxonomy), max_size=len(taxonomy)))
    topics = TopicMap(("one", "two"), np.array(masks, dtype=np.uint32))
    centre = np.array([data.draw(st.integers(0, len(taxonomy) - 1))], dtype=np.int32)
    whole = information_loss(table, release, centre, taxonomy, topics, inclusive=False)
    parts = [unpack(pack(rows)) for rows in shown_rows(table, release, rows_per_part=size)]
    assert sum(int(rows.counts.sum()) for rows in parts) == int((table.set_of >= 0).sum())
    sums = [loss_sums(rows, centre, taxonomy, topics, inclusive=False) for rows in parts]
    found = asdict(loss_of((unpack(pack(own)) for own in sums), topics))
    assert found.pop("by_topic") == pytest.approx(whole.by_topic)
    assert found == pytest.approx({k: v for k, v in asdict(whole).items() if k != "by_topic"})


@settings(max_examples=20)
@given(tables())
def test_permutations_cost_elsewhere_what_they_cost_here(
    log: tuple[Taxonomy, RecordTable],
) -> None:
    taxonomy, table = log
    scene, centre = Scene(table, taxonomy, False), np.array([0], dtype=np.int32)

    def price(permutations: Iterable[Permutation]) -> list[float]:
        sent = (unpack(pack(own)) for own in permutations)
        return [permutation_cost(own, taxonomy, inclusive=False) for own in sent]

    clusters = one_cluster(table)
    assert compare_with_random(scene, clusters, centre, price) == compare_with_random(
        scene, clusters, centre
    )


@pytest.mark.parametrize("inclusive", [False, True])
def test_distances_do_not_depend_on_parts(store: Path, inclusive: bool) -> None:
    taxonomy = knowledge_in(str(store), None).taxonomy
    left = np.arange(0, 80_000, 997, dtype=np.int32)
    right = np.concatenate([left[::3], np.arange(5, 80_000, 1499, dtype=np.int32)])
    for others in (left, right):
        whole = concept_distances(taxonomy, left, others, inclusive=inclusive)
        found = class_distances(taxonomy, left, others, inclusive=inclusive, concepts_per_part=32)
        assert np.array_equal(found, whole.astype(np.float32))


# One process, two, or an engine


def make_of(number: int, offset: int) -> int:
    return number + offset


def test_a_call_that_is_alone_needs_no_worker() -> None:
    started = []

    def engine() -> AbstractContextManager[Any]:
        started.append("")
        return nullcontext(serial)

    with blocks_run(engine), running_shards(2) as run:
        assert list(run(make_of, iter([]))) == []
        assert list(run(make_of, iter([(1, 2)]))) == [3]
        assert started == []
        assert list(run(make_of, ((n, 1) for n in range(3)))) == [1, 2, 3]
        assert list(run(make_of, ((n, 2) for n in range(3)))) == [2, 3, 4]
    assert len(started) == 1


def ways(plain: Settings, new_store: Callable[[], Path]) -> Iterator[Settings]:
    """The same settings on new stores, each with somebody else to work on shards."""
    for workers in (1, 2):
        yield replace(plain, store=str(new_store()), shared="", workers=workers)
    elsewhere = replace(plain, store=str(new_store()), shared="", runner="dask")
    engine = Here()
    with blocks_run(lambda: sharing(SharedFiles(elsewhere.shared), engine)):
        yield elsewhere
    assert engine.done > 2


def flat(value: Any, place: str = "") -> dict[str, float]:
    """All numbers of measures by their place."""
    if not isinstance(value, dict | list):
        return {} if value is None or isinstance(value, str) else {place: value}
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    return {k: v for key, each in entries for k, v in flat(each, f"{place}/{key}").items()}


def test_the_same_measures_whoever_measures(
    store: Path, new_store: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(Settings(store=str(store), workers=1))
    made = [bench.result(p) for p in ("read", "analyse", "compare", "cluster", "redact")]
    in_one_piece = measure(bench.settings, *made)
    small(monkeypatch)
    found, steps = [], []
    for chosen in ways(bench.settings, new_store):
        told: list[tuple[int, int]] = []
        found.append(measure(chosen, *made, progress=lambda *step: told.append(step)))  # noqa: B023
        steps.append(told)
    assert found[0] == found[1] == found[2]
    assert flat(found[0]) == pytest.approx(flat(in_one_piece), rel=1e-12)
    assert steps[0] == steps[1] == steps[2]
    done, total = zip(*steps[0], strict=True)
    assert (done[0], done[-1], {*total}) == (0, total[0], {total[0]})


def test_the_same_pairs_whoever_compares(
    store: Path, new_store: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Workbench(Settings(store=str(store), workers=1, method="paper"))
    table, in_one_piece = bench.result("analyse"), bench.result("compare").set_pairs
    small(monkeypatch)
    for chosen in ways(bench.settings, new_store):
        found = phases.compare(chosen, open_memory(chosen), table)
        assert found.set_pairs is not None
        assert found.records.computed == in_one_piece.compared
        assert columns(found.set_pairs) == columns(in_one_piece)
