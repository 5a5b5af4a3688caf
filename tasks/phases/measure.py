"""Phase 6, measure: what a release keeps, whether it is true, and its risk (paper §4.1 and beyond).

In: everything so far. Out: `Measures`, the figures of `measures.json`. What takes long is cut into
parts by the data alone, and their results are added up in order, so that the figures are the same
whoever measures. What only counts is done here: to send it would take longer.
"""

from __future__ import annotations

import platform
from dataclasses import astuple
from typing import Final, cast

import numpy as np

from tasks.adapters.resources import Resources, resources_in, topic_map, wordnet
from tasks.core.clustering.problem import clusters_of_labels
from tasks.core.columns import computed, counts_of
from tasks.core.diversity import sensitive_sets
from tasks.core.languages import Languages
from tasks.core.measures.basis import public_basis
from tasks.core.measures.cohesion import cluster_cohesion, summarise_cohesion
from tasks.core.measures.counts import count_release, distributions, unchanged
from tasks.core.measures.information import information_kept, truth_of
from tasks.core.measures.information_loss import LossSums, ShownRows, loss_of, loss_sums, shown_rows
from tasks.core.measures.random_clusters import compare_with_random
from tasks.core.measures.risk import (
    attack_successes,
    diversity,
    homogeneous,
    least_people,
    linkage_risk,
    partial_knowledge,
)
from tasks.core.measures.standing import standing_of
from tasks.core.members import members_of
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import PRECISIONS, Clusters, Floats, Ints, QueryLog, RecordTable, Release
from tasks.core.rows.levels import LogLevels
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.starmap import Starmap, serial
from tasks.phases.cluster import Clustering
from tasks.phases.compare import Comparison
from tasks.phases.job import Job
from tasks.phases.read import read_fingerprint
from tasks.phases.redact import redaction_fingerprint
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import watched
from tasks.runtime.redacted_errors import redacted_errors
from tasks.runtime.results import Nothing, Result, Whole
from tasks.schema import (
    InformationLossSection,
    InformationSection,
    LanguageSection,
    Measures,
    TruthSection,
)
from tasks.settings import Settings
from tasks.version import VERSION

RECORDS_PER_SECOND: Final = 66_000


def measure(
    job: Job,
    log: Result[QueryLog],
    table: Result[RecordTable],
    compared: Result[Comparison],
    clustering: Result[Clustering],
    release: Result[Release],
) -> Result[Measures]:
    return Result(
        "measure",
        measure_fingerprint(job),
        lambda: measure_release(
            job, log.value, table.value, compared.value, clustering.value, release.value
        ),
        Nothing() if job.appended_to else Whole(job.store, cast("type[Measures]", dict)),
        lambda measures: f"{measures['information']['kept_percent']:.1f} % of the information kept",
    )


def measure_fingerprint(job: Job) -> str:
    # Sums of parts differ in the last digits by where they are cut.
    decisive = (read_fingerprint(job), code_fingerprint(__name__), astuple(job.sizes))
    return job.fingerprint("measure", redaction_fingerprint(job), *decisive)


def measure_release(
    job: Job,
    log: QueryLog,
    table: RecordTable,
    comparison: Comparison,
    clustering: Clustering,
    release: Release,
) -> Measures:
    """All that `measures.json` says of a release."""
    settings = job.settings
    clusters = clustering.clusters or _as_published(table, release, comparison)
    levels = LogLevels(table, wordnet(settings.store).taxonomy, fillers=False)
    with job.executor.running(len(table) / RECORDS_PER_SECOND) as starmap:
        seen = watched(starmap, _parts_foreseen(job, table), job.progress)
        cohesion = _cohesion(job, table, comparison, clusters, seen)
        centre = centre_of(table, comparison, seen, sets_per_part=job.sizes.sets_per_part)
        loss = _information_loss(job, table, centre, release, seen)
    standing, groups = standing_of(table, release), members_of(clusters.labels, clusters.count)
    risk, same = linkage_risk(standing), unchanged(table, release)
    sets = sensitive_sets(table, topic_map(settings.store, settings.topics).sensitive)
    return {
        "settings": settings.published(),
        "versions": {
            "logveil": VERSION,
            "wordnet": f"3.0 ({wordnet(settings.store).version})",
            "python": platform.python_version(),
        },
        **count_release(log, standing, groups, same),
        "language": _language(log),
        "information": _information(settings, table, release),
        "truth": _truth(settings, table, release),
        "cohesion": summarise_cohesion(cohesion, groups.sizes),
        "information_loss": loss,
        "risk": {
            "raw_expected": risk["raw_expected"],
            "raw_worst": risk["raw_worst"],
            "released_expected": risk["released_expected"],
            "released_worst": risk["released_worst"],
            "published_expected": risk["published_expected"],
            **attack_successes(standing, sets),
            "least_people": least_people(standing),
            "partial_knowledge": partial_knowledge(standing),
        },
        "diversity": {**diversity(table, groups), **homogeneous(standing, sets)},
        "figures": {
            **distributions(log, standing, groups, cohesion, k=settings.k),
            "random_clusters": compare_with_random(table, release, levels),
        },
        "basis": public_basis(
            standing,
            wordnet(settings.store).taxonomy,
            topic_map(settings.store, settings.topics),
            sets,
            same,
            k=settings.k,
            finest=PRECISIONS[settings.time],
        ),
    }


def _language(log: QueryLog) -> LanguageSection:
    found = log.languages or Languages(0, {}, 0)
    return {
        "understood": "en",
        "not_understood": round(found.not_understood, 2),
        "by_language": found.shown(),
    }


def _information(settings: Settings, table: RecordTable, release: Release) -> InformationSection:
    taxonomy, topics = wordnet(settings.store).taxonomy, topic_map(settings.store, settings.topics)
    finest = PRECISIONS[settings.time]
    found = information_kept(table, release, taxonomy, topics, finest=finest)
    return {
        "kept_percent": found.kept_percent,
        "words_percent": found.words_percent,
        "concepts_percent": found.concepts_percent,
        "time_percent": found.time_percent,
        "by_topic": found.by_topic,
    }


def _truth(settings: Settings, table: RecordTable, release: Release) -> TruthSection:
    found = truth_of(table, release, wordnet(settings.store).taxonomy)
    return {"concepts_true": found.concepts_true, "rows_true": found.rows_true}


def _as_published(table: RecordTable, release: Release, comparison: Comparison) -> Clusters:
    """Records with attributes that publish the same concepts."""
    # The last entry is for records that are withheld.
    clusters = np.append(release.clusters, np.int32(-1))
    labels = computed(len(table), np.int32, lambda rows: clusters[release.class_of[rows]])
    return clusters_of_labels(table, labels, SetCosts.of(table.sets, comparison.distances))


def _parts_foreseen(job: Job, table: RecordTable) -> int:
    """Those of the centre, at least one for cohesion and one for the loss."""
    return -(-len(table.sets) // job.sizes.sets_per_part) + 2


def _cohesion(
    job: Job, table: RecordTable, comparison: Comparison, clusters: Clusters, starmap: Starmap
) -> Floats:
    distances = comparison.distances
    return cluster_cohesion(
        table,
        clusters,
        distances.in_classes(table.sets),
        distances.similar(job.settings.threshold),
        distance=job.settings.distance,
        starmap=starmap,
        matches_per_part=job.sizes.matches_per_part,
    )


def centre_of(
    table: RecordTable,
    comparison: Comparison,
    starmap: Starmap = serial,
    *,
    sets_per_part: int = PART_SIZES.sets_per_part,
) -> Ints:
    """The concepts of the data set's centre; none if no record has attributes."""
    own = computed(len(table), np.int32, lambda rows: table.set_of_form[table.form_of[rows]])
    counts = counts_of(own, len(table.sets))
    if not counts.any():
        return np.zeros(0, dtype=np.int32)
    costs = SetCosts.of(table.sets, comparison.distances)
    return table.sets.row(dataset_centre(costs, counts, starmap, sets_per_part=sets_per_part))


def _information_loss(
    job: Job, table: RecordTable, centre: Ints, release: Release, starmap: Starmap
) -> InformationLossSection:
    settings = job.settings
    known = resources_in(settings.store, settings.topics)
    shown = shown_rows(table, release, rows_per_part=job.sizes.rows_per_part)
    parts = ((known, settings.inclusive_distances, centre, rows) for rows in shown)
    topics = topic_map(settings.store, settings.topics)
    found = loss_of(starmap(loss_of_part, parts), topics)
    return {
        "percent": found.percent,
        "symmetric_percent": found.symmetric_percent,
        "by_topic": found.by_topic,
    }


@redacted_errors
def loss_of_part(known: Resources, inclusive: bool, centre: Ints, rows: ShownRows) -> LossSums:
    """What some rows lose; runs in a worker."""
    return loss_sums(rows, centre, known.taxonomy, known.topic_map, inclusive=inclusive)
