"""A log redacted in parts: the same release whoever redacts them, and how far it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.resources import wordnet
from tasks.core.part_sizes import PartSizes
from tasks.core.records import PRECISIONS, Release
from tasks.core.redaction.parts import cut_into_parts
from tasks.core.redaction.scrubbing import scrub
from tasks.phases.redact import RECORDS_PER_SECOND, redact_part_strictly, redact_records
from tasks.runtime.codec import name_of
from tasks.runtime.executor import Executor, LocalExecutor
from tasks.runtime.progress import Progress, silent
from tasks.runtime.remote import RemoteExecutor, SharedFiles
from tasks.runtime.results import Nothing, Result
from tasks.settings import SAMPLE_LOG, Settings
from tests.core.redaction.test_parts import as_a_whole, differences
from tests.helpers.executors import Here
from tests.phases.materials import Made, made_of

SMALL = PartSizes(records_per_part=200)


@pytest.fixture(scope="module")
def made(store: Path) -> Made:
    """The sample, clustered."""
    return made_of(Settings(logs=(str(SAMPLE_LOG),), store=str(store), scope="all", workers=1))


@pytest.fixture(scope="module")
def parts(made: Made) -> int:
    """How many small parts there are."""
    labels = made.clustering.clusters.labels
    return len(cut_into_parts(labels, records_per_part=SMALL.records_per_part))


def redacted(made: Made, executor: Executor, progress: Progress = silent) -> Release:
    def compare_again() -> Any:
        raise AssertionError

    job = replace(made.job, executor=executor, progress=progress, sizes=SMALL)
    compared: Result[Any] = Result("compare", "", compare_again, Nothing(), str)
    return redact_records(job, made.table, compared, made.clustering)


@pytest.fixture(scope="module")
def at_once(made: Made) -> Release:
    """The release of the log that was not cut, scrubbed as all are."""
    chosen = made.job.settings
    whole = as_a_whole(
        made.table,
        made.clustering.clusters,
        wordnet(chosen.store).taxonomy,
        chosen.k,
        chosen.inclusive,
        PRECISIONS[chosen.time],
    )
    return scrub(whole, made.table.words, load_identifier_finder(Path(chosen.store)).find)


def test_large_parts_publish_what_the_log_does_at_once(made: Made, at_once: Release) -> None:
    assert differences(made.release, at_once) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_parts_publish_what_the_log_does_at_once(
    made: Made, at_once: Release, parts: int, workers: int
) -> None:
    assert parts > 2
    assert differences(redacted(made, LocalExecutor(workers, ready_seconds=0)), at_once) == []


def test_parts_elsewhere_publish_the_same(
    made: Made, at_once: Release, parts: int, tmp_path: Path
) -> None:
    engine = Here()
    executor = RemoteExecutor(
        SharedFiles(str(tmp_path)), engine, 1, ready_seconds=0, tasks_per_worker=parts
    )
    assert differences(redacted(made, executor), at_once) == []
    assert engine.functions == [name_of(redact_part_strictly)] * parts


def test_few_records_are_redacted_here(made: Made, at_once: Release) -> None:
    """Other processes would take longer to get ready."""

    def nobody(*given: Any) -> Any:
        raise AssertionError

    seconds = len(made.table) / RECORDS_PER_SECOND
    executor = RemoteExecutor(SharedFiles("memory://few"), nobody, 2, ready_seconds=seconds * 1.1)
    assert differences(redacted(made, executor), at_once) == []
    with pytest.raises(AssertionError):
        redacted(made, RemoteExecutor(SharedFiles("memory://few"), nobody, 2, ready_seconds=0))


def test_redaction_says_how_many_records_are_done(made: Made, parts: int) -> None:
    told: list[tuple[int, int]] = []
    redacted(made, LocalExecutor(1), lambda done, total: told.append((done, total)))
    done = [step for step, _ in told]
    count = len(made.table)
    assert (done[0], done[-1], len(done)) == (0, count, parts + 2)
    assert sorted(set(done)) == done
    assert {total for _, total in told} == {count}
