"""What a log is taken for, and what a release of it would hold: told before anything is released.

No phase of a release: it reads the beginning of each file, judges it as `read` would, and makes
releases of a few thousand rows to see how much k people share. Nothing of it is kept or published,
and nothing of the log's text leaves it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from tasks.adapters.languages import measure_languages
from tasks.adapters.logs.reader import read_logs
from tasks.adapters.logs.time_formats import time_format
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.detection.readings import normalise
from tasks.core.languages import Languages
from tasks.core.measures.information import information_kept
from tasks.core.records import NO_TIME, PRECISIONS, QueryLog, RecordTable
from tasks.errors import NothingToRelease, UsageError
from tasks.phases.analyse import analyse_log
from tasks.phases.cluster import cluster_records
from tasks.phases.compare import Comparison, compare_records
from tasks.phases.job import Job
from tasks.phases.redact import redact_records
from tasks.runtime.executor import LocalExecutor
from tasks.runtime.progress import Progress, silent
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Nothing, Result
from tasks.schema import FileRead
from tasks.settings import Settings

MOST_ROWS: Final = 200_000
"""Rows that are read of each file."""
SAMPLE_ROWS: Final = 4_000
"""Rows, of whole people, that releases are tried on."""
TRIED: Final = (5, 10, 20, 50)
QUARTERS: Final = (0.25, 0.5, 0.75)


class Estimate(NamedTuple):
    """What a release of the sample holds at some k: parts of its rows and of its information."""

    k: int
    rows: float
    information: float


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found out about a log.

    Attributes:
        files: how each was read, and the format of its times.
        doubt: why nobody can be counted yet, "" if people or what was said can.
        counted: who is counted, and how many there are.
        is_whole: whether all rows were read.
        usable: rows that can be used.
        per_person: queries of a person at the quarters.
        span: first and last month, none without times.
        rejects: rows that would be set aside, by reason, the commonest first.
        sample: rows and people that the estimates were made on.
        estimates: for each k that the sample has people for.
    """

    files: tuple[tuple[FileRead, str], ...]
    doubt: str
    counted: str
    people: int
    is_whole: bool
    usable: int
    per_person: tuple[int, ...]
    span: tuple[str, ...]
    languages: Languages
    rejects: dict[str, int]
    warnings: tuple[str, ...]
    sample: tuple[int, int]
    estimates: tuple[Estimate, ...]


@redacted_errors
def inspect_log(settings: Settings, progress: Progress = silent) -> Inspection:
    """Look at the log that the settings name.

    Raises:
        UsageError: the settings do not fit the log.
        InputError: it cannot be read.
    """
    job = Job.of(settings, LocalExecutor(settings.processes))
    log, doubt = _read(job, progress)
    few = _some_people(log)
    return Inspection(
        files=tuple(
            (file, time_format(file.name, file.format, settings.log_options)) for file in log.files
        ),
        doubt=doubt,
        counted=log.counted.whom,
        people=log.user_count,
        is_whole=all(file.is_whole for file in log.files),
        usable=len(log.texts),
        per_person=_per_person(log),
        span=_span(log),
        languages=measure_languages(log.texts),
        rejects=dict(Counter(log.reject_reasons.tolist()).most_common()),
        warnings=log.warnings,
        sample=(len(few.texts), few.user_count),
        estimates=() if doubt else tuple(_estimates(job, few)),
    )


def _read(job: Job, progress: Progress) -> tuple[QueryLog, str]:
    """The beginning of the files, and why it is not known who is a person in them."""
    options = job.settings.log_options
    read = partial(
        read_logs,
        [file.name for file in job.files],
        progress=progress,
        secret=job.store.secret,
        most_rows=MOST_ROWS,
        spelt=normalise,
    )
    try:
        return read(options), ""
    except UsageError as fault:
        if options.person or "user" in options.columns:
            raise
        doubt = str(fault)
    # Whatever else is wrong with it is wrong now as well.
    return read(replace(options, person="row")), doubt


def _per_person(log: QueryLog) -> tuple[int, ...]:
    if not len(log.users):
        return ()
    counts = np.bincount(log.users)
    return tuple(np.quantile(counts, QUARTERS, method="lower").astype(int).tolist())


def _span(log: QueryLog) -> tuple[str, ...]:
    """By month: a day may be one person's."""
    times = log.times[log.times != NO_TIME]
    if not len(times):
        return ()
    ends = (int(times.min()), int(times.max()))
    return tuple(f"{datetime.fromtimestamp(end, tz=UTC):%Y-%m}" for end in ends)


def _some_people(log: QueryLog) -> QueryLog:
    """All rows of every so manieth person."""
    step = max(1, -(-len(log.texts) // SAMPLE_ROWS))
    nobody = np.zeros(len(log.reject_rows), dtype=np.bool_)
    return log.only(log.users % step == 0, nobody)


def _estimates(job: Job, log: QueryLog) -> list[Estimate]:
    """What releases of these rows would hold; nothing of them is kept."""
    if not len(log.texts):
        return []
    job = replace(job, settings=replace(job.settings, l=1, method="adaptive", guarantee="strict"))
    table = analyse_log(job, log)
    comparison = compare_records(job, table)
    return [_estimate(job, log, table, comparison, k) for k in TRIED]


def _estimate(
    job: Job, log: QueryLog, table: RecordTable, comparison: Comparison, k: int
) -> Estimate:
    job = replace(job, settings=replace(job.settings, k=k))
    settings, taxonomy = job.settings, wordnet(job.settings.store).taxonomy
    read = Result("read", "", lambda: log, Nothing(), str)
    compared = Result("compare", "", lambda: comparison, Nothing(), str)
    try:
        clustering = cluster_records(job, read, table, comparison)
        release = redact_records(job, table, compared, clustering)
    except NothingToRelease:
        return Estimate(k, 0.0, 0.0)
    topics, finest = topic_map(settings.store, settings.topics), PRECISIONS[settings.time]
    kept = information_kept(table, release, taxonomy, topics, finest=finest)
    return Estimate(k, float(release.published.mean()), kept.kept_percent / 100)
