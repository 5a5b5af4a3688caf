"""What an adversary can still do with a release, and how diverse its clusters are.

Linkage: an adversary knows everything of a person's query, text and time, and the algorithm; at
best they find the class of rows it was published in, and then guess among the people of that
class. That is an upper bound of nearest-record linkage (Domingo-Ferrer & Torra 2001). In the raw
log the same adversary finds the rows with that very query.
"""

from __future__ import annotations

import numpy as np

from tasks.core.clusters import people_per_label
from tasks.core.records import Clusters, Floats, Ints, RecordTable, Release


def linkage_risk(table: RecordTable, release: Release) -> dict[str, float]:
    """Expected and worst success of linkage per record, raw and released, 0 … 1."""
    raw = _success(table.form_of, table.users, len(table.forms))
    released = _success(release.class_of, table.users, release.class_count)
    return {
        "raw_expected": float(raw.mean()),
        "raw_worst": float(raw.max()),
        "released_expected": float(released.mean()),
        "released_worst": float(released.max()),
    }


def _success(labels: Ints, users: Ints, count: int) -> Floats:
    """One over the number of people of a record's label; a record without label: 0."""
    people = people_per_label(labels, users, count)
    return np.where(labels >= 0, 1.0 / np.maximum(people, 1)[labels], 0.0)


def diversity(table: RecordTable, clusters: Clusters) -> dict[str, float]:
    """l-diversity of clusters (Machanavajjhala et al. 2007): the least number of distinct
    original sets, and the median entropy of their distribution, in bits."""
    members = clusters.labels >= 0
    if not members.any():
        return {"min_distinct": 0, "median_entropy": 0.0}
    pairs = np.stack([clusters.labels[members], table.set_of[members]], axis=1)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    labels = distinct[:, 0]
    shares = counts / np.bincount(labels, counts)[labels]
    entropy = np.bincount(labels, -shares * np.log2(shares))
    return {
        "min_distinct": int(np.bincount(labels).min()),
        "median_entropy": float(np.median(np.abs(entropy))),
    }
