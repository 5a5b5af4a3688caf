"""Phase 5, redact: what each record publishes (paper §3.3, lines 14–18; guarantees).

In: the records and their `Clustering`. Out: a `Release`: equivalence classes of records that
publish the same row. `strict`: the concepts of a cluster are generalised to one set for all its
records, and words and times stay only where the whole row is shared by k people. `terms`: each word
by itself is. `paper`: as printed. In the end no identifier may arise from what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.resources import Resources, resources_in, wordnet
from tasks.core.append.assignment import Assignment
from tasks.core.append.redaction import KAnonymous, redact_pool
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.records import PRECISIONS, Clusters, Longs, RecordTable, Release
from tasks.core.redaction.by_record import redact_as_printed, redact_by_terms
from tasks.core.redaction.parts import (
    Part,
    RedactedPart,
    cut_into_parts,
    join,
    left_by_parts,
    lineage_of,
    part_of,
    redact_part,
    redact_without_cluster,
)
from tasks.core.redaction.published import dissolve_bare, place_attributes
from tasks.core.redaction.scrubbing import scrub
from tasks.core.starmap import Starmap
from tasks.errors import NothingToRelease
from tasks.phases.cluster import Clustering, cluster_fingerprint
from tasks.phases.compare import Comparison
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import Progress, counted
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Nothing, Result, Whole

RECORDS_PER_SECOND: Final = 50_000


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
    found = _redacted(job, table, compared, clustering)
    finder = load_identifier_finder(Path(job.settings.store))
    release = scrub(found, table.words, finder.find)
    if not release.published.any() and job.appended_to is None:
        raise NothingToRelease(
            f"nothing can be released: no row can be shared by k = {job.settings.k} users"
        )
    return release


def _redacted(
    job: Job, table: RecordTable, compared: Result[Comparison], clustering: Clustering
) -> Release:
    if clustering.settlement is not None:
        return _as_settled(job, table, clustering.settlement)
    if job.settings.guarantee == "strict":
        return _strictly(job, table, clustering.clusters)
    taxonomy = wordnet(job.settings.store).taxonomy
    if job.settings.guarantee == "terms":
        return _by_terms(job, table, clustering.clusters)
    return redact_as_printed(
        table,
        clustering.clusters,
        compared.value.distances,
        taxonomy,
        threshold=job.settings.threshold,
        finest=PRECISIONS[job.settings.time],
    )


def _as_settled(job: Job, table: RecordTable, settlement: Assignment) -> Release:
    """By the records of this release alone, so that it holds by itself."""
    settings = job.settings
    guarantee: KAnonymous = "strict" if settings.guarantee == "strict" else "terms"
    return redact_pool(
        table,
        settlement,
        wordnet(settings.store).taxonomy,
        inclusive=settings.inclusive,
        guarantee=guarantee,
        k=settings.k,
        finest=PRECISIONS[settings.time],
    )


def _by_terms(job: Job, table: RecordTable, clusters: Clusters) -> Release:
    settings = job.settings
    taxonomy, inclusive = wordnet(settings.store).taxonomy, settings.inclusive
    sets = generalise(members_of(table, clusters.labels), taxonomy, inclusive=inclusive)
    speaking, rows = dissolve_bare(clusters, sets)
    published = place_attributes(table, speaking, rows, taxonomy, inclusive=inclusive)
    finest = PRECISIONS[settings.time]
    return redact_by_terms(table, speaking, published, k=settings.k, finest=finest)


def _strictly(job: Job, table: RecordTable, clusters: Clusters) -> Release:
    """In parts of whole clusters; what has no cluster is redacted here, after them."""
    settings, most = job.settings, job.sizes.records_per_part
    parts = cut_into_parts(clusters.labels, records_per_part=most)
    resources = resources_in(settings.store, settings.topics)
    with job.executor.running(sum(map(len, parts)) / RECORDS_PER_SECOND) as starmap:
        return redact_in_parts(
            table,
            clusters,
            parts,
            resources,
            starmap,
            job.progress,
            k=settings.k,
            inclusive=settings.inclusive,
            finest=PRECISIONS[settings.time],
        )


def redact_in_parts(
    table: RecordTable,
    clusters: Clusters,
    records_of_parts: Sequence[Longs],
    resources: Resources,
    starmap: Starmap,
    progress: Progress,
    *,
    k: int,
    inclusive: bool,
    finest: int,
) -> Release:
    """What each record publishes, given the records of each part as `cut_into_parts` gives them."""
    taxonomy = resources.taxonomy
    lineage = lineage_of(table, clusters.labels, taxonomy, inclusive=inclusive)
    parts = (part_of(table, clusters.labels, own, lineage, taxonomy) for own in records_of_parts)
    results = starmap(redact_part_strictly, ((resources, part, k, finest) for part in parts))
    progress(0, len(table))
    redacted = list(counted(results, len(table), progress))
    left = left_by_parts(clusters, redacted)
    alone = redact_without_cluster(table, left, taxonomy, k=k, finest=finest)
    progress(len(table), len(table))
    return join(table, (left, alone), records_of_parts, redacted)


@redacted_errors
def redact_part_strictly(resources: Resources, part: Part, k: int, finest: int) -> RedactedPart:
    """Redact a part, which holds numbers alone; runs in a worker."""
    return redact_part(part, resources.taxonomy, k=k, finest=finest)
