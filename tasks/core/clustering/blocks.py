"""Large logs in blocks: sets that stand together in the taxonomy are clustered together.

Sets are ordered by the place of their first attribute in a depth-first walk of the taxonomy, then
of the next; the order is cut into blocks of equal size, which do not know of each other. So time
and memory grow with the log, not with its square. (Ordering by the most frequent attribute first
scatters what belongs together: measured, it costs 3 % more.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import starmap
from typing import Any, Final

import numpy as np

from tasks.core.clustering.problem import Problem, medoids, withheld_labels
from tasks.core.records import Ints, Longs

LARGEST_BLOCK: Final = 4000
Method = Callable[[Problem], Ints]
"""Labels of the sets of a solvable problem."""


Run = Callable[[Callable[..., Ints], Iterable[tuple[Any, ...]]], Iterable[Ints]]
"""Calls a function with each of some arguments, here or elsewhere; results come in order."""


def here(function: Callable[..., Ints], arguments: Iterable[tuple[Any, ...]]) -> Iterable[Ints]:
    """Call in this process."""
    return starmap(function, arguments)


def in_blocks(problem: Problem, method: Method, run: Run) -> Ints:
    """Cluster a problem block by block; everything is withheld if no cluster is possible."""
    if not problem.solvable:
        return withheld_labels(problem)
    blocks = cut(problem)
    return joined(problem, blocks, run(_cluster, ((problem.part(b), method) for b in blocks)))


def joined(problem: Problem, blocks: list[Longs], labels_of_blocks: Iterable[Ints]) -> Ints:
    """One numbering for the clusters of all blocks."""
    labels = withheld_labels(problem)
    next_label = 0
    for block, own in zip(blocks, labels_of_blocks, strict=True):
        labels[block] = own + next_label
        next_label += int(own.max()) + 1
    return labels


def cut(problem: Problem) -> list[Longs]:
    """The sets of each block, ascending; every block is solvable if the whole is."""
    pieces = np.array_split(taxonomic_order(problem), -(-len(problem) // LARGEST_BLOCK))
    blocks: list[Longs] = []
    waiting = np.zeros(0, dtype=np.int64)
    for piece in pieces:
        waiting = np.sort(np.concatenate([waiting, piece]))
        if problem.is_enough(waiting):
            blocks.append(waiting)
            waiting = np.zeros(0, dtype=np.int64)
    if len(waiting):
        blocks[-1] = np.sort(np.concatenate([blocks[-1], waiting]))
    return blocks


def taxonomic_order(problem: Problem, *, last_first: bool = False) -> Longs:
    """The sets ordered by the places of their attributes, from the first or from the last one."""
    costs = problem.costs
    sizes = np.diff(costs.offsets)
    rows = np.repeat(np.arange(len(problem)), sizes)
    places = problem.places[costs.classes] * (-1 if last_first else 1)
    order = np.lexsort((places, rows))
    table = np.full((len(problem), int(sizes.max(initial=0))), -len(problem.places))
    table[rows, np.arange(len(rows)) - costs.offsets[:-1][rows]] = places[order]
    return np.asarray(np.lexsort(table.T[::-1]))


def _cluster(block: Problem, method: Method) -> Ints:
    """Cluster one block; of one that had to grow too large, sets of busy users come last.

    A block grows beyond measure only where few people hold very many sets. As many sets as a
    block may hold are clustered, of every user about as many; the others join what is nearest.
    """
    if len(block) <= LARGEST_BLOCK:
        return method(block)
    core = _core(block)
    labels = withheld_labels(block)
    labels[core] = method(block.part(core))
    return _join_nearest(block, labels)


def _core(block: Problem) -> Longs:
    """LARGEST_BLOCK sets, or as many more as a cluster needs, ascending."""
    order = _round_robin(block)
    count = LARGEST_BLOCK
    while not block.is_enough(order[:count]):
        count *= 2
    return np.sort(order[:count])


def _round_robin(problem: Problem) -> Longs:
    """All sets: first those that are the first of one of their users, then the second, …"""
    owners = np.repeat(np.arange(len(problem)), np.diff(problem.user_offsets))
    order = np.argsort(problem.users, kind="stable")
    users = problem.users[order]
    ranks = np.full(len(problem), len(users))
    np.minimum.at(ranks, owners[order], np.arange(len(users)) - np.searchsorted(users, users))
    return np.argsort(ranks, kind="stable")


def _join_nearest(problem: Problem, labels: Ints) -> Ints:
    """Give every set without a label that of the nearest medoid, ties by label."""
    least = np.full(len(problem), np.inf)
    nearest = labels.copy()
    for label, medoid in enumerate(medoids(problem, labels).tolist()):
        costs = problem.costs.to(problem.costs.row(medoid))
        closer = costs < least
        nearest[closer], least[closer] = label, costs[closer]
    return np.where(labels >= 0, labels, nearest)
