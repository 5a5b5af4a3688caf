"""How much was read, published and withheld, and how it is spread.

Distributions are what the report draws: of bounded size, however long the log is.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tasks.core.arrays import equal_sets, group_by, people_per_label, take_ragged
from tasks.core.detection.identifiers import KINDS
from tasks.core.events import KNOWN
from tasks.core.measures.risk import raw_success, released_success
from tasks.core.records import (
    ATTRIBUTE,
    WITHHELD,
    Clusters,
    Flags,
    Floats,
    Longs,
    QueryLog,
    RecordTable,
    Release,
)
from tasks.schema import CountSections, Distributions, Histogram

MOST_POINTS = 200

WIDEST_LINEAR = 40
"""Numbers that lie further apart than this are counted in bins of equal ratio."""


def count_release(
    log: QueryLog, table: RecordTable, clusters: Clusters, release: Release
) -> CountSections:
    """Records, users, words and clusters, before and after."""
    published = int(release.published.sum())
    return {
        "records": {
            "read": log.rows_read,
            "rejected": len(log.reject_rows),
            "known": int((log.reject_reasons == KNOWN).sum()),
            "with_attributes": int((table.set_of >= 0).sum()),
            "published": published,
            "withheld": len(table) - published,
        },
        "withheld_by_reason": _reasons(release),
        "users": {
            "read": log.user_count,
            "published": int(np.count_nonzero(np.bincount(table.users[release.published]))),
            "counted": log.counted.unit,
            "column": log.counted.column,
        },
        "words": {
            "read": int(np.diff(table.forms.item_offsets)[table.form_of].sum()),
            "published": int(
                np.diff(release.term_offsets)[release.class_of[release.published]].sum()
            ),
        },
        "attributes": _count_attributes(table),
        "identifiers": dict(zip(KINDS, table.identifiers.tolist(), strict=True)),
        "shares": _shares(log, table, release),
        "clusters": _count_clusters(table, clusters),
    }


def _reasons(release: Release) -> dict[str, int]:
    """Withheld records by the reasons that occur, in their order."""
    counts = np.bincount(release.reasons[~release.published], minlength=len(WITHHELD)).tolist()
    return {reason: rows for reason, rows in zip(WITHHELD, counts, strict=True) if rows}


def _count_attributes(table: RecordTable) -> dict[str, int]:
    """Mentions of attributes in all records, and those that are sensitive only in doubt."""
    bounds = table.forms.item_offsets
    mentioned = np.concatenate(([0], np.cumsum(table.forms.item_kinds == ATTRIBUTE)))
    per_form = mentioned[bounds[1:]] - mentioned[bounds[:-1]]
    return {"mentions": int(per_form[table.form_of].sum()), "in_doubt": table.in_doubt}


def _shares(log: QueryLog, table: RecordTable, release: Release) -> dict[str, float]:
    """Parts of all rows read: published, published but not as they were, withheld; with attributes,
    which are all that the paper's measures speak of, and those of them that are published."""
    published = int(release.published.sum())
    rows, speaking = max(1, log.rows_read), table.set_of >= 0
    return {
        "published": published / rows,
        "changed": (published - int(unchanged(table, release).sum())) / rows,
        "withheld": (len(table) - published) / rows,
        "with_attributes": int(speaking.sum()) / rows,
        "with_attributes_published": int((speaking & release.published).sum()) / rows,
    }


def unchanged(table: RecordTable, release: Release) -> Flags:
    """Records that publish all they said, and nothing else."""
    found = [_unchanged(part, release.part(records)) for records, part in table.parts()]
    return np.concatenate([*found, np.zeros(0, dtype=np.bool_)])


def _unchanged(table: RecordTable, release: Release) -> Flags:
    records = np.flatnonzero(release.published)
    first, pair_of = group_by(table.form_of[records], release.class_of[records])
    forms, classes = table.form_of[records[first]], release.class_of[records[first]]
    item_offsets, items = take_ragged(table.forms.item_offsets, forms)
    term_offsets, terms = take_ragged(release.term_offsets, classes)
    same = equal_sets(
        (item_offsets, table.forms.item_words[items]), (term_offsets, release.terms[terms])
    )
    unchanged = np.zeros(len(table), dtype=np.bool_)
    unchanged[records] = same[pair_of]
    return unchanged


def cluster_sizes(clusters: Clusters) -> Longs:
    """Records of each cluster."""
    members = clusters.labels[clusters.labels >= 0]
    return np.bincount(members, minlength=clusters.count).astype(np.int64)


def _count_clusters(table: RecordTable, clusters: Clusters) -> dict[str, float]:
    sizes = cluster_sizes(clusters)
    people = people_per_label(clusters.labels, table.users, clusters.count)
    some = clusters.count > 0
    return {
        "count": clusters.count,
        "min_users": int(people.min()) if some else 0,
        "min_size": int(sizes.min()) if some else 0,
        "median_size": float(np.median(sizes)) if some else 0.0,
        "max_size": int(sizes.max()) if some else 0,
    }


def distributions(
    log: QueryLog,
    table: RecordTable,
    clusters: Clusters,
    release: Release,
    cohesion: Floats,
    *,
    k: int,
) -> Distributions:
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


def histogram(numbers: Longs, *, k: int) -> Histogram:
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
