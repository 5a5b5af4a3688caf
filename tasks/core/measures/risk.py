"""What an adversary can still do with a release, and how diverse its clusters are.

Linkage: an adversary knows everything of a person's query, text and time, and the algorithm; at
best they find the class of rows it was published in, and then guess among the people of that
class, or pick one of its rows, which is more likely a heavy person's. That is an upper bound of
nearest-record linkage (Domingo-Ferrer & Torra 2001). In the raw log the same adversary finds the
rows with that very query.

Linkability and inference: somebody knows the row that tells a person's query, and picks another
row as theirs, or guesses what is sensitive of them; beside it what succeeds without the release.

Intersection: what somebody learns who holds two releases of the same records: whom both rows may
stand for. That is the price of a new edition while the earlier one was not withdrawn. Releases of
one edition have no record in common, but people return: whoever knows that somebody asked the same
in several of them can intersect the classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse

from tasks.core.arrays import distinct, group_by, people_per_label, take_ragged
from tasks.core.records import Clusters, Flags, Floats, Ints, Longs, RecordTable, Release
from tasks.core.rows.returning import NOT_BEFORE, PublishedRows, company_of, people_of_classes
from tasks.schema import AttackSuccesses

MOST_PEOPLE: Final = 4_000_000
"""People of classes that are held against each other at a time."""


def linkage_risk(table: RecordTable, release: Release) -> dict[str, float]:
    """Expected and worst success of linkage per record, raw and released, 0 … 1.

    Of a record that is withheld 0; `published_expected` is the mean over the others.
    """
    if not len(table):
        names = ("raw_expected", "raw_worst", "released_expected", "released_worst")
        return dict.fromkeys((*names, "published_expected"), 0.0)
    raw, released = raw_success(table), released_success(table, release)
    return {
        "raw_expected": float(raw.mean()),
        "raw_worst": float(raw.max()),
        "released_expected": float(released.mean()),
        "released_worst": float(released.max()),
        "published_expected": _mean(released[release.published]),
    }


def raw_success(table: RecordTable) -> Floats:
    """Success of linkage of each record in the raw log."""
    return _success(table.form_of, table.users, len(table.forms))


def released_success(table: RecordTable, release: Release) -> Floats:
    """Success of linkage of each record in the release."""
    return _success(release.class_of, table.users, release.class_count)


def _success(labels: Ints, users: Ints, count: int) -> Floats:
    """The greater of two chances: to pick the person of a record among the people of its label, and
    to pick a row of theirs among the label's rows; a record without label: 0."""
    # The last entries are for records without a label, whose number is -1.
    people = np.append(people_per_label(labels, users, count), 0)[labels]
    rows = np.append(np.bincount(labels[labels >= 0], minlength=count), 0)[labels]
    first, holding_of = group_by(labels, users)
    own = np.bincount(holding_of, minlength=len(first))[holding_of]
    chance = np.maximum(1.0 / np.maximum(people, 1), own / np.maximum(rows, 1))
    return np.where(labels >= 0, chance, 0.0)


def linked_success(table: RecordTable, labels: Ints) -> Floats:
    """The chance that another row of the same label is the same person's, for each record of one.

    Somebody knows one row of a person and picks another that reads alike, as if it were theirs
    (linkability, WP29 opinion 05/2014). If all have one label: what blind picking gives.

    Returns:
        Shape (records with a label,), in their order.
    """
    labels, users = labels[labels >= 0], table.users[labels >= 0]
    first, holding_of = group_by(labels, users)
    own = np.bincount(holding_of, minlength=len(first))[holding_of]
    rows = np.bincount(labels)[labels] if len(labels) else own
    chances: Floats = (own - 1) / np.maximum(rows - 1, 1)
    return chances


def inferred_success(table: RecordTable, labels: Ints, sets: Ints) -> Floats:
    """Whether what most people behind a record's label hold is its own sensitive set, 0 or 1.

    Somebody knows behind which row a person stands, and that they asked for something sensitive,
    and guesses what most behind that row did (inference, WP29). If all have one label: what
    somebody guesses who knows the log's commonest set and no release.

    Args:
        labels: of each record, or -1.
        sets: what is sensitive of each record, or -1.

    Returns:
        Shape (records with a label and a set,), in their order.
    """
    held = (labels >= 0) & (sets >= 0)
    labels, sets, users = labels[held], sets[held], table.users[held]
    kinds, kind_of = group_by(labels, sets)
    people = people_per_label(kind_of.astype(np.int32), users, len(kinds))
    # By label the commonest set first; of equals that of the lower number.
    order = np.lexsort((sets[kinds], -people, labels[kinds]))
    best = order[np.unique(labels[kinds][order], return_index=True)[1]]
    return np.isin(kind_of, best).astype(np.float64)


def attack_successes(
    table: RecordTable, release: Release, sets: Ints, chosen: Flags | None = None
) -> AttackSuccesses:
    """Mean success of linking rows and of inferring, beside what succeeds by chance.

    Args:
        sets: what is sensitive of each form, or -1.
        chosen: the records whose mean is taken; all that are published if not given.
    """
    published = np.where(release.published, 0, -1).astype(np.int32)
    own = sets[table.form_of]
    counted = np.ones(len(table), dtype=np.bool_) if chosen is None else chosen
    linked, inferred = counted[published >= 0], counted[(published >= 0) & (own >= 0)]
    return {
        "linked_expected": _mean(linked_success(table, release.class_of)[linked]),
        "linked_chance": _mean(linked_success(table, published)[linked]),
        "inferred_expected": _mean(inferred_success(table, release.class_of, own)[inferred]),
        "inferred_chance": _mean(inferred_success(table, published, own)[inferred]),
    }


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def least_people(table: RecordTable, release: Release) -> int:
    """The fewest people behind any published row."""
    people = people_per_label(release.class_of, table.users, release.class_count)
    return int(people[people > 0].min(initial=len(table))) if release.published.any() else 0


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
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)
    labels = kinds[:, 0]
    shares = counts / np.bincount(labels, counts)[labels]
    entropy = np.bincount(labels, -shares * np.log2(shares))
    return {
        "min_distinct": int(np.bincount(labels).min()),
        "median_entropy": float(np.median(np.abs(entropy))),
    }


class Homogeneity(NamedTuple):
    """Which classes of rows are of people who all hold something sensitive, and all the same.

    Attributes:
        sensitive, alike: shape (classes,).
    """

    sensitive: Flags
    alike: Flags


def homogeneous_classes(table: RecordTable, release: Release, sets: Ints) -> Homogeneity:
    """Who knows that a person stands behind a homogeneous row knows that person's sensitive set.

    Args:
        sets: what is sensitive of each form, or -1.
    """
    records = np.flatnonzero(release.published)
    classes, own = release.class_of[records], sets[table.form_of[records]]
    least = np.full(release.class_count, np.iinfo(np.int32).max, dtype=np.int32)
    greatest = np.full(release.class_count, -1, dtype=np.int32)
    np.minimum.at(least, classes, own)
    np.maximum.at(greatest, classes, own)
    sensitive = least >= 0
    return Homogeneity(sensitive, sensitive & (least == greatest))


def homogeneous(table: RecordTable, release: Release, sets: Ints) -> dict[str, int]:
    """Rows of which everybody holds something sensitive, and of these the homogeneous ones."""
    sensitive, alike = homogeneous_classes(table, release, sets)
    return {
        "sensitive_classes": int(sensitive.sum()),
        "homogeneous_classes": int(alike.sum()),
        "homogeneous_rows": int(alike[release.class_of[release.published]].sum()),
    }


class PublishedRecords(NamedTuple):
    """The records of a release.

    Attributes:
        ids: what each record is called in every release, none twice, shape (n,).
        classes: the class of rows it is published in, or -1, shape (n,).
        users: who asked, numbered alike in every release, shape (n,).
    """

    ids: Longs
    classes: Ints
    users: Ints


class IntersectionRisk(NamedTuple):
    """People left for the records that two releases have in common.

    Attributes:
        records: how many records are published in both.
        least: the fewest people in the classes of both releases of any such record; 0: no record.
        mean: the mean of that number over all such records.
        below_k: the share of such records that are left with fewer than k people.
    """

    records: int
    least: int
    mean: float
    below_k: float


def intersection_risk(
    first: PublishedRecords, second: PublishedRecords, *, k: int, most_people: int = MOST_PEOPLE
) -> IntersectionRisk:
    """Count, for each record in both releases, the people who stand in both of its classes.

    Args:
        most_people: people of classes that are held against each other at a time.
    """
    width = 1 + max(int(release.users.max(initial=-1)) for release in (first, second))
    one, other = _published(first), _published(second)
    _, left, right = np.intersect1d(one.ids, other.ids, return_indices=True)
    if not len(left):
        return IntersectionRisk(0, 0, 0.0, 0.0)
    pairs = np.stack([one.classes[left], other.classes[right]], axis=1)
    cases, counts = np.unique(pairs, axis=0, return_counts=True)
    people = _common_people(
        _people_of_classes(one, width), _people_of_classes(other, width), cases, most_people
    )
    return IntersectionRisk(
        records=len(left),
        least=int(people.min()),
        mean=float(people @ counts / len(left)),
        below_k=float(counts[people < k].sum() / len(left)),
    )


def returning_risk(before: PublishedRows, now: PublishedRows, *, k: int) -> IntersectionRisk:
    """The same for what people ask again: those whom all classes of one person's query share.

    Args:
        before: the earlier releases of an edition.
        now: the release that is added; here the records that are counted are units: a person and
            a text.
    """
    first, _ = group_by(now.units)
    company = company_of(now.units[first], now.people[first], before)
    again = np.flatnonzero(company.met_of != NOT_BEFORE)
    if not len(again):
        return IntersectionRisk(0, 0, 0.0, 0.0)
    classes = now.classes[first]
    cases, case_of = group_by(company.met_of[again], classes[again])
    who = people_of_classes(now.classes, now.people, distinct(classes[again]))
    cases = again[cases]
    both = zip(company.met_of[cases].tolist(), classes[cases].tolist(), strict=True)
    people = np.array([len(company.met[met] & who[own]) for met, own in both])[case_of]
    return IntersectionRisk(
        records=len(again),
        least=int(people.min()),
        mean=float(people.mean()),
        below_k=float((people < k).mean()),
    )


def _published(release: PublishedRecords) -> PublishedRecords:
    chosen = release.classes >= 0
    ids, classes, users = release
    return PublishedRecords(ids[chosen], classes[chosen], users[chosen])


def _people_of_classes(release: PublishedRecords, width: int) -> sparse.csr_matrix:
    """Who stands in each class, one row per class."""
    keys = np.unique(release.classes.astype(np.int64) * width + release.users)
    classes, users = np.divmod(keys, width)
    shape = (int(classes.max(initial=-1)) + 1, width)
    return sparse.csr_matrix((np.ones(len(keys), dtype=np.int64), (classes, users)), shape=shape)


def _common_people(
    one: sparse.csr_matrix, other: sparse.csr_matrix, pairs: Ints, most_people: int
) -> Longs:
    """People in both classes of each pair."""
    sizes = np.diff(one.indptr)[pairs[:, 0]] + np.diff(other.indptr)[pairs[:, 1]]
    parts = [
        np.asarray(one[part[:, 0]].multiply(other[part[:, 1]]).sum(axis=1)).ravel()
        for part in _parts(pairs, sizes, most_people)
    ]
    return np.concatenate(parts).astype(np.int64)


def _parts(pairs: Ints, sizes: Longs, most_people: int) -> Iterator[Ints]:
    """The pairs in their order, cut so that no part names too many people."""
    number = np.cumsum(sizes, dtype=np.int64) // most_people
    yield from np.split(pairs, np.flatnonzero(np.diff(number)) + 1)
