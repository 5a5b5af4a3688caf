"""Phase 4, cluster: who stands with whom, at least k people together (paper §3.3).

In: the `RecordTable` and its `Comparison`. Out: a `Clustering`. The default, adaptive, chooses
rows: sets of words, concepts and a time that are true of all who stand behind them, so that k
people stand behind each and as much information as possible is told (`core/rows`). The paper's
Algorithm 3, MDAV and V-MDAV first form clusters of attribute sets; rows are then chosen within.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tasks.adapters.resources import wordnet
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of, clusters_of_labels
from tasks.core.records import PRECISIONS, Clusters, Longs, RecordTable
from tasks.core.rows.classes import classes_of
from tasks.core.rows.levels import VAGUEST, item_levels
from tasks.core.rows.problem import groups_of, row_problem
from tasks.core.similarity.costs import SetCosts
from tasks.phases.compare import Comparison, comparison_fingerprint
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import watched
from tasks.runtime.results import Nothing, Result, Whole

SETS_PER_SECOND: Final = 1000
UNITS_PER_SECOND: Final = 6000


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Who stands with whom.

    Attributes:
        classes: class of each record that one row tells, or -1, shape (n,); empty for guarantee
            `paper`, which redacts records one by one.
        clusters: of attribute sets, with their centroids, for that guarantee alone.
    """

    classes: Longs
    clusters: Clusters | None = None


def cluster(
    job: Job, table: Result[RecordTable], compared: Result[Comparison]
) -> Result[Clustering]:
    return Result(
        "cluster",
        cluster_fingerprint(job),
        lambda: cluster_records(job, table.value, compared.value),
        Nothing() if job.appended_to else Whole(job.store, Clustering),
        _label,
    )


def _label(found: Clustering) -> str:
    if found.clusters is not None:
        return f"{found.clusters.count} clusters"
    return f"{int(found.classes.max(initial=-1)) + 1} classes of rows"


def cluster_fingerprint(job: Job) -> str:
    chosen, code = job.settings, code_fingerprint(__name__)
    decisive = (chosen.guarantee == "paper", chosen.time, job.sizes.units_per_part)
    return job.fingerprint("cluster", comparison_fingerprint(job), code, *decisive)


def cluster_records(job: Job, table: RecordTable, comparison: Comparison) -> Clustering:
    """Classes of at least k people; clusters of their sets where records are redacted singly."""
    if job.settings.guarantee != "paper":
        return Clustering(_classes(job, table, comparison))
    return Clustering(np.zeros(0, dtype=np.int64), _clusters(job, table, comparison))


def _classes(job: Job, table: RecordTable, comparison: Comparison, *, words: bool = True) -> Longs:
    """Rows that tell the most, within clusters of sets if the method forms them.

    Args:
        words: whether rows tell words, too, or attributes alone.
    """
    settings = job.settings
    levels = item_levels(table, wordnet(settings.store).taxonomy, vaguest=VAGUEST, fillers=True)
    levels = levels if words else levels.of_attributes()
    groups = None
    if settings.method != "adaptive":
        groups = groups_of(table, _clusters(job, table, comparison).labels, levels)
    problem, unit_of = row_problem(
        table,
        levels,
        k=settings.k,
        l=settings.l,
        precision=PRECISIONS[settings.time],
        groups=groups,
    )
    most = job.sizes.units_per_part
    with job.executor.running(len(problem) / UNITS_PER_SECOND) as starmap:
        seen = watched(starmap, -(-len(problem) // most), job.progress)
        return classes_of(problem, seen, units_per_part=most)[unit_of]


def _clusters(job: Job, table: RecordTable, comparison: Comparison) -> Clusters:
    """Clusters of attribute sets, each of at least k people, with their centroids."""
    settings = job.settings
    if settings.method == "adaptive":
        classes = _classes(job, table, comparison, words=False)
        costs = SetCosts.of(table.sets, comparison.distances)
        return clusters_of_labels(table, classes, costs)
    if comparison.set_pairs is not None:
        return cluster_as_printed(
            table,
            comparison.set_pairs,
            k=settings.k,
            l=settings.l,
            distance=settings.distance,
        )
    assert comparison.blocks is not None
    problem, sources = comparison.blocks.problem, comparison.blocks.sources
    method, most = CLUSTERINGS[settings.method], job.sizes.sets_per_block
    with job.executor.running(len(problem) / SETS_PER_SECOND) as starmap:
        seen = watched(starmap, len(sources), job.progress)
        return clusters_of(table, method(problem, seen, sources, sets_per_block=most), problem)
