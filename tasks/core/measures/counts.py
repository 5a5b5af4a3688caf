"""How much was read, published and withheld."""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import equal_sets, group_by, people_per_label, take_ragged
from tasks.core.detection.identifiers import KINDS
from tasks.core.measures.schema import CountSections
from tasks.core.records import ATTRIBUTE, Clusters, Flags, Longs, QueryLog, RecordTable, Release


def count_release(
    log: QueryLog, table: RecordTable, clusters: Clusters, release: Release
) -> CountSections:
    """Records, users, words and clusters, before and after."""
    published = int(release.published.sum())
    return {
        "records": {
            "read": log.rows_read,
            "rejected": len(log.reject_rows),
            "with_attributes": int((table.set_of >= 0).sum()),
            "published": published,
            "withheld": len(table) - published,
        },
        "users": {
            "read": log.user_count,
            "published": int(np.count_nonzero(np.bincount(table.users[release.published]))),
            "from_column": log.has_users,
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


def _count_attributes(table: RecordTable) -> dict[str, int]:
    """Mentions of attributes in all records, and those that are sensitive only in doubt."""
    bounds = table.forms.item_offsets
    mentioned = np.concatenate(([0], np.cumsum(table.forms.item_kinds == ATTRIBUTE)))
    per_form = mentioned[bounds[1:]] - mentioned[bounds[:-1]]
    return {"mentions": int(per_form[table.form_of].sum()), "in_doubt": table.in_doubt}


def _shares(log: QueryLog, table: RecordTable, release: Release) -> dict[str, float]:
    """Parts of all rows read: published, published but not as they were, withheld."""
    published = int(release.published.sum())
    rows = max(1, log.rows_read)
    return {
        "published": published / rows,
        "changed": (published - int(_unchanged(table, release).sum())) / rows,
        "withheld": (len(table) - published) / rows,
    }


def _unchanged(table: RecordTable, release: Release) -> Flags:
    """Records that publish all they said, and nothing else."""
    records = np.flatnonzero(release.published)
    first, pair_of = group_by(table.form_of[records], release.class_of[records])
    forms, classes = table.form_of[records[first]], release.class_of[records[first]]
    concepts = table.forms.item_concepts
    items = np.where(concepts >= 0, -1 - concepts, table.forms.item_words)
    item_offsets, item_places = take_ragged(table.forms.item_offsets, forms)
    term_offsets, term_places = take_ragged(release.term_offsets, classes)
    same = equal_sets(
        (item_offsets, items[item_places]), (term_offsets, release.terms[term_places])
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
