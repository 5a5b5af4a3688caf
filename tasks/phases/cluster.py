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
from numpy.typing import NDArray

from tasks.adapters.resources import topic_map, wordnet
from tasks.core.arrays import numbered_by_first
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of, clusters_of_labels
from tasks.core.columns import Kind, column, computed, places_of, row_parts
from tasks.core.diversity import sensitive_sets
from tasks.core.events import unit_keys
from tasks.core.records import PRECISIONS, Clusters, Flags, Ints, QueryLog, RecordTable
from tasks.core.rows.classes import classes_of, numbered_from, only
from tasks.core.rows.levels import LevelsOf, LogLevels
from tasks.core.rows.problem import Problem, groups_of, row_problem
from tasks.core.rows.returning import Company, company_of, keep_company, never_enough
from tasks.core.rows.search import NOWHERE
from tasks.core.similarity.costs import SetCosts
from tasks.phases.compare import Comparison, comparison_fingerprint
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.progress import watched
from tasks.runtime.results import Nothing, Result, Whole

SETS_PER_SECOND: Final = 1000
UNITS_PER_SECOND: Final = 6000
SEARCHES: Final = 2
"""How often classes are searched for people who return."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Who stands with whom.

    Attributes:
        classes: class of each record that one row tells, or -1, a column, shape (n,); empty for
            guarantee `paper`, which redacts records one by one.
        left: records that no class may take, because too few of those stand in it with whom they
            were published before, a column, shape (n,).
        clusters: of attribute sets, with their centroids, for that guarantee alone.
    """

    classes: Ints
    left: Flags
    clusters: Clusters | None = None


def cluster(
    job: Job, log: Result[QueryLog], table: Result[RecordTable], compared: Result[Comparison]
) -> Result[Clustering]:
    return Result(
        "cluster",
        cluster_fingerprint(job),
        lambda: cluster_records(job, log, table.value, compared.value),
        Nothing() if job.appended_to else Whole(job.store, Clustering),
        _label,
    )


def _label(found: Clustering) -> str:
    if found.clusters is not None:
        return f"{found.clusters.count} clusters"
    return f"{int(found.classes.max(initial=-1)) + 1} classes of rows"


def cluster_fingerprint(job: Job) -> str:
    chosen, code = job.settings, code_fingerprint(__name__)
    decisive = (chosen.guarantee == "paper", chosen.time, chosen.dominance)
    sizes = job.sizes.units_per_part
    return job.fingerprint("cluster", comparison_fingerprint(job), code, *decisive, sizes)


def cluster_records(
    job: Job, log: Result[QueryLog], table: RecordTable, comparison: Comparison
) -> Clustering:
    """Classes of at least k people; clusters of their sets where records are redacted singly.

    Args:
        log: asked for by a release that is appended: it tells who asks the same again.
    """
    guarantee, none = job.settings.guarantee, np.zeros(len(table), dtype=np.bool_)
    if guarantee == "paper":
        return Clustering(np.zeros(0, dtype=np.int32), none, _clusters(job, table, comparison))
    problem, unit_of = _problem(job, table, comparison)
    if guarantee != "strict" or job.appended_to is None:
        return Clustering(_of_records(_searched(job, problem), unit_of), none)
    log_rows = _of_records(table.log_rows, _first_records(unit_of, len(problem)))
    units = unit_keys(log.value, job.store.secret, log_rows)
    company = company_of(units, log.value.people[problem.users], job.appended_to.rows)
    classes, left = _in_company(job, problem, company)
    return Clustering(_of_records(classes, unit_of), _of_records(left, unit_of))


def _of_records(values: NDArray[Kind], places: Ints) -> NDArray[Kind]:
    """The value at each place, as a column."""
    return computed(len(places), values.dtype, lambda rows: values[places[rows]])


def _first_records(unit_of: Ints, count: int) -> Ints:
    """The first record of each unit, as a column."""
    first = column(count, np.int32)
    for rows in reversed([*row_parts(len(unit_of))]):
        # The last of several values for one place stays.
        first[unit_of[rows][::-1]] = np.arange(rows.start, rows.stop)[::-1]
    return first


def _in_company(job: Job, problem: Problem[LevelsOf], company: Company) -> tuple[Ints, Flags]:
    """Classes in which whoever returns stands with k people of all earlier ones.

    What closes because somebody left it is searched once more, without them.
    """
    left = never_enough(company, k=problem.k)
    classes = np.full(len(problem), NOWHERE, dtype=np.int32)
    for _ in range(SEARCHES):
        open_to_all = places_of((classes == NOWHERE) & ~left)
        found = _searched(job, only(problem, open_to_all))
        classes[open_to_all] = numbered_from(int(classes.max(initial=-1)) + 1, found)
        classes, leaving = keep_company(classes, company, k=problem.k)
        left |= leaving
        if not leaving.any():
            break
    return numbered_by_first(classes), left


def _searched(job: Job, problem: Problem[LevelsOf]) -> Ints:
    """The class of each unit of a problem."""
    most = job.sizes.units_per_part
    with job.executor.running(len(problem) / UNITS_PER_SECOND) as starmap:
        seen = watched(starmap, -(-len(problem) // most), job.progress)
        return classes_of(problem, seen, units_per_part=most)


def _problem(
    job: Job, table: RecordTable, comparison: Comparison, *, words: bool = True
) -> tuple[Problem[LevelsOf], Ints]:
    """What rows could tell, within clusters of sets if the method forms them; units of records.

    Args:
        words: whether rows tell words, too, or attributes alone.
    """
    settings = job.settings
    levels = LogLevels(table, wordnet(settings.store).taxonomy, words=words)
    groups = None
    if settings.method != "adaptive":
        own = levels.of(np.arange(len(levels)))
        groups = groups_of(table, _clusters(job, table, comparison).labels, own)
    return row_problem(
        table,
        levels,
        k=settings.k,
        l=settings.l,
        precision=PRECISIONS[settings.time],
        groups=groups,
        sets=sensitive_sets(table, topic_map(settings.store, settings.topics).sensitive),
        dominance=settings.dominance,
    )


def _clusters(job: Job, table: RecordTable, comparison: Comparison) -> Clusters:
    """Clusters of attribute sets, each of at least k people, with their centroids."""
    settings = job.settings
    if settings.method == "adaptive":
        rows, unit_of = _problem(job, table, comparison, words=False)
        classes = _of_records(_searched(job, rows), unit_of)
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
