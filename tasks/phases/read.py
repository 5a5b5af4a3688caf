"""Phase 1, read: log files to rows (who, what, when); what cannot be used is set aside.

In: the files of a job. Out: a `QueryLog`, the only value that holds queries as text, in one
spelling for each; nothing of it is kept but counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from tasks.adapters.languages import measure_languages
from tasks.adapters.logs.reader import read_logs
from tasks.adapters.rejects import rejects_without_release, write_rejects
from tasks.core.arrays import taken
from tasks.core.columns import computed, marked, places_of, row_parts
from tasks.core.detection.readings import normalise
from tasks.core.events import KNOWN, event_keys, known_rows
from tasks.core.records import Flags, Longs, QueryLog
from tasks.errors import BadLog, InputError, NothingToRelease, UsageError
from tasks.phases.job import Job, Published
from tasks.runtime.fingerprint import code_fingerprint, refuse_changed
from tasks.runtime.progress import Progress, silent
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Counts, Nothing, Result
from tasks.settings import Settings

SHOWN_REASONS: Final = 3


def read(job: Job) -> Result[QueryLog]:
    return Result(
        "read",
        read_fingerprint(job),
        partial(read_job, job),
        Nothing() if job.appended_to else Counts(job.store, lambda log: {"rows": log.rows_read}),
        lambda log: (
            f"{log.rows_read} rows, {len(log.reject_rows)} set aside, "
            f"{log.counted.said(log.user_count)}"
            + (f", {log.passed_over} requests that are no searches" if log.passed_over else "")
        ),
    )


def read_fingerprint(job: Job) -> str:
    names = [file.name for file in job.files]
    settings = job.settings
    said = (settings.k, settings.language, settings.any_language)
    return job.fingerprint("read", content_fingerprint(job), names, *said)


def content_fingerprint(job: Job) -> str:
    """Of what stands in the log, whatever its files are called."""
    chosen, digests = job.settings, [file.digest for file in job.files]
    code = code_fingerprint(__name__)
    return job.fingerprint("content", code, digests, asdict(chosen.log_options))


def read_job(job: Job) -> QueryLog:
    """The rows that are to be released; fewer people than k can never be released."""
    if job.appended_to is not None:
        return _read_more(job, job.appended_to)
    log = read_files(job, job.progress)
    refuse_changed(job.files)
    none = np.zeros(0, dtype=np.int64)
    log = _without_known(job, log, np.ones(len(job.files), dtype=np.bool_), none)
    k = job.settings.k
    if log.user_count < k:
        raise NothingToRelease(
            f"nothing can be released: {len(log.texts)} usable rows by "
            f"{log.counted.said(log.user_count)}, but k = {k} "
            f"({len(log.reject_rows)} of {log.rows_read} rows set aside{_commonest_reasons(log)}"
            f"{_listed_rejects(job, log)})"
        )
    return log


def _commonest_reasons(log: QueryLog) -> str:
    """Why most rows were set aside, and what was no row at all."""
    reasons = Counter(log.reject_reasons.tolist()).most_common(SHOWN_REASONS)
    told = "".join(f", {count} because: {reason}" for reason, count in reasons)
    return told + (f"; {log.passed_over} requests are no searches" if log.passed_over else "")


def _listed_rejects(job: Job, log: QueryLog) -> str:
    """List the rows set aside of a log of which nothing is released; returns where."""
    if not len(log.reject_rows):
        return ""
    listed = rejects_without_release(job.store.folder, Path(job.settings.out))
    write_rejects(listed, log)
    return f", listed in {listed}"


def _read_more(job: Job, published: Published) -> QueryLog:
    """The rows that wait and all rows of the files that are new, however few: they may wait on."""
    log = _read_or_refuse(job, job.progress)
    refuse_changed(job.files)
    if published.counted and not published.counted.is_same_as(log.counted):
        raise BadLog(
            f"this edition counts {published.counted.whom}, this file {log.counted.whom}: name the "
            "same column with --columns user=NAME, or begin a new one with --edition new"
        )
    new = np.array([file.digest not in published.waiting for file in job.files], dtype=np.bool_)

    def is_chosen(own: slice) -> Flags:
        found = new[log.origins[own]]
        for place, file in enumerate(job.files):
            if file.digest in published.waiting:
                waiting = published.waiting[file.digest]
                found |= (log.origins[own] == place) & np.isin(log.rows[own], waiting)
        return found

    chosen = computed(len(log.rows), np.bool_, is_chosen)
    return _without_known(job, log.only(chosen, new[log.reject_sources]), new, published.events)


def _without_known(job: Job, log: QueryLog, new: Flags, known: Longs) -> QueryLog:
    """The log without the events that an earlier file has told; those are set aside.

    Args:
        new: of each file, whether it has not been read before.
        known: events of the files before these.
    """
    if not len(known) and len(job.files) < 2:
        return log
    count = len(log.texts)
    rows = places_of(computed(count, np.bool_, lambda own: new[log.origins[own]]))
    events = event_keys(log, job.store.secret)
    told = known_rows(taken(events, rows), taken(log.origins, rows), known)
    aside = computed(count, np.bool_, lambda own: np.zeros(own.stop - own.start, dtype=np.bool_))
    for own in row_parts(len(rows)):
        aside[rows[own]] = told[own]
    return log.set_aside(aside, KNOWN) if marked(told) else log


@redacted_errors
def refuse_unreadable(job: Job) -> None:
    """See whether files can be read at all.

    Raises:
        BadLog: they cannot.
    """
    _read_or_refuse(job, silent)


def _read_or_refuse(job: Job, progress: Progress) -> QueryLog:
    try:
        return read_files(job, progress)
    except (InputError, UsageError) as fault:
        # Also if it is not known who is a person in it: it does not stop the other files.
        raise BadLog(str(fault), fault.exit_code) from None


def read_files(job: Job, progress: Progress) -> QueryLog:
    """All rows of the files."""
    log = read_logs(
        [file.name for file in job.files],
        job.settings.log_options,
        progress=progress,
        secret=job.store.secret,
        spelt=normalise,
    )
    log = replace(log, languages=measure_languages(log.texts))
    _refuse_other_languages(job.settings, log)
    return log


def _refuse_other_languages(settings: Settings, log: QueryLog) -> None:
    """Sensitive words that nobody knows would be published as plain words.

    Raises:
        UsageError: too large a part is not English, and nobody has said that this is known.
    """
    found = log.languages
    if found is None or found.is_english or settings.language == "en" or settings.any_language:
        return
    parts = ", ".join(f"{name} {share:.0%}" for name, share in found.shown().items())
    raise UsageError(
        f"some {found.not_understood:.0%} of the queries are not English ({parts}). Only English "
        "words are known: what is sensitive in other languages would count as plain words. "
        "Release the English part alone; or say --language en if it is English all the same, or "
        "--any-language if you know and accept that"
    )
