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
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.columns import computed
from tasks.core.diversity import sensitive_sets, uniform_groups
from tasks.core.members import members_of
from tasks.core.records import (
    PRECISIONS,
    RETURNING,
    ROUNDED,
    SCRUBBED,
    SURPLUS,
    TOO_ALIKE,
    TOO_FEW,
    Flags,
    Ints,
    Narrow,
    RecordTable,
    Release,
    Strings,
)
from tasks.core.redaction.by_record import redact_as_printed, redact_by_terms, without_rare_words
from tasks.core.redaction.class_sizes import limit_shares, withhold
from tasks.core.redaction.reasons import withheld_reasons
from tasks.core.redaction.scrubbing import Find, scrub
from tasks.core.rows.levels import LogLevels
from tasks.core.rows.told import in_edition, release_of
from tasks.core.taxonomy import Taxonomy
from tasks.errors import NothingToRelease
from tasks.phases.cluster import Clustering, cluster_fingerprint
from tasks.phases.compare import Comparison
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.results import Nothing, Result, Whole
from tasks.settings import Settings


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
    promised = (settings.guarantee, settings.time, settings.dominance, settings.rounding)
    decisive = (cluster_fingerprint(job), code, *promised)
    return job.fingerprint("redact", *decisive)


def redact_records(
    job: Job, table: RecordTable, compared: Result[Comparison], clustering: Clustering
) -> Release:
    """What each record publishes; of an appended release possibly nothing of any."""
    settings, taxonomy = job.settings, wordnet(job.settings.store).taxonomy
    find = load_identifier_finder(Path(settings.store)).find
    found = scrub(_redacted(job, table, compared, clustering), table, find, taxonomy.words)
    if settings.guarantee == "terms":
        found = _limited_terms(found, table, find, taxonomy.words, settings)
    elif settings.guarantee == "strict":
        found = _limited(found, table, settings)
    if not found.published.any() and job.appended_to is None:
        raise NothingToRelease(
            f"nothing can be released: no row can be shared by k = {settings.k} users"
        )
    release = replace(found, reasons=_reasons(found, table, taxonomy, clustering, settings.k))
    return release if job.appended_to is None else in_edition(release, job.appended_to.sets)


def _reasons(
    found: Release, table: RecordTable, taxonomy: Taxonomy, clustering: Clustering, k: int
) -> Narrow:
    """Why each record is withheld, as a column."""
    reasons = withheld_reasons(table, found.published, taxonomy, k=k)

    def known(own: slice) -> Narrow:
        returning = clustering.left[own] & (found.class_of[own] < 0)
        # Those from SCRUBBED on are known of what was about to be published.
        return np.where(
            found.reasons[own] >= SCRUBBED,
            found.reasons[own],
            np.where(returning, RETURNING, reasons[own]),
        )

    return computed(len(table), np.int8, known)


def _limited(release: Release, table: RecordTable, settings: Settings) -> Release:
    """Without the rows by which one person has too many of those that read alike, and without those
    beyond a multiple of k if sizes are rounded."""
    limits = [(1, SURPLUS), (settings.k, ROUNDED)] if settings.rounding else [(1, SURPLUS)]
    for multiple, reason in limits:
        release = limit_shares(
            release,
            release.class_of,
            table.users,
            most=settings.dominance,
            multiple=multiple,
            reason=reason,
        )
    return _diverse(release, release.class_of, table, settings)


def _diverse(release: Release, groups: Ints, table: RecordTable, settings: Settings) -> Release:
    """Without groups that are too uniform now: a surplus may have been all that was different."""
    if settings.l == 1:
        return release
    sensitive = topic_map(settings.store, settings.topics).sensitive
    of_form = sensitive_sets(table, sensitive)
    sets = computed(len(table), np.int32, lambda own: of_form[table.form_of[own]])
    uniform = uniform_groups(groups, table.users, sets, least=settings.l)
    return withhold(release, _in_groups(uniform, groups), TOO_ALIKE)


def _in_groups(chosen: Flags, groups: Ints) -> Flags:
    """Records of some of the groups, as a column."""
    marked = np.append(chosen, False)
    return computed(len(groups), np.bool_, lambda own: marked[groups[own]])


def _clusters(release: Release) -> Ints:
    """The cluster of each record, or -1, as a column."""
    clusters = np.append(release.clusters, np.int32(-1))
    return computed(len(release.class_of), np.int32, lambda own: clusters[release.class_of[own]])


def _limited_terms(
    release: Release, table: RecordTable, find: Find, names: Strings, settings: Settings
) -> Release:
    """The same for the rows of a cluster, which k people share, as they do every word.

    A row that is withheld may have been the last of its person with some word, and so on until
    nothing changes.
    """
    while True:
        before = np.count_nonzero(release.published)
        release = without_rare_words(release, table, find, names, k=settings.k)
        release = limit_shares(
            release,
            _clusters(release),
            table.users,
            most=settings.dominance,
            multiple=1,
            reason=SURPLUS,
        )
        release = _diverse(release, _clusters(release), table, settings)
        release = _without_small_clusters(release, table, settings.k)
        # Nothing is published that was not before.
        if np.count_nonzero(release.published) == before:
            return release


def _without_small_clusters(release: Release, table: RecordTable, k: int) -> Release:
    """A row of which no word is left was perhaps one of k that its cluster needs."""
    cluster_of, count = _clusters(release), int(release.clusters.max(initial=-1)) + 1
    people = members_of(cluster_of, count).people(table.users)
    return withhold(release, _in_groups(people < k, cluster_of), TOO_FEW)


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
        LogLevels(table, taxonomy),
        k=settings.k,
        precision=finest,
        senses=settings.scope == "sensitive",
    )
    if settings.guarantee == "strict":
        return strict
    as_typed = settings.scope == "all"
    return redact_by_terms(table, strict, k=settings.k, finest=finest, attributes=as_typed)
