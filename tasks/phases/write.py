"""Phase 7, write: the release goes to a folder aside, and who stands behind it to the store.

In: the `Release` and the log that it comes from. Out: a `Draft`, which nobody sees until it is
verified. Rows are ordered by what they publish, never as they came in. To the release's private
folder in the store go the table of who stands behind each row and of what became of all rows that
were read (provenance), and the rows set aside.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np

from tasks.adapters import provenance, release_files
from tasks.adapters.provenance import Provenance, RowsRead
from tasks.adapters.published import holds
from tasks.adapters.rejects import REJECTS, write_rejects
from tasks.adapters.release_files import Draft
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.arrays import narrowed, taken
from tasks.core.columns import computed, counts_of, joined, places_of, row_parts
from tasks.core.diversity import sensitive_sets
from tasks.core.events import unit_keys
from tasks.core.mentions import mentions_of
from tasks.core.records import WITHHELD, Ints, Narrow, QueryLog, RecordTable, Release
from tasks.core.verification.clauses import Promise
from tasks.phases.job import Job
from tasks.phases.read import read_fingerprint
from tasks.phases.redact import redaction_fingerprint
from tasks.runtime.fingerprint import code_fingerprint
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
    """Whether the release that these files and settings lead to is published, and may stay."""
    if job.settings.replace:
        return False
    return holds(job.store.folder, Path(job.settings.out), fingerprint)


def write_release(job: Job, log: QueryLog, table: RecordTable, release: Release) -> Draft:
    """Write the release aside, with the private table of who stands behind each row."""
    settings = job.settings
    store = job.store.folder
    draft = release_files.open_draft(Path(settings.out), settings.release_format, store)
    taxonomy = wordnet(settings.store).taxonomy
    records = release_files.write_rows(draft, release, table, taxonomy)
    write_rejects(draft.private / REJECTS, log)
    sets = sensitive_sets(table, topic_map(settings.store, settings.topics).sensitive)
    mentions, mentioned = mentions_of(table, records)
    behind = Provenance(
        read=rows_read(job, log, table, release, records),
        sets=taken(sets, taken(table.form_of, records)),
        units=unit_keys(log, job.store.secret, taken(table.log_rows, records)),
        mentions=mentions,
        mentioned=mentioned,
        wordnet=taxonomy.version,
        promise=what_is_promised(job, log, table, release),
    )
    provenance.save(store, draft.private, behind)
    return draft


def what_is_promised(job: Job, log: QueryLog, table: RecordTable, release: Release) -> Promise:
    settings = job.settings
    published = int(counts_of(release.class_of, release.class_count).sum())
    return Promise(
        guarantee=settings.guarantee,
        k=settings.k,
        l=settings.l,
        time=settings.time,
        read=log.rows_read,
        rejected=len(log.reject_rows),
        withheld=len(table) - published,
        published=published,
        counted=log.counted,
        dominance=settings.dominance,
        rounding=settings.rounding,
    )


def rows_read(
    job: Job, log: QueryLog, table: RecordTable, release: Release, written: Ints
) -> RowsRead:
    """What became of every row of the log, given the records in the order of the release."""
    withheld = places_of(
        computed(len(table), np.bool_, lambda records: release.class_of[records] < 0)
    )
    records = joined(len(table), np.int32, (written, withheld))
    places = taken(table.log_rows, records)
    rejections = sorted(set(log.reject_reasons))
    number = {reason: len(WITHHELD) + place for place, reason in enumerate(rejections)}
    rejected = np.fromiter(map(number.__getitem__, log.reject_reasons), dtype=np.int32)
    return RowsRead(
        files=log.sources,
        digests=tuple(file.digest for file in job.files),
        origins=_with_rejects(log.origins, places, narrowed(log.reject_sources)),
        rows=_with_rejects(log.rows, places, narrowed(log.reject_rows)),
        users=taken(table.users, records),
        people=log.people,
        reasons=(*WITHHELD, *rejections),
        reason_of=_with_rejects(narrowed(release.reasons), records, narrowed(rejected)),
    )


def _with_rejects(values: Narrow, chosen: Ints, rejected: Narrow) -> Narrow:
    """The values of some rows or records, and behind them those of the rejects."""
    parts = (values[chosen[part]] for part in row_parts(len(chosen)))
    kind = np.result_type(values, rejected)
    return joined(len(chosen) + len(rejected), kind, chain(parts, [rejected]))
