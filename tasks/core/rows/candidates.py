"""Rows that could be published: sets of levels that at least k people have in common.

Mined level by level, as frequent itemsets are (Agrawal, Srikant, VLDB 1994; with a taxonomy VLDB
1995): a set of levels is shared by k people only if all its parts are. A set holds no two levels of
one item. Sets of up to MOST_LEVELS are looked for, beside whole queries; what else the people of a
class have in common is found when its row is written (`told.py`).

A time joins a set like a level: sets are tried without one and with each span of time that k of
their people share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tasks.core.arrays import distinct, group_by, owners, sums_by, take_ragged
from tasks.core.records import Flags, Floats, Ints, Longs, freeze
from tasks.core.rows.levels import ItemLevels, LevelsOf, SharedNodes, form_ranges
from tasks.core.rows.problem import WORTH, Problem, RowProblem

MOST_LEVELS: Final = 3
MOST_NODES: Final = 24
"""Levels of a query that take part, the most informative: a bound for very long queries."""
SEED: Final = 15
BITS_OF_A_MASK: Final = 62
"""Items of a query are told apart up to here; of longer queries some are taken for each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rows that could be published, and which units could stand behind them.

    Attributes:
        offsets: row p is supported by units[offsets[p] : offsets[p + 1]], ascending.
        units: places in the problem's units.
        bits: what the row tells of each of them, weighed (WORTH).
    """

    offsets: Longs
    units: Ints
    bits: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class _Support:
    """Sets of levels and the forms that support them, side by side; sets are 0, 1, …"""

    sets: Longs
    forms: Longs
    bits: Floats
    count: int


def candidates_of(
    problem: RowProblem, *, most_levels: int = MOST_LEVELS, most_nodes: int = MOST_NODES
) -> Candidates:
    """All sets of levels that k people share, with and without a time."""
    levels = _frequent_levels(problem, most_nodes)
    mined = _mined(problem, levels, most_levels)
    found = [_roots(problem), *mined, _whole_queries(problem, most_levels)]
    return _with_times(problem, _joined(found))


def best_shared_nodes(problem: Problem[LevelsOf]) -> Ints:
    """The most informative level of each form that k people share, as a number; 0 for none.

    Some forms after others, so that the levels of all are never in memory together.
    """
    best = np.zeros(len(problem.levels), dtype=np.int32)
    shared = _shared_nodes(problem)
    for forms in form_ranges(len(problem.levels)):
        levels = problem.levels.of(forms)
        entries = _entries(levels)
        nodes = shared.numbers(problem, forms[entries.forms], entries.nodes)
        usable = shared.enough[nodes] & problem.may_tell(levels, entries.items)
        found = _kept(levels, entries._replace(nodes=nodes), usable, shared.sums, MOST_NODES)
        order = np.lexsort((found.nodes, -found.bits, found.forms))
        first = order[np.diff(found.forms[order], prepend=-1) > 0]
        best[forms[found.forms[first]]] = found.nodes[first] + 1
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """The levels of each form that k people share, by form and node; each node once.

    Attributes:
        items: which items of the form have the level, as a mask.
        bits: what it tells of all of them.
    """

    forms: Longs
    items: Longs
    nodes: Longs
    bits: Floats
    offsets: Longs


class _Entries(NamedTuple):
    """The levels of all items, side by side: of which item and form each is, and its node."""

    items: Longs
    forms: Longs
    nodes: Longs


def _entries(levels: ItemLevels) -> _Entries:
    items = owners(levels.level_offsets)
    return _Entries(items, owners(levels.item_offsets)[items], levels.nodes)


class _NodesOfLog(NamedTuple):
    """Which nodes k people share, over a whole log.

    Attributes:
        keys: of nodes within groups, ascending, if there are groups: a node is numbered by them.
        enough: whether k people share each node.
        sums: of the lots of the forms that may tell each node.
    """

    keys: Longs
    enough: Flags
    sums: Longs

    def numbers(self, problem: Problem[LevelsOf], forms: Longs, nodes: Longs) -> Longs:
        return nodes if problem.free else np.searchsorted(self.keys, _keys(problem, forms, nodes))


def _keys(problem: Problem[LevelsOf], forms: Longs, nodes: Longs) -> Longs:
    return problem.groups[forms] * problem.levels.node_count + nodes


def _shared_nodes(problem: Problem[LevelsOf]) -> _NodesOfLog:
    keys, count = np.zeros(0, dtype=np.int64), problem.levels.node_count
    if not problem.free:
        all_entries = _entries(problem.levels.of(np.arange(len(problem.levels))))
        keys = distinct(_keys(problem, all_entries.forms, all_entries.nodes))
        count = len(keys)
    shared = SharedNodes(count, problem.users, problem.k)
    found = _NodesOfLog(keys, shared.enough, np.zeros(count, np.int64))
    lots = _lots(len(problem.levels))
    for forms in form_ranges(len(problem.levels)):
        levels = problem.levels.of(forms)
        entries = _entries(levels)
        own = forms[entries.forms]
        nodes = found.numbers(problem, own, entries.nodes)
        told = problem.may_tell(levels, entries.items)
        np.add.at(found.sums, nodes[told], lots[own[told]])
        shared.add(nodes, own, problem.unit_offsets, problem.users)
    return found


def _lots(forms: int) -> Longs:
    """Drawn by each form; by the sum of lots those forms are told apart that have a node.

    Equal counts would not do: of two parents of a concept neither is above the other.
    """
    return np.random.default_rng(SEED).integers(2**63, size=forms)


def _frequent_levels(problem: RowProblem, most: int) -> _Levels:
    """The same of a problem that has all its levels at hand."""
    entries = _entries(problem.levels)
    _, nodes = group_by(_keys(problem, entries.forms, entries.nodes))
    told = problem.may_tell(problem.levels, entries.items)
    usable = problem.enough(nodes, entries.forms)[nodes] & told
    sums = np.zeros(int(nodes.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, nodes[told], _lots(len(problem.levels))[entries.forms[told]])
    return _kept(problem.levels, entries._replace(nodes=nodes), usable, sums, most)


def _kept(levels: ItemLevels, entries: _Entries, usable: Flags, sums: Longs, most: int) -> _Levels:
    """The usable levels of each form, of those of an item that the same forms have the finest.

    Args:
        sums: of the lots of the forms that have each node.
    """
    items, forms, nodes = (each[usable] for each in entries)
    bits = levels.bits[usable]
    # Finest first within items: a coarser level is left out if just those share it.
    kept = np.zeros(len(items), dtype=np.bool_)
    kept[group_by(items, sums[nodes])[0]] = True
    items, forms, nodes, bits = items[kept], forms[kept], nodes[kept], bits[kept]
    order = np.lexsort((items, nodes, forms))
    items, forms, nodes, bits = items[order], forms[order], nodes[order], bits[order]
    new = np.append(True, (forms[1:] != forms[:-1]) | (nodes[1:] != nodes[:-1]))[: len(forms)]
    masks = np.left_shift(1, (items - levels.item_offsets[forms]) % BITS_OF_A_MASK)
    first = np.flatnonzero(new)
    items = np.bitwise_or.reduceat(masks, first) if len(first) else masks
    bits = sums_by(np.cumsum(new) - 1, bits, len(first))
    forms, nodes = forms[new], nodes[new]
    kept = _ranks_within(forms, bits) < most
    forms = forms[kept]
    offsets = np.searchsorted(forms, np.arange(len(levels) + 1))
    return _Levels(forms, items[kept], nodes[kept], bits[kept], offsets)


def _ranks_within(groups: Longs, values: Floats) -> Longs:
    """The place of each value among those of its group, the greatest first; groups ascending."""
    order = np.lexsort((-values, groups))
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - np.searchsorted(groups, groups[order])
    return ranks


def _roots(problem: RowProblem) -> _Support:
    """What all records of a group tell before anything else, if that is something."""
    forms = np.flatnonzero(problem.told_by_group > 0)
    _, sets = group_by(problem.groups[forms])
    return _Support(sets, forms, problem.told_by_group[forms], int(sets.max(initial=-1)) + 1)


def _mined(problem: RowProblem, levels: _Levels, most_levels: int) -> list[_Support]:
    """Sets of one level, of two, and so on; places point into `levels`."""
    width = int(levels.nodes.max(initial=0)) + 1
    # A set holds the group of its forms by its first node, which is numbered within the group.
    _, sets = group_by(levels.nodes)
    before = problem.told_by_group[levels.forms]
    support = _Support(sets, levels.forms, before + levels.bits, int(sets.max(initial=-1)) + 1)
    places, items = np.arange(len(levels.forms)), levels.items
    found = [support]
    for _ in range(1, most_levels):
        owner, place = _later_places(levels, support.forms, places)
        apart = (items[owner] & levels.items[place]) == 0
        owner, place = owner[apart], place[apart]
        _, sets = group_by(support.sets[owner] * width + levels.nodes[place])
        kept = problem.enough(sets, support.forms[owner])[sets]
        owner, place = owner[kept], place[kept]
        if not len(owner):
            break
        _, sets = group_by(sets[kept])
        bits = support.bits[owner] + levels.bits[place]
        support = _Support(sets, support.forms[owner], bits, int(sets.max()) + 1)
        items, places = items[owner] | levels.items[place], place
        found.append(support)
    return found


def _later_places(levels: _Levels, forms: Longs, places: Longs) -> tuple[Longs, Longs]:
    """Each place with every later one of its form: which of `places` it was, and the later one."""
    counts = levels.offsets[forms + 1] - places - 1
    owner = np.repeat(np.arange(len(places)), counts)
    first = np.cumsum(counts) - counts
    return owner, places[owner] + 1 + np.arange(len(owner)) - first[owner]


def _whole_queries(problem: RowProblem, most_levels: int) -> _Support:
    """Queries as typed, in any order of their words, if they hold more items than sets do."""
    levels = problem.levels
    long = np.flatnonzero(np.diff(levels.item_offsets) > most_levels)
    offsets, items = take_ragged(levels.item_offsets, long)
    # Items of a form stand by word.
    words = levels.item_words[items].astype(np.int64)
    told = np.where(problem.may_tell(levels, items), levels.item_bits[items], 0.0)
    owner = np.repeat(np.arange(len(long)), np.diff(offsets))
    keys: dict[bytes, int] = {}
    bounds = offsets.tolist()
    sets = np.array(
        [
            keys.setdefault(group.to_bytes(8, "big", signed=True) + words[a:b].tobytes(), len(keys))
            for group, a, b in zip(
                problem.groups[long].tolist(), bounds[:-1], bounds[1:], strict=True
            )
        ],
        dtype=np.int64,
    )
    told = sums_by(owner, told, len(long))
    bits = problem.told_by_group[long] + told
    kept = problem.enough(sets, long)[sets] & (told > 0)
    _, sets = group_by(sets[kept])
    return _Support(sets, long[kept], bits[kept], int(sets.max(initial=-1)) + 1)


def _joined(found: list[_Support]) -> _Support:
    counts = np.cumsum([0, *(support.count for support in found)])
    return _Support(
        np.concatenate([own.sets + first for own, first in zip(found, counts[:-1], strict=True)]),
        np.concatenate([own.forms for own in found]),
        np.concatenate([own.bits for own in found]),
        int(counts[-1]),
    )


def _with_times(problem: RowProblem, found: _Support) -> Candidates:
    """Each set without a time, and with every span of time that k of its people share."""
    offsets, units = take_ragged(problem.unit_offsets, found.forms)
    owner = np.repeat(np.arange(len(found.forms)), np.diff(offsets))
    sets, bits = found.sets[owner], WORTH + found.bits[owner]
    keys, all_units, all_bits = [sets], [units], [bits]
    first = found.count
    for cells, gain in zip(problem.time_cells, problem.time_bits, strict=True):
        cell = cells[units]
        timed = np.flatnonzero(cell >= 0)
        width = int(cells.max(initial=0)) + 1
        _, spans = group_by(sets[timed] * width + cell[timed])
        kept = problem.enough_units(spans, units[timed])[spans] if len(spans) else spans > 0
        timed = timed[kept]
        _, spans = group_by(spans[kept])
        keys.append(first + spans)
        all_units.append(units[timed])
        all_bits.append(bits[timed] + gain)
        first += int(spans.max(initial=-1)) + 1
    rows, members = np.concatenate(keys), np.concatenate(all_units)
    order = np.lexsort((members, rows))
    bounds = np.searchsorted(rows[order], np.arange(first + 1))
    return Candidates(bounds, members[order].astype(np.int32), np.concatenate(all_bits)[order])
