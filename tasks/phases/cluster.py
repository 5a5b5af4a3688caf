"""Phase 4, cluster: microaggregation into clusters of at least k people (paper §3.3, Algorithm 3).

In: the `RecordTable` and its `Comparison`. Out: a `Clustering`. By method: the paper's Algorithm 3,
MDAV, V-MDAV, or adaptive (the default). A release that is appended to an edition then looks for
each record whether a published cluster takes it, or a new one, or whether it waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tasks.adapters.resources import wordnet
from tasks.core.append.assignment import Assignment, assign, clusters_in_use, with_centroids
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.records import Clusters, RecordTable
from tasks.core.similarity.costs import SetCosts
from tasks.phases.compare import Comparison, comparison_fingerprint
from tasks.phases.job import Job, Published
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import watched
from tasks.runtime.results import Nothing, Result, Whole

SETS_PER_SECOND: Final = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Who stands with whom.

    Attributes:
        clusters: of this release.
        settlement: the same in the numbers of the edition that it is appended to, with what its
            clusters publish; None for a release of its own.
    """

    clusters: Clusters
    settlement: Assignment | None = None


def cluster(
    job: Job, table: Result[RecordTable], compared: Result[Comparison]
) -> Result[Clustering]:
    return Result(
        "cluster",
        cluster_fingerprint(job),
        lambda: cluster_records(job, table.value, compared.value),
        Nothing() if job.appended_to else Whole(job.store, Clustering),
        lambda found: f"{found.clusters.count} clusters",
    )


def cluster_fingerprint(job: Job) -> str:
    return job.fingerprint("cluster", comparison_fingerprint(job), code_fingerprint(__name__))


def cluster_records(job: Job, table: RecordTable, comparison: Comparison) -> Clustering:
    """Clusters of at least k people; appended ones joined to what was published."""
    clusters = _clusters(job, table, comparison)
    if job.appended_to is None:
        return Clustering(clusters)
    return _settled(job, table, comparison, clusters, job.appended_to)


def _clusters(job: Job, table: RecordTable, comparison: Comparison) -> Clusters:
    settings = job.settings
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


def _settled(
    job: Job,
    table: RecordTable,
    comparison: Comparison,
    clusters: Clusters,
    published: Published,
) -> Clustering:
    """Find a place for each record: in a published cluster, in a new one, or nowhere yet."""
    taxonomy, inclusive = wordnet(job.settings.store).taxonomy, job.settings.inclusive
    rows = generalise(members_of(table, clusters.labels), taxonomy, inclusive=inclusive)
    settlement = assign(
        table,
        clusters,
        rows,
        published.sets,
        taxonomy,
        inclusive=inclusive,
        k=job.settings.k,
        l=job.settings.l,
    )
    in_use, _ = clusters_in_use(settlement)
    costs = SetCosts.of(table.sets, comparison.distances)
    return Clustering(with_centroids(table, in_use, costs), settlement)
