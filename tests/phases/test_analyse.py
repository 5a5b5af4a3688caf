"""Texts are read alike in one process, in several, and where they stand; none comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from traceback import format_exception
from typing import Any

import numpy as np
import pytest

from tasks.adapters.detection.text_reader import (
    LogRows,
    TextReader,
    get_ready,
    places_of,
    read_in_parts,
    read_rows_of_part,
    read_texts_of_part,
    reading_fingerprint,
    text_pipeline,
    texts_per_part,
)
from tasks.adapters.logs.reader import read_logs, texts_at
from tasks.adapters.resources import resources_in
from tasks.core.detection.readings import join_readings
from tasks.core.log_options import LogOptions
from tasks.core.texts import Texts
from tasks.errors import InputError, StillChanging, UnexpectedError, UsageError
from tasks.phases.analyse import analyse_log
from tasks.phases.read import read_files
from tasks.runtime.codec import pack
from tasks.runtime.executor import LocalExecutor
from tasks.runtime.progress import silent
from tasks.settings import SAMPLE_LOG, Settings
from tests.helpers.executors import Here, elsewhere
from tests.helpers.releases import job_of

TEXTS = ["lung cancer cure", "john smith springfield", "", "call 212-736-5000", "used cars", "flu"]
ALL = Texts.of(TEXTS), np.arange(len(TEXTS))
A_LOT = 1000.0


def test_one_and_two_workers_read_the_same(store: Path) -> None:
    reader = TextReader(str(store), None, "sensitive", None)
    found, steps = [], []
    for workers in (1, 2):
        told: list[tuple[int, int]] = []
        with LocalExecutor(workers).running(A_LOT) as run:
            parts = read_in_parts(reader, *ALL, run, lambda *step: told.append(step), most=2)  # noqa: B023
            readings = join_readings(list(parts), len(TEXTS))
        found.append({f.name: getattr(readings, f.name).tolist() for f in fields(readings)})
        steps.append(told)
    assert found[0] == found[1]
    assert len(readings) == len(TEXTS)
    assert steps == [[(2, 6), (4, 6), (6, 6)]] * 2


@pytest.mark.parametrize("workers", [1, 2])
def test_no_text_comes_out_of_a_worker_that_fails(store: Path, workers: int) -> None:
    reader = TextReader(str(store), None, "sensitive", None)
    texts: list[Any] = ["zyxwvcanary", b"zyxwvcanary"]
    with LocalExecutor(workers).running(A_LOT) as run, pytest.raises(UnexpectedError) as caught:
        list(run(read_texts_of_part, [(reader, [text]) for text in texts]))
    assert "zyxwvcanary" not in "".join(format_exception(caught.value))


@pytest.mark.parametrize("workers", [1, 2])
def test_our_own_errors_keep_their_kind(store: Path, workers: int) -> None:
    reader = TextReader(str(store), None, "sensitive", "en_no_such_model")
    with (
        LocalExecutor(workers).running(A_LOT) as run,
        pytest.raises(UsageError, match="not installed"),
    ):
        list(read_in_parts(reader, *ALL, run, silent, most=2))


def test_the_same_records_whoever_reads(new_store: Callable[[], Path], tmp_path: Path) -> None:
    """With a store each, for what one has read the others would know."""
    tables = []
    rows = SAMPLE_LOG.read_text().splitlines(keepends=True)
    for name, part in {"a.tsv": rows[:300], "b.tsv": [rows[0], *rows[200:]]}.items():
        (tmp_path / name).write_text("".join(part))
    logs = tuple(str(tmp_path / name) for name in ("a.tsv", "b.tsv"))
    engine = Here()
    for executor in (
        LocalExecutor(1),
        LocalExecutor(2, ready_seconds=0),
        elsewhere(tmp_path / "shared", engine, workers=2),
    ):
        job = job_of(Settings(logs=logs, store=str(new_store())), executor)
        tables.append(analyse_log(job, read_files(job, silent)))
    assert engine.done > 1
    assert pack(tables[0]) == pack(tables[1]) == pack(tables[2])


def test_a_log_that_changes_while_others_read_it_is_refused(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    log = tmp_path / "log.tsv"
    log.write_text(SAMPLE_LOG.read_text())
    engine = Here()

    def changing(*given: Any) -> Any:
        with log.open("a") as stream:
            stream.write("\n")
        return engine(*given)

    executor = elsewhere(tmp_path / "shared", changing)  # type: ignore[arg-type]
    job = job_of(Settings(logs=(str(log),), store=str(new_store())), executor)
    with pytest.raises(StillChanging, match="changed while it was read"):
        analyse_log(job, read_files(job, silent))


# Texts where they stand


def test_texts_are_found_where_they_stand() -> None:
    log = read_logs([SAMPLE_LOG])
    records = np.arange(0, len(log.texts), 7, dtype=np.int32)
    places = places_of(log, records[::-1], 10, LogOptions())
    found = [text for place in places for text in texts_at(place.file, place.rows.tolist())]
    assert found == log.texts[records].tolist()
    assert max(len(place.rows) for place in places) == 10


def test_a_row_that_is_gone_is_told() -> None:
    with pytest.raises(InputError, match="not what it was"):
        texts_at(str(SAMPLE_LOG), [2, 10**9])


def test_a_worker_that_reads_in_another_way_is_refused(store: Path) -> None:
    reader = TextReader(str(store), None, "sensitive", None)
    place = LogRows(str(SAMPLE_LOG), LogOptions(), np.array([2]))
    with pytest.raises(UsageError, match="another way"):
        read_rows_of_part(reader, "of yesterday", place)


def test_a_worker_gets_ready_for_what_it_will_be_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipeline that it loads ahead is the one with which it reads."""
    monkeypatch.chdir(store.parent)
    settings = Settings(logs=(str(SAMPLE_LOG),), store=store.name, runner="dask")
    reader = TextReader.of(settings)
    text_pipeline.cache_clear()
    get_ready(reader.from_anywhere)
    place = LogRows(str(SAMPLE_LOG), LogOptions(), np.array([2]))
    expected = reading_fingerprint(reader)
    assert len(read_rows_of_part(reader.from_anywhere, expected, place)) == 1
    assert (text_pipeline.cache_info().misses, text_pipeline.cache_info().hits) == (1, 1)


def test_a_worker_that_knows_other_things_is_refused(store: Path) -> None:
    known = resources_in(str(store), None)
    assert len(known.taxonomy) > 80_000
    assert "health" in known.topic_map.names
    other = replace(known, content="of yesterday")
    with pytest.raises(UsageError, match="other things"):
        _ = other.taxonomy


def test_parts_follow_from_the_memory_of_a_worker() -> None:
    many = 10**9
    assert texts_per_part(2.0, many, 2) < texts_per_part(4.0, many, 2) < many
    assert texts_per_part(64.0, 80_000, 2) == 20_000
    assert texts_per_part(1.0, 10, 2) >= 10
