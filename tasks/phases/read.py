"""Phase 1, read: log files to rows (who, what, when); what cannot be used is set aside.

In: the files of a job. Out: a `QueryLog`, the only value that holds text as it was typed; it dies
at *analyse*, and nothing of it is kept but counts.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tasks.adapters.logs.reader import read_logs
from tasks.core.records import QueryLog
from tasks.errors import BadLog, InputError, NothingToRelease
from tasks.phases.job import Job, Published
from tasks.runtime.fingerprint import code_fingerprint, refuse_changed
from tasks.runtime.progress import Progress, silent
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Counts, Nothing, Result


def read(job: Job) -> Result[QueryLog]:
    return Result(
        "read",
        read_fingerprint(job),
        partial(read_job, job),
        Nothing() if job.appended_to else Counts(job.store, lambda log: {"rows": log.rows_read}),
        lambda log: (
            f"{log.rows_read} rows, {len(log.reject_rows)} set aside, {log.user_count} users"
        ),
    )


def read_fingerprint(job: Job) -> str:
    names = [file.name for file in job.files]
    return job.fingerprint("read", content_fingerprint(job), names, job.settings.k)


def content_fingerprint(job: Job) -> str:
    """Of what stands in the log, whatever its files are called."""
    chosen, digests = job.settings, [file.digest for file in job.files]
    code = code_fingerprint(__name__)
    return job.fingerprint("content", code, digests, chosen.format, chosen.columns)


def read_job(job: Job) -> QueryLog:
    """The rows that are to be released; fewer people than k can never be released."""
    if job.appended_to is not None:
        return _read_more(job, job.appended_to)
    log = read_files(job, job.progress)
    refuse_changed(job.files)
    k = job.settings.k
    if log.user_count < k:
        raise NothingToRelease(
            f"nothing can be released: {len(log.texts)} usable rows by {log.user_count} users, "
            f"but k = {k} ({len(log.reject_rows)} of {log.rows_read} rows set aside)"
        )
    return log


def _read_more(job: Job, published: Published) -> QueryLog:
    """The rows that wait and all rows of the files that are new, however few: they may wait on."""
    log = _read_or_refuse(job, job.progress)
    refuse_changed(job.files)
    new = np.array([file.digest not in published.waiting for file in job.files], dtype=np.bool_)
    chosen = new[log.origins]
    for place, file in enumerate(job.files):
        if file.digest in published.waiting:
            waiting = published.waiting[file.digest]
            chosen |= (log.origins == place) & np.isin(log.rows, waiting)
    return log.only(chosen, new[log.reject_sources])


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
    except InputError as fault:
        raise BadLog(str(fault)) from None


def read_files(job: Job, progress: Progress) -> QueryLog:
    """All rows of the files."""
    return read_logs(
        [file.name for file in job.files],
        format=job.settings.format,
        columns=job.settings.columns,
        progress=progress,
        secret=job.store.secret,
    )
