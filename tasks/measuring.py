"""§4.1 and beyond: what a release costs and what risk is left, large parts of it in shards.

Shards are cut by the data alone and their results are added up in order, so that the figures are
the same whoever measures. What only counts is done here: to send it would take longer.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from tasks.core.measures.cohesion import cluster_cohesion, summarise_cohesion
from tasks.core.measures.counts import cluster_sizes, count_release, distributions
from tasks.core.measures.information_loss import LossSums, ShownRows, loss_of, loss_sums, shown_rows
from tasks.core.measures.random_clusters import (
    PERMUTATIONS,
    Permutation,
    Scene,
    compare_with_random,
    permutation_cost,
)
from tasks.core.measures.risk import diversity, linkage_risk, partial_knowledge
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Clusters, Floats, Ints, QueryLog, RecordTable, Release
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import dataset_centre
from tasks.core.starmap import Starmap, serial
from tasks.phases import Comparison
from tasks.runtime.errors import contained
from tasks.runtime.knowledge import Knowledge, knowledge_in, topic_map, wordnet
from tasks.runtime.progress import Progress, silent, watched
from tasks.runtime.workers import running_shards
from tasks.settings import Settings
from tasks.version import VERSION

FEWEST_TO_SHARE: Final = 200_000
"""Fewer records are measured before others would be ready to help."""


@contained
def measure(
    settings: Settings,
    log: QueryLog,
    table: RecordTable,
    comparison: Comparison,
    clusters: Clusters,
    release: Release,
    *,
    progress: Progress = silent,
) -> dict[str, Any]:
    """All that `measures.json` says of a release."""
    with _run_for(settings, table, progress) as run:
        cohesion = _cohesion(settings, table, comparison, clusters, run)
        centre = centre_of(table, comparison, run)
        loss = _information_loss(settings, table, centre, release, run)
        random_clusters = _random_clusters(settings, table, centre, clusters, run)
    return {
        "settings": settings.published(),
        "versions": {
            "logveil": VERSION,
            "wordnet": f"3.0 ({wordnet(settings.store).version})",
            "python": platform.python_version(),
        },
        **count_release(log, table, clusters, release),
        "cohesion": summarise_cohesion(cohesion, cluster_sizes(clusters)),
        "information_loss": loss,
        "risk": {
            **linkage_risk(table, release),
            "partial_knowledge": partial_knowledge(table, release),
        },
        "diversity": diversity(table, clusters),
        "figures": {
            **distributions(log, table, clusters, release, cohesion, k=settings.k),
            "random_clusters": random_clusters,
        },
    }


@contextmanager
def _run_for(settings: Settings, table: RecordTable, progress: Progress) -> Iterator[Starmap]:
    """Whoever measures; says how many shards are done, if others help."""
    if len(table) < FEWEST_TO_SHARE:
        yield serial
        return
    # Those of the centre, at least one for cohesion and one for the loss, and permutations.
    foreseen = -(-len(table.sets) // PART_SIZES.sets_per_part) + 2 + 1 + PERMUTATIONS
    with running_shards(settings.workers) as run:
        yield watched(run, foreseen, progress)


def _cohesion(
    settings: Settings, table: RecordTable, comparison: Comparison, clusters: Clusters, run: Starmap
) -> Floats:
    distances = comparison.distances
    return cluster_cohesion(
        table,
        clusters,
        distances.in_classes(table.sets),
        distances.similar(settings.threshold),
        distance=settings.distance,
        starmap=run,
    )


def centre_of(table: RecordTable, comparison: Comparison, run: Starmap = serial) -> Ints:
    """The concepts of the data set's centre; none if no record has attributes."""
    own = table.set_of[table.set_of >= 0]
    if not len(own):
        return np.zeros(0, dtype=np.int32)
    costs = SetCosts.of(table.sets, comparison.distances)
    return table.sets.row(dataset_centre(costs, np.bincount(own, minlength=len(table.sets)), run))


def _information_loss(
    settings: Settings, table: RecordTable, centre: Ints, release: Release, run: Starmap
) -> dict[str, Any]:
    known = knowledge_in(settings.store, settings.topics)
    shards = ((known, settings.inclusive, centre, rows) for rows in shown_rows(table, release))
    topics = topic_map(settings.store, settings.topics)
    return asdict(loss_of(run(loss_of_shard, shards), topics))


@contained
def loss_of_shard(known: Knowledge, inclusive: bool, centre: Ints, rows: ShownRows) -> LossSums:
    """What some rows lose; runs in a worker."""
    return loss_sums(rows, centre, known.taxonomy, known.topic_map, inclusive=inclusive)


def _random_clusters(
    settings: Settings, table: RecordTable, centre: Ints, clusters: Clusters, run: Starmap
) -> dict[str, Any]:
    known = knowledge_in(settings.store, settings.topics)

    def price(permutations: Iterable[Permutation]) -> Iterator[float]:
        given = ((known, settings.inclusive, permutation) for permutation in permutations)
        return run(cost_of_permutation, given)

    scene = Scene(table, wordnet(settings.store).taxonomy, settings.inclusive)
    return compare_with_random(scene, clusters, centre, price)


@contained
def cost_of_permutation(known: Knowledge, inclusive: bool, permutation: Permutation) -> float:
    """What random clusters cost; runs in a worker."""
    return permutation_cost(permutation, known.taxonomy, inclusive=inclusive)
