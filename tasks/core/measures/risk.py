"""What an adversary can still do with a release, and how diverse its clusters are.

Linkage: an adversary knows everything of a person's query, text and time, and the algorithm; at
best they find the class of rows it was published in, and then guess among the people of that
class. That is an upper bound of nearest-record linkage (Domingo-Ferrer & Torra 2001). In the raw
log the same adversary finds the rows with that very query.
"""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import people_per_label, take_ragged
from tasks.core.records import Clusters, Floats, Ints, Longs, RecordTable, Release


def linkage_risk(table: RecordTable, release: Release) -> dict[str, float]:
    """Expected and worst success of linkage per record, raw and released, 0 … 1."""
    if not len(table):
        names = ("raw_expected", "raw_worst", "released_expected", "released_worst")
        return dict.fromkeys(names, 0.0)
    raw, released = raw_success(table), released_success(table, release)
    return {
        "raw_expected": float(raw.mean()),
        "raw_worst": float(raw.max()),
        "released_expected": float(released.mean()),
        "released_worst": float(released.max()),
    }


def raw_success(table: RecordTable) -> Floats:
    """Success of linkage of each record in the raw log."""
    return _success(table.form_of, table.users, len(table.forms))


def released_success(table: RecordTable, release: Release) -> Floats:
    """Success of linkage of each record in the release."""
    return _success(release.class_of, table.users, release.class_count)


def _success(labels: Ints, users: Ints, count: int) -> Floats:
    """One over the number of people of a record's label; a record without label: 0."""
    success = 1.0 / np.maximum(people_per_label(labels, users, count), 1)
    # The last entry is for records without a label, whose number is -1.
    return np.append(success, 0.0)[labels]


def partial_knowledge(table: RecordTable, release: Release) -> dict[str, float]:
    """k^m on what is published (Terrovitis et al. 2008): people behind one, and two, terms.

    The least and the mean number of people who share any term, and any two terms that stand
    together in a row, over all of those.
    """
    records = np.flatnonzero(release.published)
    classes, users = release.class_of[records], table.users[records]
    singles = _people_per_key(classes, users, *_terms_of_classes(release))
    pairs = _people_per_key(classes, users, *_pairs_of_classes(release))
    return {
        "one_term_least": int(singles.min()) if len(singles) else 0,
        "one_term_mean": float(singles.mean()) if len(singles) else 0.0,
        "two_terms_least": int(pairs.min()) if len(pairs) else 0,
        "two_terms_mean": float(pairs.mean()) if len(pairs) else 0.0,
    }


def _terms_of_classes(release: Release) -> tuple[Longs, Longs]:
    """Offsets by class, and a number for each term."""
    _, numbers = np.unique(release.terms, return_inverse=True)
    return release.term_offsets, numbers.ravel()


def _pairs_of_classes(release: Release) -> tuple[Longs, Longs]:
    """Offsets by class, and a number for each pair of terms in it."""
    offsets, numbers = _terms_of_classes(release)
    sizes = np.diff(offsets)
    first = np.arange(len(numbers)) - np.repeat(offsets[:-1], sizes)
    after = np.repeat(sizes, sizes) - first - 1
    left = np.repeat(np.arange(len(numbers)), after)
    starts = np.cumsum(after) - after
    right = left + 1 + np.arange(len(left)) - np.repeat(starts, after)
    low, high = np.minimum(numbers[left], numbers[right]), np.maximum(numbers[left], numbers[right])
    _, pairs = np.unique(low * (numbers.max(initial=0) + 1) + high, return_inverse=True)
    pair_offsets = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
    return pair_offsets.astype(np.int64), pairs.ravel()


def _people_per_key(classes: Ints, users: Ints, offsets: Longs, keys: Longs) -> Longs:
    """Distinct users behind each key, given the keys of each class."""
    _, places = take_ragged(offsets, classes)
    owners = np.repeat(users, np.diff(offsets)[classes])
    labels = keys[places].astype(np.int32)
    return people_per_label(labels, owners, int(keys.max(initial=-1)) + 1)


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
