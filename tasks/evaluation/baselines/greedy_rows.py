"""The greedy floor: rows of up to three things that k people can truly be told by.

Every query supports the sets of up to three of its items, each item at any of its levels, no two
levels of one item together. The sets are taken in descending order of bits, and one that k people
who have no row yet support becomes their row. Nobody is moved again, and many vague rows are never
weighed against one good one: a search that is worth its time does better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from tasks.core.records import Ints, RecordTable, Release
from tasks.core.rows.levels import VAGUEST, ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.method import (
    Material,
    Method,
    Outcome,
    published_by_rows,
    without_dominance,
    without_times,
)

LARGEST: Final = 3
"""Things that a row tells at most."""
Row = tuple[int, ...]
"""The nodes that a row tells, ascending."""
Item = list[int]
"""The nodes of an item's levels."""
Supporters = dict[Row, list[int]]
"""The forms that support each row."""


def _greedily(material: Material, k: int) -> Outcome:
    rows = greedy_rows(material.table, material.taxonomy, k, vaguest=VAGUEST)
    return published_by_rows(material, without_dominance(rows, material.table))


def greedy_rows(table: RecordTable, taxonomy: Taxonomy, k: int, *, vaguest: float) -> Release:
    """The rows of the floor; concepts of fewer than `vaguest` bits are not told."""
    levels = item_levels(table, taxonomy, vaguest=vaguest)
    people = people_of_forms(table)
    supporters = supported_rows(levels, people, k)
    rows, row_of_form = _taken(ordered_rows(supporters, levels), supporters, people, k)
    return release_of_rows(rows, row_of_form[table.form_of], levels.words)


def people_of_forms(table: RecordTable) -> list[set[int]]:
    """Who typed each form."""
    people: list[set[int]] = [set() for _ in range(len(table.forms))]
    for form, user in zip(table.form_of.tolist(), table.users.tolist(), strict=True):
        people[form].add(user)
    return people


def supported_rows(levels: ItemLevels, people: Sequence[set[int]], k: int) -> Supporters:
    """All rows that k people support, each larger one grown from those it contains.

    A row can be supported by k people only if all its parts are.
    """
    forms = list(_items_of_forms(levels))
    found: Supporters = {}
    # Of each form its rows of one size, with the item after which a row may go on growing: a
    # row takes its items in their order, so that none gives it two levels.
    grown: list[set[tuple[Row, int]]] = [{((), 0)} for _ in forms]
    for _ in range(LARGEST):
        grown = [_grown(rows, form, found) for rows, form in zip(grown, forms, strict=True)]
        shared = _shared_by_k(grown, people, k)
        grown = [{own for own in rows if own[0] in shared} for rows in grown]
        found |= shared
    return found


def _items_of_forms(levels: ItemLevels) -> Iterator[list[Item]]:
    nodes, bounds = levels.nodes.tolist(), levels.level_offsets.tolist()
    items = [nodes[start:end] for start, end in pairwise(bounds)]
    for start, end in pairwise(levels.item_offsets.tolist()):
        yield items[start:end]


def _grown(
    rows: set[tuple[Row, int]], items: Sequence[Item], shared: Mapping[Row, object]
) -> set[tuple[Row, int]]:
    """The rows of one form with one thing more, if k people support all else they contain."""
    larger = set()
    for row, first in rows:
        for place in range(first, len(items)):
            for node in items[place]:
                if node not in row:
                    grown = tuple(sorted((*row, node)))
                    if all(part in shared for part in combinations(grown, len(row)) if part):
                        larger.add((grown, place + 1))
    return larger


def _shared_by_k(
    grown: Sequence[set[tuple[Row, int]]], people: Sequence[set[int]], k: int
) -> Supporters:
    supporters: Supporters = {}
    for form, rows in enumerate(grown):
        for row in {row for row, _ in rows}:
            supporters.setdefault(row, []).append(form)
    return {row: own for row, own in supporters.items() if _are_k(own, people, k)}


def _are_k(forms: Sequence[int], people: Sequence[set[int]], k: int) -> bool:
    """Whether k different people typed these forms."""
    held: set[int] = set()
    for form in forms:
        held |= people[form]
        if len(held) >= k:
            return True
    return False


def ordered_rows(rows: Supporters, levels: ItemLevels) -> list[Row]:
    """The most informative first, ties by nodes."""
    bits = _bits_of_nodes(levels)
    # Without last digits, in which sums of the same bits may differ.
    return sorted(rows, key=lambda row: (-round(sum(bits[node] for node in row), 6), row))


def _bits_of_nodes(levels: ItemLevels) -> dict[int, float]:
    """What each node tells; of a word that is read in several ways, the most."""
    bits: dict[int, float] = {}
    for node, own in zip(levels.nodes.tolist(), levels.bits.tolist(), strict=True):
        bits[node] = max(bits.get(node, 0.0), own)
    return bits


def _taken(
    ordered: Sequence[Row], supporters: Supporters, people: Sequence[set[int]], k: int
) -> tuple[list[Row], Ints]:
    """The rows that become somebody's, and the row of each form, or -1."""
    taken: list[Row] = []
    row_of_form = np.full(len(people), -1, dtype=np.int32)
    for row in ordered:
        waiting = [form for form in supporters[row] if row_of_form[form] < 0]
        if _are_k(waiting, people, k):
            row_of_form[waiting] = len(taken)
            taken.append(row)
    return taken, row_of_form


def release_of_rows(rows: Sequence[Row], class_of: Ints, words: int) -> Release:
    """Words and concepts of each row; rows of the same concepts are one cluster."""
    terms = [[node if node < words else words - 1 - node for node in row] for row in rows]
    concepts = [tuple(node - words for node in row if node >= words) for row in rows]
    numbers: dict[Row, int] = {(): -1}
    clusters = [numbers.setdefault(own, len(numbers) - 1) for own in concepts]
    return without_times(class_of, terms, concepts, clusters)


GREEDY: Final = Method(
    "greedy",
    "floor",
    False,
    _greedily,
    "rows of up to three things that k people share, the most informative first: a greedy search",
    "it never moves anybody again; words and concepts as `--guarantee strict` tells them, no times",
)
