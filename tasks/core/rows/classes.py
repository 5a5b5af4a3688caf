"""Classes of records that one row tells: the search, in one piece or in parts.

A large log is cut into parts of queries that have their most informative shared level in common,
by the data alone, so that the classes are the same whoever finds them. Parts do not know of each
other; what none of them could tell is searched once more together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, cast

import numpy as np

from tasks.core.arrays import numbered_by_first, part_slices
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Longs
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
) -> Longs:
    """The class of each unit, numbered 0, 1, … in the order of their first units, or NOWHERE."""
    classes, parts = _in_parts(problem, starmap, units_per_part)
    if parts > 1:
        left = np.flatnonzero(classes == NOWHERE)
        most = len(left) if len(left) <= LEFT_TOGETHER * units_per_part else units_per_part
        more, _ = _in_parts(only(problem, left), starmap, most)
        classes[left] = np.where(more < 0, NOWHERE, more + classes.max(initial=-1) + 1)
    return numbered_by_first(classes)


def _in_parts(
    problem: Problem[LevelsOf], starmap: Starmap, units_per_part: int
) -> tuple[Longs, int]:
    """The class of each unit, found in how many parts."""
    parts = cut_into_parts(problem, units_per_part=units_per_part)
    found = starmap(classes_of_part, ((part_of(problem, units),) for units in parts))
    return _joined(len(problem), zip(parts, found, strict=True)), len(parts)


def classes_of_part(problem: RowProblem) -> Longs:
    """The class of each unit of a problem that is searched as a whole; runs in a worker."""
    return numbered_by_first(choose_rows(problem, candidates_of(problem)))


def _joined(count: int, found: Iterable[tuple[Longs, Longs]]) -> Longs:
    """Classes of all parts, numbered one after the other."""
    classes, before = np.full(count, NOWHERE, dtype=np.int64), 0
    for units, own in found:
        classes[units] = np.where(own < 0, NOWHERE, own + before)
        before += int(own.max(initial=-1)) + 1
    return classes


def cut_into_parts(
    problem: Problem[LevelsOf], *, units_per_part: int = PART_SIZES.units_per_part
) -> list[Longs]:
    """The units of each part, ascending: forms that share their most informative level, together.

    If that is the level of too many units, neighbours in the order of forms are together. A part is
    larger only if one form is that of more units.
    """
    if len(problem) <= units_per_part:
        return [np.arange(len(problem))]
    forms = problem.forms
    anchors = best_shared_nodes(problem)[forms]
    order = np.argsort(anchors, kind="stable")
    anchors, forms = anchors[order], forms[order]
    new = np.append(True, anchors[1:] != anchors[:-1])
    large = np.bincount(anchors)[anchors] > units_per_part
    new[1:] |= large[1:] & (forms[1:] != forms[:-1])
    bounds = np.append(np.flatnonzero(new), len(order))
    return [
        np.sort(order[bounds[own.start] : bounds[own.stop]])
        for own in part_slices(np.diff(bounds), units_per_part)
    ]


def only(problem: Problem[LevelsOf], units: Longs) -> Problem[LevelsOf]:
    """The problem of some units, ascending; forms are numbered anew."""
    forms, form_of = np.unique(problem.forms[units], return_inverse=True)
    return replace(
        problem,
        levels=SomeLevels(problem.levels, forms),
        groups=problem.groups[forms],
        told_by_group=problem.told_by_group[forms],
        unit_offsets=np.searchsorted(form_of, np.arange(len(forms) + 1)),
        users=problem.users[units],
        weights=problem.weights[units],
        sets=problem.sets[units],
        time_cells=problem.time_cells[:, units],
    )


def part_of(problem: Problem[LevelsOf], units: Longs) -> RowProblem:
    """The same with all its levels, and all numbers anew.

    Numbers keep their order, so ties are decided as in the whole log; parts cannot be joined by
    their people or words.
    """
    part = only(problem, units)
    levels = _renumbered(part.levels.of(np.arange(len(part.levels))))
    users = np.unique(part.users, return_inverse=True)[1].astype(np.int32)
    return replace(cast("RowProblem", part), levels=levels, users=users)


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
