"""Classes of records that one row tells: the search, in one piece or in parts.

A large log is cut into parts of queries that have their most informative shared level in common,
by the data alone, so that the classes are the same whoever finds them. Parts do not know of each
other; what none of them could tell is searched once more together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tasks.core.arrays import numbered_by_first, part_slices, take_ragged
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Longs
from tasks.core.rows.candidates import best_shared_nodes, candidates_of
from tasks.core.rows.levels import ItemLevels
from tasks.core.rows.problem import RowProblem
from tasks.core.rows.search import NOWHERE, choose_rows
from tasks.core.starmap import Starmap, serial


def classes_of(
    problem: RowProblem,
    starmap: Starmap = serial,
    *,
    units_per_part: int = PART_SIZES.units_per_part,
) -> Longs:
    """The class of each unit, numbered 0, 1, … in the order of their first units, or NOWHERE."""
    parts = cut_into_parts(problem, units_per_part=units_per_part)
    found = starmap(classes_of_part, ((part_of(problem, units),) for units in parts))
    classes = _joined(len(problem), list(zip(parts, found, strict=True)))
    if len(parts) > 1:
        left = np.flatnonzero(classes == NOWHERE)
        more = classes_of_part(part_of(problem, left))
        classes[left] = np.where(more < 0, NOWHERE, more + classes.max(initial=-1) + 1)
    return numbered_by_first(classes)


def classes_of_part(problem: RowProblem) -> Longs:
    """The class of each unit of a problem that is searched as a whole; runs in a worker."""
    return numbered_by_first(choose_rows(problem, candidates_of(problem)))


def _joined(count: int, found: list[tuple[Longs, Longs]]) -> Longs:
    """Classes of all parts, numbered one after the other."""
    classes, before = np.full(count, NOWHERE, dtype=np.int64), 0
    for units, own in found:
        classes[units] = np.where(own < 0, NOWHERE, own + before)
        before += int(own.max(initial=-1)) + 1
    return classes


def cut_into_parts(
    problem: RowProblem, *, units_per_part: int = PART_SIZES.units_per_part
) -> list[Longs]:
    """The units of each part, ascending: forms that share their most informative level, together.

    A part is larger if one level is that of more units.
    """
    if len(problem) <= units_per_part:
        return [np.arange(len(problem))]
    anchors = best_shared_nodes(problem)[problem.forms]
    order = np.lexsort((np.arange(len(anchors)), anchors))
    sizes = np.bincount(anchors)
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    return [
        np.sort(order[bounds[own.start] : bounds[own.stop]])
        for own in part_slices(sizes, units_per_part)
        if bounds[own.stop] > bounds[own.start]
    ]


def part_of(problem: RowProblem, units: Longs) -> RowProblem:
    """The problem of some units, ascending, numbered anew.

    Numbers keep their order, so ties are decided as in the whole log; parts cannot be joined by
    their people or words.
    """
    forms, form_of = np.unique(problem.forms[units], return_inverse=True)
    return replace(
        problem,
        levels=_narrowed(problem.levels, forms),
        groups=problem.groups[forms],
        told_by_group=problem.told_by_group[forms],
        unit_offsets=np.searchsorted(form_of, np.arange(len(forms) + 1)),
        users=np.unique(problem.users[units], return_inverse=True)[1].astype(np.int32),
        weights=problem.weights[units],
        sets=problem.sets[units],
        time_cells=problem.time_cells[:, units],
    )


def _narrowed(levels: ItemLevels, forms: Longs) -> ItemLevels:
    """The levels of some forms, with nodes and words by rank."""
    item_offsets, items = take_ragged(levels.item_offsets, forms)
    level_offsets, places = take_ragged(levels.level_offsets, items)
    known, nodes = np.unique(levels.nodes[places], return_inverse=True)
    words = np.unique(levels.item_words[items], return_inverse=True)[1]
    return ItemLevels(
        item_offsets=item_offsets,
        item_words=words.astype(np.int32),
        item_concepts=np.minimum(levels.item_concepts[items], 0),
        item_bits=levels.item_bits[items],
        item_places=levels.item_places[items],
        level_offsets=level_offsets,
        nodes=nodes.astype(np.int64),
        bits=levels.bits[places],
        words=int(np.searchsorted(known, levels.words)),
    )
