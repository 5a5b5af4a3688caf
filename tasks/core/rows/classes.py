"""Classes of records that one row tells: the search, in one piece or in parts.

A large log is cut into parts of queries that have their most informative shared level in common,
by the data alone, so that the classes are the same whoever finds them. Parts do not know of each
other; what none of them could tell is searched once more together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np

from tasks.core.arrays import numbered_by_first, part_slices, take_ragged
from tasks.core.columns import column, computed, places_of, rest, row_parts
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Ints, Longs
from tasks.core.rows.candidates import best_shared_nodes, candidates_of
from tasks.core.rows.levels import ItemLevels, LevelsOf, SomeLevels
from tasks.core.rows.problem import Problem, RowProblem
from tasks.core.rows.search import NOWHERE, choose_rows
from tasks.core.starmap import Starmap, serial

LEFT_TOGETHER: Final = 2
"""What no part could tell is searched together up to so many times the size of a part."""


def classes_of(
    problem: Problem[LevelsOf],
    starmap: Starmap = serial,
    *,
    units_per_part: int = PART_SIZES.units_per_part,
) -> Ints:
    """The class of each unit, numbered 0, 1, … in the order of their first units, or NOWHERE; a
    column."""
    classes, parts = _in_parts(problem, starmap, units_per_part)
    if parts > 1:
        left = units_at(classes, NOWHERE)
        most = len(left) if len(left) <= LEFT_TOGETHER * units_per_part else units_per_part
        more, _ = _in_parts(only(problem, left), starmap, most)
        before = int(classes.max(initial=-1)) + 1
        for own in row_parts(len(left)):
            classes[left[own]] = numbered_from(before, more[own])
    return numbered_by_first(classes)


def units_at(classes: Ints, label: int) -> Ints:
    """Units of one class, or of none, ascending; a column."""
    return places_of(computed(len(classes), np.bool_, lambda rows: classes[rows] == label))


def numbered_from(start: int, classes: Ints) -> Ints:
    """Classes, numbered from there on."""
    return np.where(classes < 0, np.int32(NOWHERE), classes + np.int32(start))


def _in_parts(
    problem: Problem[LevelsOf], starmap: Starmap, units_per_part: int
) -> tuple[Ints, int]:
    """The class of each unit, found in how many parts; those of all parts numbered one after the
    other."""
    parts = cut_into_parts(problem, units_per_part=units_per_part)
    found = starmap(classes_of_part, ((part_of(problem, forms),) for forms in parts))
    classes, before = column(len(problem), np.int32), 0
    for forms, own in zip(parts, found, strict=True):
        classes[take_ragged(problem.unit_offsets, forms)[1]] = numbered_from(before, own)
        before += int(own.max(initial=-1)) + 1
        rest()
    return classes, len(parts)


def classes_of_part(problem: RowProblem) -> Ints:
    """The class of each unit of a problem that is searched as a whole; runs in a worker."""
    return numbered_by_first(choose_rows(problem, candidates_of(problem)))


def cut_into_parts(
    problem: Problem[LevelsOf], *, units_per_part: int = PART_SIZES.units_per_part
) -> list[Ints]:
    """The forms of each part, ascending: those that share their most informative level, together.

    If that is the level of too many units, neighbours in the order of forms are together. A part is
    larger only if one form is that of more units.
    """
    if len(problem) <= units_per_part:
        return [np.arange(len(problem.levels), dtype=np.int32)]
    anchors, sizes = best_shared_nodes(problem), problem.units_of_form
    large = np.bincount(anchors, sizes) > units_per_part
    order = np.argsort(anchors, kind="stable").astype(np.int32)
    anchors, sizes = anchors[order], sizes[order]
    new = np.append(True, anchors[1:] != anchors[:-1]) | large[anchors]
    bounds = np.append(np.flatnonzero(new), len(order))
    return [
        np.sort(order[bounds[own.start] : bounds[own.stop]])
        for own in part_slices(np.add.reduceat(sizes, bounds[:-1]), units_per_part)
    ]


def only(problem: Problem[LevelsOf], units: Ints) -> Problem[LevelsOf]:
    """The problem of some units, ascending; forms are numbered anew."""
    # Of another kind of number the units would be copied.
    bounds = np.searchsorted(units, problem.unit_offsets.astype(units.dtype))
    forms = np.flatnonzero(bounds[1:] > bounds[:-1]).astype(np.int32)
    return _held(problem, forms, np.append(bounds[forms], len(units)), units)


def part_of(problem: Problem[LevelsOf], forms: Ints) -> RowProblem:
    """The problem of some forms, ascending, with all its levels, and all numbers anew.

    Numbers keep their order, so ties are decided as in the whole log; parts cannot be joined by
    their people or words.
    """
    part = _held(problem, forms, *take_ragged(problem.unit_offsets, forms))
    levels = _renumbered(part.levels.of(np.arange(len(part.levels))))
    users = np.unique(part.users, return_inverse=True)[1].astype(np.int32)
    return replace(cast("RowProblem", part), levels=levels, users=users)


def _held(
    problem: Problem[LevelsOf], forms: Ints, unit_offsets: Longs, units: Ints | Longs
) -> Problem[LevelsOf]:
    """The problem of some forms, and of some of the units of each."""

    def of_units(values: Ints) -> Ints:
        return computed(len(units), np.int32, lambda rows: values[units[rows]])

    cells = column((len(problem.time_cells), len(units)), np.int32)
    for own, every in zip(cells, problem.time_cells, strict=True):
        for rows in row_parts(len(units)):
            own[rows] = every[units[rows]]
    return replace(
        problem,
        levels=SomeLevels(problem.levels, forms),
        groups=problem.groups[forms],
        told_by_group=problem.told_by_group[forms],
        unit_offsets=unit_offsets,
        users=of_units(problem.users),
        weights=of_units(problem.weights),
        sets=of_units(problem.sets),
        time_cells=cells,
    )


def _renumbered(levels: ItemLevels) -> ItemLevels:
    """Nodes and words by rank."""
    known, nodes = np.unique(levels.nodes, return_inverse=True)
    words = np.unique(levels.item_words, return_inverse=True)[1]
    return replace(
        levels,
        item_words=words.astype(np.int32),
        item_concepts=np.minimum(levels.item_concepts, 0),
        nodes=nodes.astype(np.int64),
        words=int(np.searchsorted(known, levels.words)),
    )
