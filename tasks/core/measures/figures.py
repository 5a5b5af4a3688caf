"""What the report draws: distributions of bounded size, however long the log is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tasks.core.arrays import people_per_label
from tasks.core.measures.counts import cluster_sizes
from tasks.core.measures.risk import raw_success, released_success
from tasks.core.records import Clusters, Floats, Longs, QueryLog, RecordTable, Release

MOST_POINTS = 200
WIDEST_LINEAR = 40
"""Numbers that lie further apart than this are counted in bins of equal ratio."""


def distributions(
    log: QueryLog,
    table: RecordTable,
    clusters: Clusters,
    release: Release,
    cohesion: Floats,
    *,
    k: int,
) -> dict[str, Any]:
    """How things are spread of which the other measures give mean and extremes."""
    people = people_per_label(release.class_of, table.users, release.class_count)
    return {
        "distinct": {
            "queries": len(table.forms),
            "sets": len(table.sets),
            "published_rows": int((people > 0).sum()),
        },
        "cohesion": ordered_points(cohesion),
        "cluster_sizes": histogram(cluster_sizes(clusters), k=k),
        "people_per_row": histogram(people[people > 0], k=k),
        "risk": {
            "raw": ordered_points(raw_success(table)),
            "released": ordered_points(released_success(table, release)),
        },
        "rejects": dict(sorted(Counter(log.reject_reasons.tolist()).items())),
    }


def ordered_points(values: Floats) -> list[float]:
    """All values ascending, or so many of them at even steps, from the least to the greatest."""
    steps = np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS))
    points = np.sort(values)[np.rint(steps).astype(np.int64)]
    return [round(value, 4) for value in points.tolist()]


def histogram(numbers: Longs, *, k: int) -> dict[str, Any]:
    """How many numbers (of 1 or more) fall in each bin [edge, next edge); k is always an edge."""
    if not len(numbers):
        return {"scale": "linear", "edges": [], "counts": []}
    least, greatest = min(k, int(numbers.min())), max(k, int(numbers.max()))
    linear = greatest - least < WIDEST_LINEAR
    edges = np.arange(least, greatest + 2) if linear else _ratio_edges(least, greatest, k)
    # The greatest number is below the last edge, so no number meets numpy's closed last bin.
    counts, _ = np.histogram(numbers, edges)
    return {
        "scale": "linear" if linear else "log",
        "edges": edges.tolist(),
        "counts": counts.tolist(),
    }


def _ratio_edges(least: int, greatest: int, k: int) -> Longs:
    """Whole numbers as near to k · √2^i as there are, from the least to above the greatest."""
    below, above = (int(np.ceil(2 * np.log2(ratio))) for ratio in (k / least, (greatest + 1) / k))
    # One step more: the last edge may have been rounded down to the greatest number.
    edges = np.rint(k * np.sqrt(2.0) ** np.arange(-below, above + 2)).astype(np.int64)
    first, last = np.searchsorted(np.unique(edges), (least, greatest), side="right")
    return np.unique(edges)[max(0, first - 1) : last + 1]
