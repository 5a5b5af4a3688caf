"""Medoids: the set that costs least in place of all records, of a cluster or of a whole log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tasks.core.arrays import owners, part_slices, split_ragged, take_ragged
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Floats, Ints, Longs
from tasks.core.similarity.costs import SetCosts, paired_costs
from tasks.core.starmap import Starmap, serial

MOST_CANDIDATES = 256
"""A medoid is looked for among so many of the most frequent sets."""
MOST_PAIRS = 500_000
"""Pairs of sets that are compared at a time."""


def group_medoids(
    costs: SetCosts,
    groups: tuple[Longs, Longs],
    counts: Longs,
    *,
    most_candidates: int = MOST_CANDIDATES,
    most_pairs: int = MOST_PAIRS,
) -> Longs:
    """The place among the members of each group's medoid, ties by order.

    In a very large group only its most frequent sets are tried.

    Args:
        groups: the sets of each group, which holds at least one, as a ragged array.
        counts: records of each member.
        most_candidates: sets that are tried at the most.
        most_pairs: pairs of sets that are compared at a time, and with one group.
    """
    offsets, members = groups
    most = np.clip(most_pairs // np.diff(offsets), 1, most_candidates)
    tried = _most_frequent(counts, offsets, most)
    groups_of_tried = owners(offsets)[tried]
    totals = np.empty(len(tried))
    for part in part_slices(np.diff(offsets)[groups_of_tried], most_pairs):
        pair_offsets, places = take_ragged(offsets, groups_of_tried[part])
        left = np.repeat(members[tried[part]], np.diff(pair_offsets))
        weighted = paired_costs(costs, left, members[places]) * counts[places]
        totals[part] = np.add.reduceat(weighted, pair_offsets[:-1])
    best_first = np.lexsort((np.round(totals, 6), groups_of_tried))
    return tried[best_first[np.flatnonzero(np.diff(groups_of_tried, prepend=-1))]]


def _most_frequent(counts: Longs, offsets: Longs, most: Longs) -> Longs:
    """Places of so many of the most frequent members of each group, ascending."""
    group_of = owners(offsets)
    frequent_first = np.lexsort((-counts, group_of))
    ranks = np.arange(len(counts)) - offsets[group_of]
    return np.sort(frequent_first[ranks < most[group_of]])


def dataset_centre(
    costs: SetCosts,
    counts: Longs,
    starmap: Starmap = serial,
    *,
    sets_per_part: int = PART_SIZES.sets_per_part,
) -> int:
    """The medoid of all records: the centre of Eq. 13.

    Eq. 9's pair of records would do, but which record of which tied pair it is depends on the
    order of the records. Candidates are the most frequent sets, ties by order.
    """
    candidates = np.lexsort((np.arange(len(counts)), -counts))[:MOST_CANDIDATES]
    parts = _centre_parts(costs, counts, candidates, sets_per_part)
    totals = sum(starmap(_candidate_totals, parts))
    return int(candidates[int(np.argmin(np.round(totals, 6)))])


def _centre_parts(
    costs: SetCosts, counts: Longs, candidates: Longs, sets_per_part: int
) -> Iterator[tuple[SetCosts, Longs, Longs, Longs]]:
    """Some sets at a time, their counts, and the candidates as a ragged array of classes.

    Only how far classes are from those of candidates goes along.
    """
    candidate_offsets, places = take_ragged(costs.offsets, candidates)
    used, classes = np.unique(costs.classes[places], return_inverse=True)
    squares = costs.squares[:, used]
    for start in range(0, len(costs), sets_per_part):
        offsets = costs.offsets[start : start + sets_per_part + 1]
        own = costs.classes[offsets[0] : offsets[-1]]
        part = SetCosts(offsets - offsets[0], own, squares)
        yield part, counts[start : start + sets_per_part], candidate_offsets, classes


def _candidate_totals(costs: SetCosts, counts: Longs, offsets: Longs, classes: Ints) -> Floats:
    """What each candidate costs in place of the records of some sets.

    Not as a product of vectors: that adds up in an order of the machine's own.
    """
    candidates = split_ragged(offsets, classes)
    return np.array([float((costs.to(own) * counts).sum()) for own in candidates])
