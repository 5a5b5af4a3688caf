"""Who stands behind the rows of a release, and how easily they are found there.

An adversary who finds the class of rows that tells a person's query guesses among the people of
that class, or picks one of its rows, which is more likely a heavy person's. In the raw log the
class is that of the rows with that very query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import pairs_of
from tasks.core.columns import column, computed, joined
from tasks.core.members import Members, members_of
from tasks.core.records import Floats, Ints, Longs, RecordTable, Release, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The records and the people of each class, found once for all measures that ask for them.

    Attributes:
        members: the records of each class.
        offsets, people: class c is of people[offsets[c] : offsets[c + 1]], each once; a column.
        raw, released: success of linkage of each record; of one that is withheld 0; columns.
        linked: the chance that another row of a record's class is the same person's; a column.
        user_count: all people are below this.
    """

    table: RecordTable
    release: Release
    members: Members
    offsets: Longs
    people: Ints
    raw: Floats
    released: Floats
    linked: Floats
    user_count: int

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def people_of_class(self) -> Longs:
        return np.diff(self.offsets)


def standing_of(table: RecordTable, release: Release) -> Standing:
    """Look at the classes once, some after the other."""
    members = members_of(release.class_of, release.class_count)
    released, linked = (_zeros(len(table)) for _ in range(2))
    offsets = np.zeros(len(members) + 1, dtype=np.int64)
    people = column(len(members.rows), np.int32)
    for groups, records, owners in members.parts():
        start = offsets[groups.start]
        found = _found(owners, table.users[records], groups.stop - groups.start)
        released[records] = found.success
        linked[records] = (found.own - 1) / np.maximum(found.rows - 1, 1)
        offsets[groups.start + 1 : groups.stop + 1] = start + np.cumsum(found.sizes)
        people[start : start + len(found.people)] = found.people
    return Standing(
        table=table,
        release=release,
        members=members,
        offsets=offsets,
        people=people[: offsets[-1]],
        raw=_raw(table),
        released=released,
        linked=linked,
        user_count=int(table.users.max(initial=-1)) + 1,
    )


def _raw(table: RecordTable) -> Floats:
    def success(forms: slice, records: slice) -> Floats:
        groups = table.form_of[records].astype(np.int64) - forms.start
        return _found(groups, table.users[records], forms.stop - forms.start).success

    return joined(len(table), np.float64, (success(*part) for part in table.form_parts()))


def _zeros(count: int) -> Floats:
    return computed(count, np.float64, lambda rows: np.zeros(rows.stop - rows.start))


class _Found(NamedTuple):
    """What there is of some groups of rows.

    Attributes:
        success: the greater of two chances, of each row: to pick its person among the people of the
            group, and to pick a row of theirs among its rows.
        own: rows of its person in the group, of each row.
        rows: rows of its group, of each row.
        sizes: distinct people of each group.
        people: those, group by group.
    """

    success: Floats
    own: Longs
    rows: Longs
    sizes: Longs
    people: Longs


def _found(groups: Longs, users: Ints, count: int) -> _Found:
    held, people, pair_of = pairs_of(groups, users)
    own = np.bincount(pair_of, minlength=len(held))[pair_of]
    rows = np.bincount(groups, minlength=count)[groups]
    sizes = np.bincount(held, minlength=count)
    success = np.maximum(1.0 / sizes[groups], own / rows)
    return _Found(success, own, rows, sizes, people)
