"""Large logs in blocks: sets that stand together in the taxonomy are clustered together.

Sets are ordered along the taxonomy, and the order is cut into blocks, which do not know of each
other. So time and memory grow with the log, not with its square. (Ordering by the most frequent
attribute first scatters what belongs together: measured, it costs 3 % more.)

Cuts are made where the taxonomy parts, not by count, so that they stay where they are when the log
grows, and pairs of old sets that meet in a block have met before. Measured on 100,000 queries in
scope `all` (nine blocks of 1,903 to 3,754 sets): without a random twentieth of the records all cuts
are the same, and 5.7 % of the pairs within blocks are new, all of them with a new set; without the
last twentieth, 8.6 %. A cut moves if a higher parting comes into the middle third: that was so in
none of twelve more such trials, but in two of twelve on random sets of nouns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from tasks.core.clustering.between import between_sets
from tasks.core.clustering.problem import Problem, medoids, withheld_labels
from tasks.core.clustering.spaces import UserSizes
from tasks.core.clustering.taxonomic_order import taxonomic_order
from tasks.core.records import Ints, Longs
from tasks.core.runs import Run
from tasks.core.similarity.costs import Costs

LARGEST_BLOCK: Final = 4000
Between = Callable[[Problem], Costs]
"""Gives the costs between the sets of a problem, as `between_sets` does; read or computed where
the block is clustered, so it must be picklable if that is another process."""
Method = Callable[[Problem, Between], Ints]
"""Labels of the sets of a solvable problem."""


def in_blocks(
    problem: Problem, method: Method, run: Run, sources: Sequence[Between] | None = None
) -> Ints:
    """Cluster a problem block by block; everything is withheld if no cluster is possible.

    Args:
        sources: for each block of `cut` where the costs between its `compared_sets` come from;
            they are computed if nothing is given.
    """
    if not problem.solvable:
        return withheld_labels(problem)
    blocks = cut(problem)
    betweens = sources or [between_sets] * len(blocks)
    # The largest first: then no core waits long for the last.
    order = sorted(range(len(blocks)), key=lambda place: -len(blocks[place]))
    blocks = [blocks[place] for place in order]
    parts = zip(blocks, (betweens[place] for place in order), strict=True)
    arguments = ((problem.part(block), method, between) for block, between in parts)
    return joined(problem, blocks, run(_cluster, arguments))


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
    return list(_stretches(problem, *taxonomic_order(problem)))


def _stretches(problem: Problem, order: Longs, partings: Longs) -> Iterator[Longs]:
    """Cut a stretch of the order in two, and each part again, until it is small enough."""
    place = _where_to_cut(problem, order, partings) if len(order) > LARGEST_BLOCK else None
    if place is None:
        yield np.sort(order)
        return
    yield from _stretches(problem, order[:place], partings[:place])
    yield from _stretches(problem, order[place:], partings[place:])


def _where_to_cut(problem: Problem, order: Longs, partings: Longs) -> int | None:
    """The place in the middle third that parts highest, ties nearest to the middle.

    Both parts must be solvable. Where few people hold very many sets, that may be possible
    outside the middle third alone, or nowhere.
    """
    sizes, count = UserSizes(problem), len(order)
    solvable = np.arange(sizes.needed(order), count - sizes.needed(order[::-1]) + 1)
    inner = solvable[(3 * solvable >= count) & (3 * solvable <= 2 * count)]
    if not len(inner):
        return int(solvable[np.argmin(abs(2 * solvable - count))]) if len(solvable) else None
    return int(inner[np.lexsort((abs(2 * inner - count), partings[inner]))[0]])


def _cluster(block: Problem, method: Method, between: Between) -> Ints:
    """Cluster what is compared of a block; other sets join what is nearest."""
    compared = compared_sets(block)
    if len(compared) == len(block):
        return method(block, between)
    labels = withheld_labels(block)
    labels[compared] = method(block.part(compared), between)
    return _join_nearest(block, labels)


def compared_sets(block: Problem) -> Longs:
    """The sets of a block that are compared with each other, ascending: nearly always all.

    A block grows too large only where few people hold very many sets. Then as many sets as a
    block may hold, or as many more as a cluster needs, are taken, of every user about as many.
    """
    if len(block) <= LARGEST_BLOCK:
        return np.arange(len(block))
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
