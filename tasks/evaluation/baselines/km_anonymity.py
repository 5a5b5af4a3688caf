"""Generalisation of set-valued data to k^m-anonymity, over WordNet.

Items climb the hierarchy until any m of them that stand in one record are shared by k people.
The recoding is global: where an item is published as a node, so is all that lies below the node.
Sets of people and of records are the bits of Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np

from tasks.core.arrays import split_ragged
from tasks.core.records import Ints, RecordTable
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.method import Material, Method, Outcome, published_by_sets

Node = int
"""Concept c as a node of the hierarchy is c; as an item, a leaf below that node, it is -1 - c.
Above the top c of a tree there is NOTHING + c: what is generalised to that says nothing."""
NOTHING: Final = 2**31


def _generalise(m: int, material: Material, k: int) -> Outcome:
    table = material.table
    sets = [row.tolist() for row in split_ragged(table.sets.offsets, table.sets.concepts)]
    recoding = Recoding(sets, people_of_sets(table), material.taxonomy, k)
    recoding.generalise_items()
    if m == 2:
        recoding.generalise_pairs()
    rows: list[Ints | None] = [np.array(recoding.published(own), np.int32) for own in sets]
    return published_by_sets(material, rows)


def people_of_sets(table: RecordTable) -> list[int]:
    """The users of each set, as bits."""
    people = [0] * len(table.sets)
    held = table.set_of >= 0
    for own, user in set(zip(table.set_of[held].tolist(), table.users[held].tolist(), strict=True)):
        people[own] |= 1 << user
    return people


@dataclass(frozen=True, slots=True)
class _Below:
    """What lies at or below a node: sets that hold any of it, as bits, items, and mentions."""

    sets: int
    items: int
    mentions: int


class Recoding:
    """Items and the nodes that they are published as."""

    def __init__(self, sets: list[list[int]], people: list[int], taxonomy: Taxonomy, k: int):
        self._sets, self._people, self._k = sets, people, k
        items = sorted({item for own in sets for item in own})
        self._chains = {item: _chain(item, taxonomy) for item in items}
        self._below = self._gathered()
        self._chosen: set[Node] = set()

    def _gathered(self) -> dict[Node, _Below]:
        holders: dict[Node, int] = {}
        mentions: dict[Node, int] = {}
        items: dict[Node, set[int]] = {}
        for number, own in enumerate(self._sets):
            for item in own:
                for node in self._chains[item]:
                    holders[node] = holders.get(node, 0) | 1 << number
                    mentions[node] = mentions.get(node, 0) + 1
                    items.setdefault(node, set()).add(item)
        return {n: _Below(holders[n], len(items[n]), mentions[n]) for n in holders}

    def node(self, item: int) -> Node:
        """What an item is published as: the topmost chosen node above it, or itself."""
        chosen = [node for node in self._chains[item] if node in self._chosen]
        return chosen[-1] if chosen else -1 - item

    def published(self, own: list[int]) -> list[int]:
        """The concepts of a set, ascending."""
        nodes = (self.node(item) for item in own)
        return sorted({_concept(node) for node in nodes if node < NOTHING})

    def generalise_items(self) -> None:
        """m = 1: every item climbs to the first node that k people share."""
        for chain in self._chains.values():
            node = next(n for n in chain if self._is_shared(n, n))
            if node >= 0:
                self._chosen.add(node)

    def generalise_pairs(self) -> None:
        """m = 2: the pairs that fewer than k people share, one by one, at the least cost.

        To climb can only make other pairs more common, so each is looked at once.
        """
        for left, right in sorted({pair for own in self._sets for pair in combinations(own, 2)}):
            pair = self.node(left), self.node(right)
            if not self._is_shared(*pair):
                self._chosen.update(n for n in self._cheapest(left, right, *pair) if n >= 0)

    def _cheapest(self, left: int, right: int, low: Node, high: Node) -> tuple[Node, Node]:
        """The nodes at or above two that k people share and that cost least, ties by order."""
        pairs = [
            self._joined(a, b, left, right)
            for a in _from(self._chains[left], low)
            for b in _from(self._chains[right], high)
        ]
        costs = {pair: sum(self._cost(node) for node in set(pair)) for pair in pairs}
        return next(pair for pair in sorted(pairs, key=costs.__getitem__) if self._is_shared(*pair))

    def _joined(self, a: Node, b: Node, left: int, right: int) -> tuple[Node, Node]:
        """Two nodes, or the upper one twice if the other lies below it."""
        if a in self._chains[right]:
            return a, a
        return (b, b) if b in self._chains[left] else (a, b)

    def _is_shared(self, a: Node, b: Node) -> bool:
        """Whether k people hold something below a and something below b in one record.

        What says nothing does not count, and either alone is shared.
        """
        if max(a, b) >= NOTHING:
            return True
        both = self._below[a].sets & self._below[b].sets
        held = 0
        for number in _bits(both):
            held |= self._people[number]
            if held.bit_count() >= self._k:
                return True
        return False

    def _cost(self, node: Node) -> float:
        """The source's NCP: the part of all items that a node stands for, for every mention."""
        if node < 0:
            return 0.0
        below = self._below[node]
        return below.mentions * below.items / len(self._chains)


def _chain(item: int, taxonomy: Taxonomy) -> tuple[Node, ...]:
    """An item and the nodes above it, up to nothing; it lies below its own node."""
    chain = [-1 - item, item]
    while (parent := int(taxonomy.main_parents[chain[-1]])) >= 0 and parent not in chain:
        chain.append(parent)
    return (*chain, NOTHING + chain[-1])


def _concept(node: Node) -> int:
    return node if node >= 0 else -1 - node


def _from(chain: tuple[Node, ...], node: Node) -> tuple[Node, ...]:
    return chain[chain.index(node) :]


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


SOURCE: Final = (
    "M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data, "
    "PVLDB 1 (2008)"
)
ASSUMED: Final = (
    "Support counts people, not records. Hierarchy: WordNet by longest paths; it has many trees "
    "(each of the verbs' tops), and what would go to a root above them all is left out instead, "
    "which is kinder than taking everything else there too. A concept that has others below it is "
    "also an item below its own node. Cost: NCP, weighted by mentions. It promises k^m, not "
    "k-anonymity: a whole published set may be one person's."
)
SINGLES: Final = Method(
    "k^1", "baseline", False, partial(_generalise, 1), f"{SOURCE}, m = 1", ASSUMED
)
WITH_PAIRS: Final = Method(
    "k^2", "baseline", False, partial(_generalise, 2), f"{SOURCE}, m = 2", ASSUMED
)
