"""How much was read, published and withheld, and how it is spread.

Distributions are what the report draws: of bounded size, however long the log is.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from tasks.core.arrays import equal_sets, owners, pairs_of, sums_by, take_ragged
from tasks.core.columns import joined, row_parts
from tasks.core.detection.identifiers import KINDS
from tasks.core.events import KNOWN
from tasks.core.measures.standing import Standing
from tasks.core.members import Members
from tasks.core.records import (
    ATTRIBUTE,
    WITHHELD,
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
    log: QueryLog, standing: Standing, clusters: Members, same: Flags
) -> CountSections:
    """Records, users, words and clusters, before and after.

    Args:
        same: records that are `unchanged`.
    """
    table, release = standing.table, standing.release
    published, found = len(standing.members.rows), _counted(table, release, same)
    # Parts of all rows read; those with attributes are all that the paper's measures speak of.
    rows = max(1, log.rows_read)
    return {
        "records": {
            "read": log.rows_read,
            "rejected": len(log.reject_rows),
            "known": int((log.reject_reasons == KNOWN).sum()),
            "with_attributes": found["with_attributes"],
            "published": published,
            "withheld": len(table) - published,
        },
        "withheld_by_reason": _reasons(release),
        "users": {
            "read": log.user_count,
            "published": _people_published(standing),
            "counted": log.counted.unit,
            "column": log.counted.column,
        },
        "words": {
            "read": found["words"],
            "published": int(np.diff(release.term_offsets) @ standing.members.sizes),
        },
        "attributes": {"mentions": found["mentions"], "in_doubt": table.in_doubt},
        "identifiers": dict(zip(KINDS, table.identifiers.tolist(), strict=True)),
        "shares": {
            "published": published / rows,
            "changed": (published - found["same"]) / rows,
            "withheld": (len(table) - published) / rows,
            "with_attributes": found["with_attributes"] / rows,
            "with_attributes_published": found["with_attributes_published"] / rows,
        },
        "clusters": _count_clusters(table, clusters),
    }


def _counted(table: RecordTable, release: Release, same: Flags) -> Counter[str]:
    """Records, and words and mentions of attributes in them."""
    found: Counter[str] = Counter()
    for records, part in table.parts():
        speaking, forms = part.set_of >= 0, part.forms
        rows = np.bincount(part.form_of, minlength=len(forms))
        mentions = owners(forms.item_offsets)[forms.item_kinds == ATTRIBUTE]
        counts = {
            "with_attributes": np.count_nonzero(speaking),
            "with_attributes_published": np.count_nonzero(
                speaking & (release.class_of[records] >= 0)
            ),
            "same": np.count_nonzero(same[records]),
            "words": rows @ np.diff(forms.item_offsets),
            "mentions": rows[mentions].sum(),
        }
        found.update({name: int(count) for name, count in counts.items()})
    return found


def _reasons(release: Release) -> dict[str, int]:
    """Withheld records by the reasons that occur, in their order."""
    counts = np.zeros(len(WITHHELD), dtype=np.int64)
    for rows in row_parts(len(release.class_of)):
        withheld = release.class_of[rows] < 0
        counts += np.bincount(release.reasons[rows][withheld], minlength=len(WITHHELD))
    return {reason: rows for reason, rows in zip(WITHHELD, counts.tolist(), strict=True) if rows}


def _people_published(standing: Standing) -> int:
    found = np.zeros(standing.user_count, dtype=np.bool_)
    for part in row_parts(len(standing.people)):
        found[standing.people[part]] = True
    return int(np.count_nonzero(found))


def unchanged(table: RecordTable, release: Release) -> Flags:
    """Records that publish all they said, and nothing else: a column."""
    found = (_unchanged(part, release.part(records)) for records, part in table.parts())
    return joined(len(table), np.bool_, found)


def _unchanged(table: RecordTable, release: Release) -> Flags:
    records = np.flatnonzero(release.published)
    forms, classes, pair_of = pairs_of(
        table.form_of[records].astype(np.int64), release.class_of[records]
    )
    item_offsets, items = take_ragged(table.forms.item_offsets, forms)
    term_offsets, terms = take_ragged(release.term_offsets, classes)
    same = equal_sets(
        (item_offsets, table.forms.item_words[items]), (term_offsets, release.terms[terms])
    )
    unchanged = np.zeros(len(table), dtype=np.bool_)
    unchanged[records] = same[pair_of]
    return unchanged


def _count_clusters(table: RecordTable, clusters: Members) -> dict[str, float]:
    sizes, people = clusters.sizes, clusters.people(table.users)
    some = len(clusters) > 0
    return {
        "count": len(clusters),
        "min_users": int(people.min()) if some else 0,
        "min_size": int(sizes.min()) if some else 0,
        "median_size": float(np.median(sizes)) if some else 0.0,
        "max_size": int(sizes.max()) if some else 0,
    }


def distributions(
    log: QueryLog, standing: Standing, clusters: Members, cohesion: Floats, *, k: int
) -> Distributions:
    """How things are spread of which the other measures give mean and extremes."""
    people = standing.people_of_class
    return {
        "distinct": {
            "queries": len(standing.table.forms),
            "sets": len(standing.table.sets),
            "published_rows": int((people > 0).sum()),
        },
        "cohesion": ordered_points(cohesion),
        "cluster_sizes": histogram(clusters.sizes, k=k),
        "people_per_row": histogram(people[people > 0], k=k),
        "risk": {
            "raw": ordered_points(standing.raw),
            "released": ordered_points(standing.released),
        },
        "rejects": dict(sorted(Counter(log.reject_reasons.tolist()).items())),
    }


def ordered_points(values: Floats) -> list[float]:
    """All values ascending, or so many of them at even steps, from the least to the greatest."""
    steps = np.rint(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)))
    found, counts = _different(values)
    points = found[np.searchsorted(np.cumsum(counts), steps, side="right")]
    return [round(value, 4) for value in points.tolist()]


def _different(values: Floats) -> tuple[Floats, Floats]:
    """The different values, ascending, and how often each occurs; chances are few."""
    found, counts = np.zeros(0), np.zeros(0)
    for rows in row_parts(len(values)):
        own, times = np.unique(values[rows], return_counts=True)
        found, places = np.unique(np.concatenate([found, own]), return_inverse=True)
        counts = sums_by(places, np.concatenate([counts, times]), len(found))
    return found, counts


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
