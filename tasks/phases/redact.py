"""Phase 5, redact: what each record publishes (paper §3.3, lines 14–18; guarantees).

In: the records and their `Clustering`. Out: a `Release`: equivalence classes of records that
publish the same row. `strict`: each class tells all that is true of every record of it, of each
item the finest level and of time the finest span. `terms`: beside that each record its own words
that k people use. `paper`: as printed. In the end no identifier may arise from what is left.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.resources import wordnet
from tasks.core.records import PRECISIONS, SCRUBBED, RecordTable, Release
from tasks.core.redaction.by_record import redact_as_printed, redact_by_terms, without_rare_words
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.redaction.scrubbing import scrub
from tasks.core.rows.levels import VAGUEST, item_levels
from tasks.core.rows.told import in_edition, release_of
from tasks.errors import NothingToRelease
from tasks.phases.cluster import Clustering, cluster_fingerprint
from tasks.phases.compare import Comparison
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.results import Nothing, Result, Whole


def redact(
    job: Job,
    table: Result[RecordTable],
    compared: Result[Comparison],
    clustering: Result[Clustering],
) -> Result[Release]:
    return Result(
        "redact",
        redaction_fingerprint(job),
        lambda: redact_records(job, table.value, compared, clustering.value),
        Nothing() if job.appended_to else Whole(job.store, Release),
        lambda release: f"{int(release.published.sum())} records published",
    )


def redaction_fingerprint(job: Job) -> str:
    settings, code = job.settings, code_fingerprint(__name__)
    decisive = (cluster_fingerprint(job), code, settings.guarantee, settings.time)
    return job.fingerprint("redact", *decisive)


def redact_records(
    job: Job, table: RecordTable, compared: Result[Comparison], clustering: Clustering
) -> Release:
    """What each record publishes; of an appended release possibly nothing of any."""
    settings, taxonomy = job.settings, wordnet(job.settings.store).taxonomy
    find = load_identifier_finder(Path(settings.store)).find
    found = scrub(_redacted(job, table, compared, clustering), table, find)
    if settings.guarantee == "terms":
        found = without_rare_words(found, table, find, k=settings.k)
    if not found.published.any() and job.appended_to is None:
        raise NothingToRelease(
            f"nothing can be released: no row can be shared by k = {settings.k} users"
        )
    reasons = withheld_reasons(table, found.published, taxonomy, k=settings.k)
    release = replace(found, reasons=np.where(found.reasons == SCRUBBED, SCRUBBED, reasons))
    return release if job.appended_to is None else in_edition(release, job.appended_to.sets)


def _redacted(
    job: Job, table: RecordTable, compared: Result[Comparison], clustering: Clustering
) -> Release:
    settings, taxonomy = job.settings, wordnet(job.settings.store).taxonomy
    finest = PRECISIONS[settings.time]
    if clustering.clusters is not None:
        distances, threshold = compared.value.distances, settings.threshold
        return redact_as_printed(
            table, clustering.clusters, distances, taxonomy, threshold=threshold, finest=finest
        )
    strict = release_of(
        table,
        clustering.classes,
        item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True),
        k=settings.k,
        precision=finest,
        senses=settings.scope == "sensitive",
    )
    if settings.guarantee == "strict":
        return strict
    as_typed = settings.scope == "all"
    return redact_by_terms(table, strict, k=settings.k, finest=finest, attributes=as_typed)
