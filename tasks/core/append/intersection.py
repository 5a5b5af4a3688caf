"""What somebody learns who holds two releases of the same records: whom both rows may stand for.

That is the price of a new edition while the earlier one was not withdrawn. Releases of one edition
have no record in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tasks.core.records import Ints, Longs

MOST_PEOPLE = 4_000_000
"""People of classes that are held against each other at a time."""


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
    first: PublishedRecords, second: PublishedRecords, *, k: int
) -> IntersectionRisk:
    """Count, for each record in both releases, the people who stand in both of its classes."""
    width = 1 + max(int(release.users.max(initial=-1)) for release in (first, second))
    one, other = _published(first), _published(second)
    _, left, right = np.intersect1d(one.ids, other.ids, return_indices=True)
    if not len(left):
        return IntersectionRisk(0, 0, 0.0, 0.0)
    pairs = np.stack([one.classes[left], other.classes[right]], axis=1)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    people = _common_people(_people(one, width), _people(other, width), distinct)
    return IntersectionRisk(
        records=len(left),
        least=int(people.min()),
        mean=float(people @ counts / len(left)),
        below_k=float(counts[people < k].sum() / len(left)),
    )


def _published(release: PublishedRecords) -> PublishedRecords:
    chosen = release.classes >= 0
    ids, classes, users = release
    return PublishedRecords(ids[chosen], classes[chosen], users[chosen])


def _people(release: PublishedRecords, width: int) -> sparse.csr_matrix:
    """Who stands in each class, one row per class."""
    keys = np.unique(release.classes.astype(np.int64) * width + release.users)
    classes, users = np.divmod(keys, width)
    shape = (int(classes.max(initial=-1)) + 1, width)
    return sparse.csr_matrix((np.ones(len(keys), dtype=np.int64), (classes, users)), shape=shape)


def _common_people(one: sparse.csr_matrix, other: sparse.csr_matrix, pairs: Ints) -> Longs:
    """People in both classes of each pair."""
    sizes = np.diff(one.indptr)[pairs[:, 0]] + np.diff(other.indptr)[pairs[:, 1]]
    parts = [
        np.asarray(one[block[:, 0]].multiply(other[block[:, 1]]).sum(axis=1)).ravel()
        for block in _blocks(pairs, sizes)
    ]
    return np.concatenate(parts).astype(np.int64)


def _blocks(pairs: Ints, sizes: Longs) -> Iterator[Ints]:
    """The pairs in their order, cut so that no block names too many people."""
    number = np.cumsum(sizes, dtype=np.int64) // MOST_PEOPLE
    yield from np.split(pairs, np.flatnonzero(np.diff(number)) + 1)
