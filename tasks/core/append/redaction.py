"""What the records of a pool publish, in the edition's cluster numbers; the others wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import numpy as np

from tasks.core.append.assignment import Assignment
from tasks.core.records import Clusters, Ints, RecordTable, Release
from tasks.core.redaction.by_record import redact_by_terms
from tasks.core.redaction.published import place_attributes
from tasks.core.redaction.strict import redact_strictly
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import group_medoids
from tasks.core.taxonomy import Taxonomy

KAnonymous = Literal["strict", "terms"]

REDACTIONS: Final = {"strict": redact_strictly, "terms": redact_by_terms}

MOST_CANDIDATES: Final = 64
"""The middle of a large cluster is looked for among so many of its most frequent sets."""


def redact_pool(
    table: RecordTable,
    assignment: Assignment,
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    guarantee: KAnonymous,
    k: int,
) -> Release:
    """Redact by the records of the pool alone, so that the release holds by itself."""
    clusters, numbers = clusters_in_use(assignment)
    rows = [assignment.rows[number] for number in numbers.tolist()]
    published = place_attributes(table, clusters, rows, taxonomy, inclusive=inclusive)
    release = REDACTIONS[guarantee](table, clusters, published, k=k)
    return replace(release, clusters=np.append(numbers, np.int32(-1))[release.clusters])


def clusters_in_use(assignment: Assignment) -> tuple[Clusters, Ints]:
    """The clusters of this release numbered 0, 1, …, as redaction and measures want them.

    Returns:
        The clusters, waiting records suppressed, and the edition's number of each.
    """
    held = assignment.labels >= 0
    numbers, places = np.unique(assignment.labels[held], return_inverse=True)
    labels = np.full(len(held), -1, dtype=np.int32)
    labels[held] = places
    suppressed = assignment.waiting.copy()
    return Clusters(labels, suppressed, np.full(len(numbers), -1, dtype=np.int32)), numbers


def with_centroids(table: RecordTable, clusters: Clusters, costs: SetCosts) -> Clusters:
    """The same clusters, each with the first record of its medoid, ties by order.

    Args:
        costs: of the table's sets.
    """
    held = np.flatnonzero(clusters.labels >= 0)
    keys = clusters.labels[held].astype(np.int64) * len(table.sets) + table.set_of[held]
    units, first, counts = np.unique(keys, return_index=True, return_counts=True)
    labels, sets = np.divmod(units, max(1, len(table.sets)))
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    groups = np.append(starts, len(sets)), sets
    found = group_medoids(costs, groups, counts, most_candidates=MOST_CANDIDATES)
    return replace(clusters, centroids=held[first[found]].astype(np.int32))
