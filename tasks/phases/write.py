"""Phase 7, write: the release goes to a folder aside, and who stands behind it to the store.

In: the `Release` and the log that it comes from. Out: a `Draft`, which nobody sees until it is
verified. Rows are ordered by what they publish, never as they came in; the private table of who
stands behind each row (provenance) lies in the store, under the hash of the written file.
"""

from __future__ import annotations

from pathlib import Path

from tasks.adapters import provenance, release_files
from tasks.adapters.release_files import Draft
from tasks.adapters.resources import wordnet
from tasks.core.records import QueryLog, RecordTable, Release
from tasks.core.verification.clauses import Promise
from tasks.phases.job import Job
from tasks.phases.read import read_fingerprint
from tasks.phases.redact import redaction_fingerprint
from tasks.runtime.fingerprint import code_fingerprint, record_ids
from tasks.runtime.results import AsKnownAs, Result


def write(
    job: Job, log: Result[QueryLog], table: Result[RecordTable], release: Result[Release]
) -> Result[Draft]:
    fingerprint = write_fingerprint(job)
    return Result(
        "write",
        fingerprint,
        lambda: write_release(job, log.value, table.value, release.value),
        AsKnownAs(lambda: not job.in_edition and is_in_place(job, fingerprint)),
        lambda draft: "written aside",
    )


def write_fingerprint(job: Job) -> str:
    decisive = (read_fingerprint(job), code_fingerprint(__name__), job.settings.release_format)
    return job.fingerprint("write", redaction_fingerprint(job), *decisive)


def is_in_place(job: Job, fingerprint: str) -> bool:
    """Whether the release that these files and settings lead to is published and proven."""
    out = Path(job.settings.out)
    written = out / f"release.{job.settings.release_format}"
    return provenance.is_in_place(job.store.folder, out, written, fingerprint)


def write_release(job: Job, log: QueryLog, table: RecordTable, release: Release) -> Draft:
    """Write the release aside, with the private table of who stands behind each row."""
    settings = job.settings
    draft = release_files.open_draft(Path(settings.out), settings.release_format)
    rows = release_files.write_rows(draft, release, table, wordnet(settings.store).taxonomy)
    release_files.write_rejects(draft, log)
    promise = Promise(
        guarantee=settings.guarantee,
        k=settings.k,
        l=settings.l,
        read=log.rows_read,
        rejected=len(log.reject_rows),
        withheld=len(table) - len(rows.records),
        published=len(rows.records),
    )
    behind = provenance.Provenance(
        users=log.people[table.users[rows.records]],
        sets=table.set_of[rows.records],
        records=record_ids(job.files, log)[table.log_rows[rows.records]],
        promise=promise,
    )
    provenance.save(job.store.folder, draft.release_path, behind)
    return draft
