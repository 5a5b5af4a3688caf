"""Who could stand with whom: what each query may tell, who asked it and when, and k.

Numbers alone, so a problem can be sent to a worker. Records of one person that say the same are one
unit: they always stand together, and count as one person. So nobody is in two classes with one
query, and there are no two whose people could be intersected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from tasks.core.arrays import distinct, sums_by, take_ragged
from tasks.core.columns import column, row_parts
from tasks.core.records import (
    NO_TIME,
    TIME_NONE,
    Flags,
    Floats,
    Ints,
    Longs,
    RecordTable,
    cut_times,
    freeze,
)
from tasks.core.rows.levels import TIME_BITS, ItemLevels, LevelsOf
from tasks.core.rows.told import told_of

WORTH: Final = 1.0
"""A row is worth so many bits by being published: of two ways to tell as much, the one that leaves
fewer records untold."""


Levels = TypeVar("Levels", bound=LevelsOf, covariant=True)
Own = TypeVar("Own", bound=LevelsOf)


@dataclass(frozen=True, slots=True, eq=False)
class Problem(Generic[Levels]):
    """Units that are to be put into classes of at least k people, each of which is told by a row.

    Attributes:
        levels: what each form may tell.
        groups: of each form; forms of different groups never stand together.
        told_by_group: bits that each form's group tells of it whatever else is told.
        free: whether attributes may be told by any of their levels; if not, the groups tell them.
        unit_offsets: form f holds units unit_offsets[f] to unit_offsets[f + 1].
        users, weights: who a unit is of, and how many records it stands for, columns.
        sets: what is sensitive of it, a number for each different set, or -1, a column.
        time_cells: the span of time that all records of a unit lie in, at each precision, or -1,
            columns, shape (precisions, n).
        time_bits: what each precision tells.
        k: distinct users that every class holds at least.
        l: people with different sets that every class holds at least where all have one.
        dominance: share of a class's records beyond which one person's are withheld in the end.
    """

    levels: Levels
    groups: Longs
    told_by_group: Floats
    free: bool
    unit_offsets: Longs
    users: Ints = field(repr=False)
    weights: Ints
    sets: Ints
    time_cells: Ints = field(repr=False)
    time_bits: Floats
    k: int
    l: int  # noqa: E741  (the name of the parameter of l-diversity)
    dominance: float = 1.0

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        """Units."""
        return len(self.users)

    @property
    def units_of_form(self) -> Longs:
        return np.diff(self.unit_offsets)

    def may_tell(self, levels: ItemLevels, items: Longs) -> Flags:
        """Items that say something and may be told one by one."""
        says = levels.item_bits[items] > 0
        return says if self.free else says & (levels.item_concepts[items] < 0)

    def enough(self, sets: Longs, forms: Longs) -> Flags:
        """Whether k people hold each set 0, 1, … of levels, given the forms that support it."""
        count = int(sets.max(initial=-1)) + 1
        # Most sets fall short of k units, and are not counted by person.
        many = np.bincount(sets, self.units_of_form[forms], minlength=count) >= self.k
        chosen = np.flatnonzero(many[sets])
        offsets, units = take_ragged(self.unit_offsets, forms[chosen])
        return self._shared(np.repeat(sets[chosen], np.diff(offsets)), units, count)

    def enough_units(self, sets: Longs, units: Longs) -> Flags:
        """The same, given the units."""
        count = int(sets.max(initial=-1)) + 1
        many = np.bincount(sets, minlength=count) >= self.k
        chosen = np.flatnonzero(many[sets])
        return self._shared(sets[chosen], units[chosen], count)

    def _shared(self, sets: Longs, units: Longs, count: int) -> Flags:
        width = int(self.users.max(initial=0)) + 1
        held = distinct(sets * width + self.users[units]) // width
        return np.asarray(np.bincount(held, minlength=count) >= self.k)


RowProblem: TypeAlias = Problem[ItemLevels]
"""With all levels at hand, as a search needs them."""


def row_problem(
    table: RecordTable,
    levels: Own,
    *,
    k: int,
    l: int,  # noqa: E741
    precision: int,
    groups: Groups | None = None,
    sets: Ints | None = None,
    dominance: float = 1.0,
) -> tuple[Problem[Own], Ints]:
    """The problem of a log, and the unit of each record, as a column.

    Args:
        levels: of the table's forms.
        precision: of the finest time that may be told.
        groups: of forms that may stand together; if not given, all may.
        sets: what is sensitive of each form, or -1; if not given, its attribute set.
        dominance: the share of a class's records that one person may have.
    """
    count = len(table.forms)
    own = groups or Groups(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float64))
    unit_offsets, unit_of = _units_of(table)
    held = _held(
        table, unit_offsets, unit_of, precision, table.set_of_form if sets is None else sets
    )
    problem = Problem(
        levels=levels,
        groups=own.numbers,
        told_by_group=own.bits,
        free=groups is None,
        unit_offsets=unit_offsets,
        users=held.users,
        weights=held.weights,
        sets=held.sets,
        time_cells=held.time_cells,
        time_bits=np.array(TIME_BITS[1 : precision + 1]),
        k=k,
        l=l,
        dominance=dominance,
    )
    return problem, unit_of


def _units_of(table: RecordTable) -> tuple[Longs, Ints]:
    """Offsets of the units of each form, and the unit of each record."""
    counts, unit_of = np.zeros(len(table.forms) + 1, dtype=np.int64), column(len(table), np.int32)
    width, before = int(table.users.max(initial=0)) + 1, 0
    for forms, records in table.form_parts():
        form_of = table.form_of[records].astype(np.int64) - forms.start
        units, own = np.unique(form_of * width + table.users[records], return_inverse=True)
        unit_of[records] = own + before
        counts[forms.start + 1 : forms.stop + 1] = np.bincount(
            units // width, minlength=forms.stop - forms.start
        )
        before += len(units)
    return np.cumsum(counts), unit_of


class _Held(NamedTuple):
    """What there is of each unit, as in `Problem`."""

    users: Ints
    weights: Ints
    sets: Ints
    time_cells: Ints


def _held(
    table: RecordTable, unit_offsets: Longs, unit_of: Ints, precision: int, sets: Ints
) -> _Held:
    count = int(unit_offsets[-1])
    cuts = [_cuts(table.times, own) for own in range(TIME_NONE + 1, precision + 1)]
    users, weights, of_units = (column(count, np.int32) for _ in range(3))
    found = _Held(users, weights, of_units, column((len(cuts), count), np.int32))
    for forms, records in table.form_parts():
        own = slice(int(unit_offsets[forms.start]), int(unit_offsets[forms.stop]))
        unit, users, times = (
            unit_of[records] - own.start,
            table.users[records],
            table.times[records],
        )
        # Records of a form ascend by time, and the last of several values for one place stays.
        places, first, last = np.arange(len(unit)), *np.empty((2, own.stop - own.start), np.int64)
        first[unit[::-1]], last[unit] = places[::-1], places
        found.users[own] = users[first]
        found.weights[own] = np.bincount(unit, minlength=len(first))
        found.sets[own] = np.repeat(
            sets[forms], np.diff(unit_offsets[forms.start : forms.stop + 1])
        )
        for place, known in enumerate(cuts):
            cells = _spans(times[first], times[last], TIME_NONE + 1 + place, known)
            found.time_cells[place, own] = cells
    return found


def _cuts(times: Longs, precision: int) -> Longs:
    """The different spans of a log, ascending."""
    found = np.zeros(0, dtype=np.int64)
    for rows in row_parts(len(times)):
        found = distinct(np.concatenate([found, cut_times(times[rows], precision)]))
    return found


def _spans(first: Longs, last: Longs, precision: int, cuts: Longs) -> Longs:
    """The span that all times of each unit lie in, as a number from 0 on; -1 for none."""
    start, end = cut_times(first, precision), cut_times(last, precision)
    return np.where((start < end) | (end == NO_TIME), -1, np.searchsorted(cuts, end))


class Groups(NamedTuple):
    """Forms that may stand together, by number, and the bits that is told of each by its group."""

    numbers: Longs
    bits: Floats


def groups_of(table: RecordTable, labels: Ints, levels: ItemLevels) -> Groups:
    """Clusters of attribute sets as groups: all records of one tell what they have in common.

    Sets of no cluster, and those whose cluster has nothing in common, are a group with the forms
    without attributes: they tell their words alone.

    Args:
        labels: cluster of each record, or -1; records of one form are in one cluster.
    """
    label_of_form = np.full(len(table.forms), -1, dtype=np.int64)
    for rows in row_parts(len(table)):
        label_of_form[table.form_of[rows]] = labels[rows]
    held = np.flatnonzero(label_of_form >= 0)
    forms = held[np.argsort(label_of_form[held], kind="stable")]
    count = int(labels.max(initial=-1)) + 1
    told = told_of(label_of_form[forms], forms, levels, count)
    general = levels.item_concepts[told.items] >= 0
    bits = sums_by(forms[told.queries[general]], told.bits[general], len(table.forms))
    return Groups(np.where(bits > 0, label_of_form + 1, 0), bits)
