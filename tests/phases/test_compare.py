"""The pairs of one piece, whoever compares which part; none is computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tasks.core.clustering.problem import between_sets
from tasks.core.part_sizes import PartSizes
from tasks.core.similarity.pairs import SetPairs
from tasks.phases.analyse import analyse
from tasks.phases.compare import compare, compare_records, comparison_fingerprint, pair_counts
from tasks.phases.job import open_store
from tasks.phases.read import read
from tasks.runtime.pair_cache import PairCounts, StoredCosts
from tasks.settings import Settings
from tests.helpers.executors import Here, each_executor, elsewhere, small_parts
from tests.helpers.releases import job_of
from tests.phases.materials import Made, made_of


def columns(found: SetPairs | None) -> list[list[float]]:
    assert found is not None
    return [found.left.tolist(), found.right.tolist(), found.scores.tolist(), [found.compared]]


@pytest.fixture(scope="module")
def by_paper(store: Path) -> Made:
    return made_of(Settings(store=str(store), workers=1, method="paper"))


def test_the_same_pairs_whoever_compares(
    by_paper: Made, new_store: Callable[[], Path], tmp_path: Path
) -> None:
    in_one_piece = by_paper.comparison
    assert in_one_piece.set_pairs is not None
    with each_executor(tmp_path) as executors:
        for executor in executors:
            settings = replace(by_paper.job.settings, store=str(new_store()), shared="")
            store = open_store(settings)
            told: list[tuple[int, int]] = []
            job = replace(
                by_paper.job,
                settings=settings,
                store=store,
                executor=executor,
                sizes=small_parts(),
                progress=lambda *step: told.append(step),  # noqa: B023
            )
            found = compare_records(job, by_paper.table)
            assert found.records == PairCounts(in_one_piece.set_pairs.compared, 0)
            assert columns(found.set_pairs) == columns(in_one_piece.set_pairs)
            assert np.array_equal(found.distances.matrix, in_one_piece.distances.matrix)
            assert len(told) > 5
            assert told[-1] == (told[-1][1], told[-1][1])


def test_blocks_are_compared_here_or_left_to_other_machines(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    """Either way as many pairs are counted, and of each block the same costs are found."""
    sizes = PartSizes(sets_per_block=60)
    settings = Settings(store=str(new_store()), workers=1, method="mdav")
    here, there = job_of(settings, sizes=sizes), elsewhere(tmp_path, Here())
    table = analyse(here, read(here)).value
    first, again = compare_records(here, table), compare_records(here, table)
    left = compare_records(replace(here, executor=there), table)
    assert first.blocks is not None
    assert left.blocks is not None
    assert len(first.blocks.sources) == len(left.blocks.sources) > 2
    assert {type(source) for source in first.blocks.sources} == {StoredCosts}
    assert {*left.blocks.sources} == {between_sets}
    assert first.records == left.records == PairCounts(left.records.computed, 0)
    assert again.records == PairCounts(0, first.records.computed)
    assert again.attributes == PairCounts(0, first.attributes.computed)


def test_blocks_of_another_size_are_another_comparison(store: Path) -> None:
    settings = Settings(store=str(store), workers=1)
    found = {
        comparison_fingerprint(job_of(settings, sizes=sizes))
        for sizes in (PartSizes(), PartSizes(sets_per_block=60), small_parts())
    }
    assert len(found) == 2


def test_adaptive_compares_concepts_alone(store: Path) -> None:
    job = job_of(Settings(store=str(store), workers=1))
    found = compare_records(job, analyse(job, read(job)).value)
    assert found.blocks is None
    assert found.set_pairs is None
    assert found.attributes.total > 0
    assert found.records == PairCounts(0, 0)


def test_pairs_of_a_known_comparison_count_as_reused(new_store: Callable[[], Path]) -> None:
    settings = Settings(store=str(new_store()), workers=1, method="mdav")
    job = job_of(settings)
    table = analyse(job, read(job))
    first = compare(job, table)
    first.ensure()
    computed = pair_counts(job, first)
    again = compare(job, table)
    assert again.is_known
    assert not again.is_at_hand
    reused = pair_counts(job, again)
    for kind in ("attributes", "records"):
        assert computed[f"{kind}_computed"] > 0
        assert reused[f"{kind}_reused"] == computed[f"{kind}_computed"]
        assert reused[f"{kind}_computed"] == computed[f"{kind}_reused"] == 0
