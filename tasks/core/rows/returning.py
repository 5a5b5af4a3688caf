"""People return: whoever asks the same again stands with the same people again, or waits.

Somebody who knows that a person asked something in two releases looks at both classes it was
published in: the person is one of those who stand in both. So all classes of one person's query, in
all releases of an edition, keep at least k people in common (compare m-invariance, Xiao and Tao
2007). A class that would not is left by whoever returns; if fewer than k people stay, it closes.
Leaving makes other classes smaller, never larger, so what is left in the end does not depend on the
order. What is withheld later takes nobody out of a class that stays: classes go as a whole, and of
a surplus everybody keeps a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import overload

import numpy as np

from tasks.core.arrays import distinct, group_by, people_per_label, taken
from tasks.core.columns import column, computed, places_of
from tasks.core.members import members_of
from tasks.core.records import Flags, Ints, Longs, Narrow, freeze

NOT_BEFORE = -1


@dataclass(frozen=True, slots=True, eq=False)
class PublishedRows:
    """The rows that an edition has published.

    Attributes:
        units: who asked what: a number for each person and text, the same in all logs.
        classes: which rows of which release read alike, numbered over all releases.
        people: who asked, numbered alike in all logs.
    """

    units: Longs = field(repr=False)
    classes: Longs = field(repr=False)
    people: Longs = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class Company:
    """Whom the units of a log have stood with before.

    Attributes:
        people: who asked, of each unit.
        met_of: which of the companies below each unit has, or NOT_BEFORE.
        met: people that all earlier classes of a unit have in common; they are looked up anew
            whenever they are asked for.
    """

    people: Longs = field(repr=False)
    met_of: Longs
    met: Sequence[frozenset[int]] = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)


def company_of(units: Longs, people: Longs, before: PublishedRows) -> Company:
    """Who has stood with whom, given who asks what now and what was published before."""
    asked = distinct(units)
    again = places_of(
        computed(len(before.units), np.bool_, lambda rows: _among(before.units[rows], asked))
    )
    told, met_in = taken(before.units, again), taken(before.classes, again)
    first, _ = group_by(told, met_in)
    own, classes = told[first], met_in[first]
    numbers: dict[tuple[int, ...], int] = {}
    company = [numbers.setdefault(key, len(numbers)) for key in _by_unit(own, classes)]
    returning, here = distinct(own), _among(units, own)
    met_of = np.full(len(units), NOT_BEFORE, dtype=np.int64)
    met_of[here] = np.array(company, dtype=np.int64)[np.searchsorted(returning, units[here])]
    return Company(people, met_of, Met([*numbers], before, distinct(classes)))


class Met(Sequence[frozenset[int]]):
    """Whom those have met who stood in the same classes before."""

    def __init__(
        self, keys: Sequence[tuple[int, ...]], before: PublishedRows, wanted: Longs
    ) -> None:
        """Args:
        keys: classes that they stood in, of each company.
        wanted: all of these classes, ascending.
        """
        self._keys, self._wanted = keys, wanted
        members = members_of(
            computed(
                len(before.classes), np.int32, lambda rows: _places(before.classes[rows], wanted)
            ),
            len(wanted),
        )
        # The people of each class, each once, ascending.
        self._people = column(len(members.rows), np.int64)
        sizes, done = [np.zeros(1, dtype=np.int64)], 0
        for classes, rows, class_of in members.parts():
            people = before.people[rows]
            order = np.lexsort((people, class_of))
            people, class_of = people[order], class_of[order]
            new = np.ones(len(order), dtype=np.bool_)
            new[1:] = (people[1:] != people[:-1]) | (class_of[1:] != class_of[:-1])
            self._people[done : done + int(new.sum())] = people[new]
            done += int(new.sum())
            sizes.append(np.bincount(class_of[new], minlength=classes.stop - classes.start))
        self._bounds = np.cumsum(np.concatenate(sizes))

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, number: int) -> frozenset[int]: ...
    @overload
    def __getitem__(self, number: slice) -> list[frozenset[int]]: ...
    def __getitem__(self, number: int | slice) -> frozenset[int] | list[frozenset[int]]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        own = np.searchsorted(self._wanted, self._keys[number]).tolist()
        first, *others = sorted(
            (self._people[self._bounds[place] : self._bounds[place + 1]] for place in own), key=len
        )
        for other in others:
            first = first[_among(first, other)]
        return frozenset(first.tolist())


def _among(values: Longs, ordered: Longs) -> Flags:
    """Which of them are among others, given in ascending order."""
    return _places(values, ordered) >= 0


def _places(values: Longs, ordered: Longs) -> Ints:
    """Where each of them is among others, given in ascending order; -1: nowhere."""
    if not len(ordered):
        return np.full(len(values), -1, dtype=np.int32)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[places] == values, places, -1).astype(np.int32)


def never_enough(company: Company, *, k: int) -> Flags:
    """Units that no class can take: fewer than k of those they stood with have come back."""
    present = frozenset(company.people.tolist())
    few = [len(met & present) < k for met in company.met]
    return np.append(np.array(few, dtype=np.bool_), False)[company.met_of]


def keep_company(classes: Narrow, company: Company, *, k: int) -> tuple[Narrow, Flags]:
    """The class of each unit once all classes that it ever stood in have k people in common.

    Args:
        classes: class of each unit, or -1.

    Returns:
        The classes, and the units that left theirs because too few of their company are in it.
    """
    found, left = classes.copy(), np.zeros(len(classes), dtype=np.bool_)
    users = np.unique(company.people, return_inverse=True)[1].astype(np.int32)
    count = int(classes.max(initial=-1)) + 1
    while (narrowed := _narrowed(found, company, k=k)).any():
        left |= narrowed
        found[narrowed] = -1
        closed = people_per_label(found, users, count) < k
        found[np.append(closed, False)[found]] = -1
    return found, left


def _narrowed(classes: Narrow, company: Company, *, k: int) -> Flags:
    """Units that stand with fewer than k of those whom they have always stood with."""
    again = np.flatnonzero((classes >= 0) & (company.met_of != NOT_BEFORE))
    first, case_of = group_by(company.met_of[again], classes[again])
    cases = again[first]
    who = people_of_classes(classes, company.people, distinct(classes[cases]))
    both = zip(company.met_of[cases].tolist(), classes[cases].tolist(), strict=True)
    few = np.array([len(company.met[met] & who[now]) < k for met, now in both], dtype=np.bool_)
    narrowed = np.zeros(len(classes), dtype=np.bool_)
    narrowed[again] = few[case_of]
    return narrowed


def _by_unit(units: Longs, classes: Longs) -> Iterator[tuple[int, ...]]:
    """The classes of each unit, given units in ascending order."""
    starts = np.flatnonzero(np.append(True, units[1:] != units[:-1])[: len(units)])
    listed = classes.tolist()
    for start, end in pairwise([*starts.tolist(), len(listed)]):
        yield tuple(listed[start:end])


def people_of_classes(classes: Narrow, people: Longs, wanted: Narrow) -> dict[int, frozenset[int]]:
    """Who stands in each of some classes, given in ascending order."""
    chosen = np.flatnonzero(np.isin(classes, wanted))
    order = chosen[np.argsort(classes[chosen], kind="stable")]
    starts = np.searchsorted(classes[order], wanted).tolist()
    listed = people[order].tolist()
    return {
        number: frozenset(listed[start:end])
        for number, (start, end) in zip(
            wanted.tolist(), pairwise([*starts, len(listed)]), strict=True
        )
    }
