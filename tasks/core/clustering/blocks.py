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

import numpy as np

from tasks.core.clustering.problem import (
    Problem,
    UserSizes,
    between_sets,
    medoids,
    suppressed_labels,
)
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Ints, Longs
from tasks.core.similarity.costs import Costs
from tasks.core.starmap import Starmap

NONE = -1
"""Fills up the rows of sets with fewer attributes than others."""
Between = Callable[[Problem], Costs]
"""Gives the costs between the sets of a problem, as `between_sets` does; read or computed where
the block is clustered, so it must be picklable if that is another process."""
Method = Callable[[Problem, Between], Ints]
"""Labels of the sets of a solvable problem."""


def in_blocks(
    problem: Problem,
    method: Method,
    starmap: Starmap,
    sources: Sequence[Between] | None = None,
    *,
    sets_per_block: int = PART_SIZES.sets_per_block,
) -> Ints:
    """Cluster a problem block by block; everything is suppressed if no cluster is possible.

    Args:
        sources: for each block of `cut_into_blocks` where the costs between its `compared_sets`
            come from; they are computed if nothing is given.
        sets_per_block: sets that a block holds at the most, if it can be cut.
    """
    if not problem.solvable:
        return suppressed_labels(problem)
    blocks = cut_into_blocks(problem, sets_per_block=sets_per_block)
    betweens = sources or [between_sets] * len(blocks)
    # The largest first: then no core waits long for the last.
    order = sorted(range(len(blocks)), key=lambda place: -len(blocks[place]))
    blocks = [blocks[place] for place in order]
    parts = zip(blocks, (betweens[place] for place in order), strict=True)
    arguments = ((problem.part(block), method, between, sets_per_block) for block, between in parts)
    return joined(problem, blocks, starmap(_cluster, arguments))


def joined(problem: Problem, blocks: list[Longs], labels_of_blocks: Iterable[Ints]) -> Ints:
    """One numbering for the clusters of all blocks."""
    labels = suppressed_labels(problem)
    next_label = 0
    for block, own in zip(blocks, labels_of_blocks, strict=True):
        labels[block] = own + next_label
        next_label += int(own.max()) + 1
    return labels


def cut_into_blocks(
    problem: Problem, *, sets_per_block: int = PART_SIZES.sets_per_block
) -> list[Longs]:
    """The sets of each block, ascending; every block is solvable if the whole is."""
    return list(_cut(problem, *taxonomic_order(problem), sets_per_block))


def _cut(problem: Problem, order: Longs, partings: Longs, sets_per_block: int) -> Iterator[Longs]:
    """Cut a piece of the order in two, and each half again, until it is small enough."""
    place = _where_to_cut(problem, order, partings) if len(order) > sets_per_block else None
    if place is None:
        yield np.sort(order)
        return
    yield from _cut(problem, order[:place], partings[:place], sets_per_block)
    yield from _cut(problem, order[place:], partings[place:], sets_per_block)


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


def _cluster(block: Problem, method: Method, between: Between, sets_per_block: int) -> Ints:
    """Cluster what is compared of a block; other sets join what is nearest."""
    compared = compared_sets(block, sets_per_block=sets_per_block)
    if len(compared) == len(block):
        return method(block, between)
    labels = suppressed_labels(block)
    labels[compared] = method(block.part(compared), between)
    return _join_nearest(block, labels)


def compared_sets(block: Problem, *, sets_per_block: int = PART_SIZES.sets_per_block) -> Longs:
    """The sets of a block that are compared with each other, ascending: nearly always all.

    A block grows too large only where few people hold very many sets. Then as many sets as a
    block may hold, or as many more as a cluster needs, are taken, of every user about as many.
    """
    if len(block) <= sets_per_block:
        return np.arange(len(block))
    order = _round_robin(block)
    count = sets_per_block
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


def taxonomic_order(problem: Problem) -> tuple[Longs, Longs]:
    """The sets in order, and the rank of the parting before each of them (low: near the top).

    Sets are ordered by the place of their first attribute in a depth-first walk of the taxonomy,
    then of the next, then by number. A parting at an earlier attribute ranks first, then one
    where the paths of the two attributes have less in common.
    """
    # Paths in lexicographic order are a depth-first walk.
    paths, places = np.unique(problem.paths, axis=0, return_inverse=True)
    places = places.ravel()
    rows = _attribute_places(problem, places)
    order = np.lexsort(rows.T[::-1])
    return order, np.append(0, _partings(rows[order], paths))


def _attribute_places(problem: Problem, places: Longs) -> Longs:
    """Places of the attributes of each set, ascending, then NONE, shape (sets, most attributes)."""
    costs = problem.costs
    sizes = np.diff(costs.offsets)
    owners = np.repeat(np.arange(len(problem)), sizes)
    order = np.lexsort((places[costs.classes], owners))
    rows = np.full((len(problem), int(sizes.max())), NONE)
    rows[owners, np.arange(len(owners)) - costs.offsets[owners]] = places[costs.classes[order]]
    return rows


def _partings(rows: Longs, paths: Ints) -> Longs:
    """Rank of the parting between each two neighbouring rows."""
    differs = rows[1:] != rows[:-1]
    # Equal rows part nowhere, which ranks last.
    differs = np.append(differs, np.ones((len(differs), 1), dtype=np.bool_), axis=1)
    attribute = np.argmax(differs, axis=1)
    either = np.append(rows, np.full((len(rows), 1), NONE), axis=1)
    every = np.arange(len(differs))
    left, right = either[:-1][every, attribute], either[1:][every, attribute]
    # Where one row ends, there is no path to share.
    alike = (paths[left] == paths[right]) & (left != NONE)[:, None]
    shared = np.cumprod(alike, axis=1).sum(axis=1)
    return np.asarray(attribute * (paths.shape[1] + 1) + shared, dtype=np.int64)
