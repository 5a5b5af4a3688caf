"""A log redacted in shards: the same release whoever redacts them, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tasks.redacting import FEWEST_SHARDS, redact_shard
from tasks.runtime.shards import SharedRun
from tasks.runtime.workers import blocks_run
from tasks.workbench import Workbench

from tasks import phases
from tasks.adapters.resources import wordnet
from tasks.core.records import Release
from tasks.core.redaction import parts
from tasks.core.starmap import Starmap
from tasks.runtime.codec import name_of
from tasks.runtime.progress import Progress, silent
from tasks.runtime.remote import SharedFiles
from tasks.settings import SAMPLE_LOG, Settings
from tests.core.redaction.test_parts import as_a_whole, differences
from tests.test_shards import Here


@pytest.fixture(scope="module")
def bench(store: Path) -> Workbench:
    """The sample, clustered."""
    made = Workbench(Settings(logs=(str(SAMPLE_LOG),), store=str(store), scope="all", workers=1))
    made.result("cluster")
    return made


@pytest.fixture
def shards(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many small shards there are."""
    monkeypatch.setattr(parts, "MOST_RECORDS", 200)
    return len(parts.cut_into_parts(bench.result("cluster").labels))


def redacted(bench: Workbench, workers: int = 1, progress: Progress = silent) -> Release:
    settings = replace(bench.settings, workers=workers)
    table, comparison = bench.result("analyse"), bench.result("compare")
    return phases.redact(settings, table, comparison, bench.result("cluster"), progress)


@pytest.fixture(scope="module")
def at_once(bench: Workbench) -> Release:
    """The release of the log that was not cut, scrubbed as all are."""
    chosen = bench.settings
    taxonomy = wordnet(chosen.store).taxonomy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            phases,
            "_redacted_strictly",
            lambda settings, table, clusters, progress: as_a_whole(
                table, clusters, taxonomy, settings.k, settings.inclusive
            ),
        )
        return redacted(bench)


@pytest.mark.parametrize("workers", [1, 2])
def test_shards_publish_what_the_log_does_at_once(
    bench: Workbench, at_once: Release, shards: int, workers: int
) -> None:
    assert shards >= FEWEST_SHARDS
    assert differences(redacted(bench, workers), at_once) == []


def test_shards_elsewhere_publish_the_same(
    bench: Workbench, at_once: Release, shards: int, tmp_path: Path
) -> None:
    files, engine = SharedFiles(str(tmp_path)), Here()

    @contextmanager
    def elsewhere() -> Iterator[Starmap]:
        yield SharedRun(files, engine, shards)

    with blocks_run(elsewhere):
        assert differences(redacted(bench), at_once) == []
    assert engine.functions == [name_of(redact_shard)] * shards


def test_few_shards_are_redacted_here(
    bench: Workbench, at_once: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other processes would take longer to get ready."""

    def nobody(workers: int) -> Any:
        raise AssertionError

    labels = bench.result("cluster").labels
    monkeypatch.setattr(parts, "MOST_RECORDS", int((labels >= 0).sum()) * 2 // 5)
    monkeypatch.setattr(phases, "running_blocks", nobody)
    assert len(parts.cut_into_parts(labels)) == FEWEST_SHARDS - 1
    assert differences(redacted(bench, 2), at_once) == []


def test_redaction_says_how_many_records_are_done(bench: Workbench, shards: int) -> None:
    told: list[tuple[int, int]] = []
    redacted(bench, progress=lambda done, total: told.append((done, total)))
    done = [step for step, _ in told]
    count = len(bench.result("analyse"))
    assert (done[0], done[-1], len(done)) == (0, count, shards + 2)
    assert sorted(set(done)) == done
    assert {total for _, total in told} == {count}


def test_a_bench_watches_its_redaction(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(bench, "progress", lambda done, total: told.append(total))
    bench._redact()
    assert set(told) == {len(bench.result("analyse"))}
