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

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse

from tasks.core import columns
from tasks.core.arrays import (
    distinct,
    group_by,
    owners,
    pairs_of,
    part_slices,
    sums_by,
    take_ragged,
)
from tasks.core.columns import computed, rest, row_parts
from tasks.core.measures.standing import Standing
from tasks.core.members import Members, members_of
from tasks.core.records import Flags, Floats, Ints, Longs, RecordTable, Release
from tasks.core.rows.returning import NOT_BEFORE, PublishedRows, company_of, people_of_classes
from tasks.schema import AttackSuccesses

MOST_PEOPLE: Final = 4_000_000
"""People of classes that are held against each other at a time."""


def linkage_risk(standing: Standing) -> dict[str, float]:
    """Expected and worst success of linkage per record, raw and released, 0 … 1.

    Of a record that is withheld 0; `published_expected` is the mean over the others.
    """
    raw, released = standing.raw, standing.released
    return {
        "raw_expected": mean_of(raw[rows] for rows in row_parts(len(raw))),
        "raw_worst": _greatest(raw),
        "released_expected": mean_of(released[rows] for rows in row_parts(len(raw))),
        "released_worst": _greatest(released),
        "published_expected": mean_of(
            released[rows][_counted(standing, rows)] for rows in row_parts(len(raw))
        ),
    }


def _greatest(values: Floats) -> float:
    return max((float(values[rows].max()) for rows in row_parts(len(values))), default=0.0)


def mean_of(parts: Iterable[Floats]) -> float:
    """The mean of values that come some after the other; of none 0."""
    total, count = 0.0, 0
    for part in parts:
        total += float(part.sum())
        count += len(part)
    return total / count if count else 0.0


def attack_successes(
    standing: Standing, sets: Ints, chosen: Flags | None = None
) -> AttackSuccesses:
    """Mean success of linking rows and of inferring, beside what succeeds by chance.

    Linking: somebody knows one row of a person and picks another that reads alike, as if it were
    theirs (linkability, WP29 opinion 05/2014). Inferring: somebody knows behind which row a person
    stands, and that they asked for something sensitive, and guesses what most people behind that
    row did (inference, WP29). By chance: all rows read alike, so that rows are picked blindly, and
    guessed is the log's commonest set.

    Args:
        sets: what is sensitive of each form, or -1.
        chosen: the records whose mean is taken; all that are published if not given.
    """
    return {
        "linked_expected": mean_of(
            standing.linked[rows][_counted(standing, rows, chosen)]
            for rows in row_parts(len(standing.table))
        ),
        "linked_chance": _linked_blindly(standing, chosen),
        "inferred_expected": _inferred(standing, sets, chosen),
        "inferred_chance": _inferred_blindly(standing, sets, chosen),
    }


def _counted(standing: Standing, rows: slice, chosen: Flags | None = None) -> Flags:
    """Which of some records are published, and chosen."""
    published = standing.release.class_of[rows] >= 0
    return published if chosen is None else published & chosen[rows]


def _linked_blindly(standing: Standing, chosen: Flags | None) -> float:
    """The chance that another published row is the same person's, whichever it is."""
    users, class_of = standing.table.users, standing.release.class_of
    own = np.zeros(standing.user_count, dtype=np.int64)
    for rows in row_parts(len(users)):
        own += np.bincount(users[rows][class_of[rows] >= 0], minlength=len(own))
    others = max(1, len(standing.members.rows) - 1)
    return mean_of(
        (own[users[rows][_counted(standing, rows, chosen)]] - 1) / others
        for rows in row_parts(len(users))
    )


def _inferred(standing: Standing, sets: Ints, chosen: Flags | None) -> float:
    table, right, all_rows = standing.table, 0, 0
    for _, records, groups in standing.members.parts():
        own = sets[table.form_of[records]]
        held = own >= 0
        records, groups, own = records[held], groups[held], own[held]
        guessed = commonest(groups, own, table.users[records])
        guessed = guessed if chosen is None else guessed[chosen[records]]
        right += int(np.count_nonzero(guessed))
        all_rows += len(guessed)
    return right / all_rows if all_rows else 0.0


def commonest(groups: Longs, sets: Ints, users: Ints) -> Flags:
    """Whether each record's set is the one that most people of its group hold; of equals the one
    of the lower number."""
    kinds, held, kind_of = pairs_of(groups, sets)
    people = np.bincount(pairs_of(kind_of, users)[0], minlength=len(kinds))
    order = np.lexsort((held, -people, kinds))
    best = np.zeros(len(kinds), dtype=np.bool_)
    best[order[np.flatnonzero(np.diff(kinds[order], prepend=-1))]] = True
    return np.asarray(best[kind_of])


def _inferred_blindly(standing: Standing, sets: Ints, chosen: Flags | None) -> float:
    table, class_of = standing.table, standing.release.class_of
    own = computed(
        len(table),
        np.int32,
        lambda rows: np.where(class_of[rows] >= 0, sets[table.form_of[rows]], -1),
    )
    # One more than there are: a log may hold nothing sensitive.
    people = members_of(own, int(sets.max(initial=-1)) + 2).people(table.users)
    best, right, all_rows = int(people.argmax()), 0, 0
    for rows in row_parts(len(table)):
        counted = own[rows][_counted(standing, rows, chosen)]
        right += int(np.count_nonzero(counted == best))
        all_rows += int(np.count_nonzero(counted >= 0))
    return right / all_rows if all_rows else 0.0


def least_people(standing: Standing) -> int:
    """The fewest people behind any published row."""
    people = standing.people_of_class
    return int(people[people > 0].min()) if people.any() else 0


def partial_knowledge(standing: Standing) -> dict[str, float]:
    """k^m on what is published (Terrovitis et al. 2008): people behind one, and two, terms.

    The least and the mean number of people who share any term, and any two terms that stand
    together in a row, over all of those.
    """
    release = standing.release
    _, numbers = np.unique(release.terms, return_inverse=True)
    classes = owners(release.term_offsets)
    # The terms of a class one after the other, each with all that follow.
    terms = numbers[np.lexsort((numbers, classes))]
    following = release.term_offsets[1:][classes] - np.arange(len(terms)) - 1
    found: dict[str, float] = {}
    for name, first, lengths in (
        ("one_term", 0, np.ones_like(following)),
        ("two_terms", 1, following),
    ):
        least, total, count = 0, 0, 0
        for people in _people_of_pairs(standing, terms, classes, first, lengths):
            least = min(least, int(people.min())) if count else int(people.min())
            total, count = total + int(people.sum()), count + len(people)
        found[f"{name}_least"] = least
        found[f"{name}_mean"] = total / count if count else 0.0
    return found


def _people_of_pairs(
    standing: Standing, terms: Longs, classes: Longs, first: int, lengths: Longs
) -> Iterator[Longs]:
    """Distinct people behind each pair of a term and one of so many that follow it in its class.

    Pairs are looked at by their first terms: all pairs of a log with all of their people do not fit
    into memory.

    Args:
        terms: of each class in ascending order.
        first: with which the pairs of a term begin: 0 is itself.
        lengths: pairs of each term of a class.
    """
    sizes = standing.people_of_class[classes] * lengths
    order = np.argsort(terms, kind="stable")
    count = int(terms.max(initial=-1)) + 1
    bounds = np.searchsorted(terms[order], np.arange(count + 1))
    for some in part_slices(sums_by(terms, sizes, count).astype(np.int64), columns.ROWS_AT_A_TIME):
        own = order[bounds[some.start] : bounds[some.stop]]
        own = np.repeat(own, lengths[own])
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        within = np.arange(len(own)) - np.repeat(starts, np.diff(np.append(starts, len(own))))
        if len(own):
            keys = terms[own] * count + terms[own + first + within]
            yield _people_behind(standing, keys, classes[own])
        rest()


def _people_behind(standing: Standing, keys: Longs, classes: Longs) -> Longs:
    """Distinct people behind each different key, given the class in which it stands."""
    different, numbers = np.unique(keys, return_inverse=True)
    width, known = max(1, standing.user_count), np.zeros(0, dtype=np.int64)
    for part in part_slices(standing.people_of_class[classes], columns.ROWS_AT_A_TIME):
        offsets, places = take_ragged(standing.offsets, classes[part])
        held = np.repeat(numbers[part], np.diff(offsets)) * width + standing.people[places]
        known = distinct(np.concatenate([known, held]))
    return np.bincount(known // width, minlength=len(different)).astype(np.int64)


def diversity(table: RecordTable, clusters: Members) -> dict[str, float]:
    """l-diversity of clusters (Machanavajjhala et al. 2007): the least number of distinct
    original sets, and the median entropy of their distribution, in bits."""
    kinds = np.zeros(len(clusters), dtype=np.int64)
    entropy = np.zeros(len(clusters))
    for groups, records, owner in clusters.parts():
        own, _, pair_of = pairs_of(owner, table.set_of_form[table.form_of[records]])
        counts = np.bincount(pair_of, minlength=len(own))
        shares = counts / np.bincount(owner)[own]
        kinds[groups] = np.bincount(own, minlength=groups.stop - groups.start)
        entropy[groups] = np.bincount(
            own, -shares * np.log2(shares), minlength=groups.stop - groups.start
        )
    return {
        "min_distinct": int(kinds.min(initial=len(table))) if len(kinds) else 0,
        "median_entropy": float(np.median(np.abs(entropy))) if len(kinds) else 0.0,
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
    least = np.full(release.class_count, np.iinfo(np.int32).max, dtype=np.int32)
    greatest = np.full(release.class_count, -1, dtype=np.int32)
    for rows in row_parts(len(table)):
        classes, own = release.class_of[rows], sets[table.form_of[rows]]
        published = classes >= 0
        np.minimum.at(least, classes[published], own[published])
        np.maximum.at(greatest, classes[published], own[published])
    sensitive = least >= 0
    return Homogeneity(sensitive, sensitive & (least == greatest))


def homogeneous(standing: Standing, sets: Ints) -> dict[str, int]:
    """Rows of which everybody holds something sensitive, and of these the homogeneous ones."""
    sensitive, alike = homogeneous_classes(standing.table, standing.release, sets)
    return {
        "sensitive_classes": int(sensitive.sum()),
        "homogeneous_classes": int(alike.sum()),
        "homogeneous_rows": int(standing.members.sizes[alike].sum()),
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
