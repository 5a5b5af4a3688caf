"""How many rows of each person a class publishes: nobody has most of it, and it may be rounded.

Rows of one class are alike, so it does not matter to a reader whose rows they are, but it does to
the people: whoever picks a row of a class picks its heaviest person's with that person's share.
The surplus is withheld. Everybody keeps at least one row of the class unless it is rounded to
fewer rows than it has people; k people stay in any case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tasks.core.arrays import group_by, take_ragged
from tasks.core.columns import column, computed, counts_of
from tasks.core.members import members_of
from tasks.core.records import Flags, Ints, Longs, Release

SLACK: Final = 1e-9
"""Shares are compared up to this, so that 1/3 of three rows is one row."""


def limit_shares(
    release: Release, groups: Ints, users: Ints, *, most: float, multiple: int, reason: int
) -> Release:
    """Withhold rows until no person has more than a share of a group's, and its size fits.

    Of each person the rows that come last in the records' order go.

    Args:
        groups: the group of each record of which shares are limited, or -1.
        most: the greatest share of a group's rows that one person may have.
        multiple: the number of rows of each group becomes a multiple of this; a group has at
            least so many people.
        reason: why the surplus is withheld.
    """
    surplus = surplus_rows(groups, users, most=most, multiple=multiple)
    if not surplus.any():
        return release
    return withhold(release, surplus, reason)


def withhold(release: Release, records: Flags, reason: int) -> Release:
    """The release without some records; classes of which none is left are gone."""
    count = len(release.class_of)
    class_of = computed(
        count, np.int32, lambda own: np.where(records[own], -1, release.class_of[own])
    )
    kept = counts_of(class_of, release.class_count) > 0
    return of_classes(release, class_of, kept, reason)


def of_classes(release: Release, class_of: Ints, kept: Flags, reason: int) -> Release:
    """The release of some of its classes, given the class of each record that is in one yet.

    Args:
        kept: classes that stay.
        reason: why records are withheld that were published.
    """
    # The last entry is for records of no class.
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    term_offsets, terms = take_ragged(release.term_offsets, np.flatnonzero(kept))
    concept_offsets, concepts = take_ragged(release.concept_offsets, np.flatnonzero(kept))
    return replace(
        release,
        class_of=(left := computed(len(class_of), np.int32, lambda own: number[class_of[own]])),
        term_offsets=term_offsets,
        terms=release.terms[terms],
        concept_offsets=concept_offsets,
        concepts=release.concepts[concepts],
        times=release.times[kept],
        precisions=release.precisions[kept],
        clusters=release.clusters[kept],
        reasons=computed(
            len(class_of),
            np.int8,
            lambda own: np.where(
                (left[own] < 0) & (release.class_of[own] >= 0), reason, release.reasons[own]
            ),
        ),
    )


def surplus_rows(groups: Ints, users: Ints, *, most: float, multiple: int) -> Flags:
    """The rows that are too many, shape of `groups`."""
    surplus = column(len(groups), np.bool_)
    surplus[:] = False
    for _, rows, group_of in members_of(groups, int(groups.max(initial=-1)) + 1).parts():
        first, holding_of = group_by(group_of, users[rows])
        counts = np.bincount(holding_of)
        kept = _kept_of_groups(counts, group_of[first], most=most, multiple=multiple)
        surplus[rows] = _place_within(holding_of) >= kept[holding_of]
    return surplus


def _kept_of_groups(counts: Longs, group_of: Longs, *, most: float, multiple: int) -> Longs:
    """Rows that each person of each group keeps, given how many they have; groups ascend."""
    kept = counts.copy()
    starts = np.flatnonzero(np.diff(group_of, prepend=-1))
    ends = np.append(starts[1:], len(counts))
    totals = np.add.reduceat(counts, starts)
    over = np.maximum.reduceat(counts, starts) > most * totals + SLACK
    for group in np.flatnonzero(over | (totals % multiple > 0)).tolist():
        own = slice(starts[group], ends[group])
        kept[own] = kept_rows(counts[own], most=most, multiple=multiple)
    return kept


def _place_within(labels: Longs) -> Longs:
    """How many of the same label come before each place."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], labels[order])
    places = np.empty(len(labels), dtype=np.int64)
    places[order] = np.arange(len(labels)) - starts
    return places


def kept_rows(counts: Longs, *, most: float, multiple: int = 1) -> Longs:
    """As many rows as possible, given how many each person has; the heaviest give first.

    A total is spread so that the heaviest have as few as possible, which is best for any limit.
    The greatest total whose heaviest person has no more than the share is taken.
    """
    for total in range(_greatest_total(counts, most) // multiple * multiple, 0, -multiple):
        kept = _levelled(counts, total)
        if kept.max() <= most * total + SLACK:
            return kept
    return np.zeros_like(counts)


def _greatest_total(counts: Longs, most: float) -> int:
    """Rows that are left if nobody has more than as many as the share allows.

    With a cap on everybody's rows the share of the heaviest grows with the cap, so the greatest
    cap that is allowed is found by halving.
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        cap = (low + high + 1) // 2
        if cap <= most * int(np.minimum(counts, cap).sum()) + SLACK:
            low = cap
        else:
            high = cap - 1
    return int(np.minimum(counts, low).sum())


def _levelled(counts: Longs, total: int) -> Longs:
    """So many rows in all, cut at one level; some of the heaviest have one more."""
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        level = (low + high + 1) // 2
        low, high = (level, high) if np.minimum(counts, level).sum() <= total else (low, level - 1)
    kept = np.minimum(counts, low)
    heavier = np.flatnonzero(counts > low)[: total - int(kept.sum())]
    kept[heavier] += 1
    return kept
