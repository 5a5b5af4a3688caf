"""A partition of the sets of a block that is being improved, always valid between two steps.

With it the centres of its clusters and what every set of the block pays for what they publish.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import pairwise

import numpy as np

from tasks.core.arrays import owners, ragged_of, take_ragged
from tasks.core.clustering.problem import Problem
from tasks.core.generalisation.members import Members
from tasks.core.generalisation.search import (
    cluster_groups,
    gather_candidates,
    gather_entries,
    group_costs,
    marks_of,
    search_candidates,
)
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.similarity.costs import Costs, membership, nearest_squares


class Partition:
    """Sets in clusters, the centre of each cluster, and what every set would pay at each centre.

    Attributes:
        labels: cluster of each set.
        sizes: sets in each cluster; 0 for one that was dissolved.
        centres: classes that each cluster publishes.
        costs: what all records of a set pay at a centre, shape (clusters, sets).
    """

    def __init__(self, problem: Problem, table: CostTable, labels: Ints | Longs) -> None:
        """Begin with labels 0, 1, …, each of them in use."""
        self.problem = problem
        self._table = table
        self._users = [problem.users_of(index).tolist() for index in range(len(problem))]
        self.centres: list[Ints] = [np.zeros(0, dtype=np.int32)] * (int(labels.max()) + 1)
        self.costs: Costs = np.empty((0, len(problem)), dtype=np.float32)
        self.labels = labels.astype(np.int64)
        self.sizes = [0] * len(self.centres)
        self._holders: list[dict[int, int]] = [{} for _ in self.centres]
        for index, label in enumerate(self.labels.tolist()):
            self._join(index, label)
        self.refresh(range(len(self.sizes)))

    def copy(self) -> Partition:
        return self.with_parts_of(self, np.zeros(len(self.labels), dtype=np.bool_))

    def with_parts_of(self, other: Partition, chosen: Flags) -> Partition:
        """This partition, but the other's clusters for some sets: whole clusters of either."""
        count = len(self.sizes)
        kept, labels = np.unique(
            np.where(chosen, other.labels + count, self.labels), return_inverse=True
        )
        mine, theirs = kept[kept < count], kept[kept >= count] - count
        sources = [*((self, label) for label in mine), *((other, label) for label in theirs)]
        mixed = copy(self)
        mixed.labels = labels.astype(np.int64)
        mixed.sizes = [source.sizes[label] for source, label in sources]
        mixed.centres = [source.centres[label] for source, label in sources]
        mixed._holders = [source._holders[label].copy() for source, label in sources]
        mixed.costs = np.concatenate([self.costs[mine], other.costs[theirs]])
        return mixed

    @property
    def own_costs(self) -> Costs:
        """What each set pays in its own cluster, shape (sets,)."""
        return np.asarray(self.costs[self.labels, np.arange(len(self.labels))])

    @property
    def total(self) -> float:
        return float(self.own_costs.sum(dtype=np.float64))

    def groups(self) -> list[Longs]:
        """The sets of each cluster, ascending."""
        order = np.argsort(self.labels, kind="stable")
        bounds = np.cumsum([0, *self.sizes]).tolist()
        return [order[start:end] for start, end in pairwise(bounds)]

    def is_valid(self, label: int) -> bool:
        """Whether a cluster holds enough people and sets."""
        problem = self.problem
        return len(self._holders[label]) >= problem.k and self.sizes[label] >= problem.l

    def can_spare(self, index: int) -> bool:
        """Whether the cluster of a set is still one without it."""
        label = int(self.labels[index])
        held = self._holders[label]
        leaving = 0
        for user in self._users[index]:
            leaving += held[user] == 1
        problem = self.problem
        return len(held) - leaving >= problem.k and self.sizes[label] > problem.l

    def spared(self) -> Flags:
        """`can_spare` of every set, shape (sets,)."""
        problem = self.problem
        owners = np.repeat(np.arange(len(problem)), np.diff(problem.user_offsets))
        width = int(problem.users.max()) + 1
        keys = self.labels[owners] * width + problem.users
        _, inverse, times = np.unique(keys, return_inverse=True, return_counts=True)
        leaving = np.bincount(owners, times[inverse] == 1, minlength=len(problem))
        people = np.array([len(held) for held in self._holders])[self.labels]
        sizes = np.array(self.sizes)[self.labels]
        return np.asarray((people - leaving >= problem.k) & (sizes > problem.l))

    def move(self, index: int, label: int) -> None:
        """Put a set into another cluster."""
        old = int(self.labels[index])
        held = self._holders[old]
        for user in self._users[index]:
            held[user] -= 1
            if not held[user]:
                del held[user]
        self.sizes[old] -= 1
        self._join(index, label)

    def _join(self, index: int, label: int) -> None:
        held = self._holders[label]
        for user in self._users[index]:
            held[user] = held.get(user, 0) + 1
        self.sizes[label] += 1
        self.labels[index] = label

    def open(self, index: int) -> int:
        """A new, empty cluster around a set; its costs follow with the next `refresh`."""
        self.sizes.append(0)
        self._holders.append({})
        self.centres.append(self.problem.costs.row(index))
        return len(self.sizes) - 1

    def discard_last(self) -> None:
        """Take back the last `open`; the cluster must be empty."""
        self.sizes.pop()
        self._holders.pop()
        self.centres.pop()

    def refresh(self, touched: Iterable[int]) -> None:
        """Let the centres of clusters follow their members, and forget empty clusters."""
        living = np.array([label for label in sorted(touched) if self.sizes[label]], np.int64)
        offsets, places = take_ragged(np.cumsum([0, *self.sizes]), living)
        members = np.argsort(self.labels, kind="stable")[places]
        centres = [self.centres[label] for label in living]
        stale = []
        found = improved_centres(self.problem, offsets, members, centres)
        for label, centre in zip(living.tolist(), found, strict=True):
            if label >= len(self.costs) or not np.array_equal(centre, self.centres[label]):
                self.centres[label] = centre
                stale.append(label)
        fresh = self._table.of_centres([self.centres[label] for label in stale])
        rows = self._only_living(np.array(stale, dtype=np.int64))
        self.costs[rows] = fresh

    def _only_living(self, labels: Longs) -> Longs:
        """Forget empty clusters, make room for the costs of new ones; the labels' new numbers."""
        kept, known = np.flatnonzero(self.sizes), len(self.costs)
        if len(kept) == known == len(self.sizes):
            return labels
        numbers = np.full(len(self.sizes), -1)
        numbers[kept] = np.arange(len(kept))
        self.labels = numbers[self.labels]
        self.sizes = [self.sizes[label] for label in kept]
        self._holders = [self._holders[label] for label in kept]
        self.centres = [self.centres[label] for label in kept]
        costs = np.empty((len(kept), len(self.labels)), dtype=np.float32)
        old = kept[kept < known]
        # With another mode numpy would go through a buffer.
        self.costs.take(old, axis=0, out=costs[: len(old)], mode="clip")
        self.costs = costs
        return numbers[labels]


class CostTable:
    """The graded cost of sets, for centres given as classes of concepts."""

    def __init__(self, problem: Problem) -> None:
        costs = problem.costs
        self._squares = costs.squares
        self._counts = problem.counts.astype(np.float32)
        self._dropped = self._counts * np.diff(costs.offsets).astype(np.float32)
        self._holds = membership(costs.offsets, costs.classes, len(costs.squares))
        # What one class published for each set makes up, shape (classes, sets).
        nearest = nearest_squares(costs.offsets, costs.classes, costs.squares)
        self._made_up = np.ascontiguousarray(nearest.T)

    def of_centres(self, centres: Sequence[Ints]) -> Costs:
        """Cost of all records of each set if a centre is published, shape (centres, sets)."""
        offsets, classes = ragged_of(centres)
        sizes = np.diff(offsets)
        if not sizes.all():
            return self._with_empty_centres(centres, sizes)
        nearest = nearest_squares(offsets, classes, self._squares)
        paid = np.ascontiguousarray((self._holds @ np.ascontiguousarray(nearest.T)).T)
        for place in range(int(sizes.max(initial=0))):
            longer = np.flatnonzero(sizes > place)
            paid[longer] += self._made_up[classes[offsets[longer] + place]]
        paid *= self._counts
        return paid

    def _with_empty_centres(self, centres: Sequence[Ints], sizes: Longs) -> Costs:
        """The same if some centres publish nothing: then everything is dropped."""
        paid = np.repeat(self._dropped[None, :], len(centres), axis=0)
        some = np.flatnonzero(sizes)
        paid[some] = self.of_centres([centres[place] for place in some.tolist()])
        return paid


def improved_centres(
    problem: Problem, groups: Longs, sets: Longs, centres: Sequence[Ints]
) -> list[Ints]:
    """Centres (classes) that cost groups of sets, as ragged arrays, no more than those given.

    Candidates are the groups' own classes and those of the given centres.
    """
    members = _members_of_groups(problem, groups, sets)
    squares = problem.costs.squares

    def between(left: Ints, right: Ints) -> Floats:
        # Sums of single-precision squares are too coarse to tell a saving from rounding.
        return squares[left, right].astype(np.float64)

    width = len(squares)
    entries = gather_entries(members, members.concepts, width)
    offsets, given = ragged_of(centres)
    labels = owners(offsets)
    # Endless weight: a given class stays a candidate.
    candidates = gather_candidates(entries, labels, given, np.full(len(given), np.inf))
    found: list[Ints] = [np.zeros(0, dtype=np.int32)] * len(centres)
    for group in cluster_groups(entries, candidates):
        choices = group_costs(members, entries, candidates, group, between)
        starts, places = take_ragged(offsets, group.clusters)
        marks = marks_of(candidates, group, owners(starts), given[places])
        marks = search_candidates(choices, marks)
        classes = candidates.classes[group.candidates].astype(np.int32)
        for row, cluster in enumerate(group.clusters.tolist()):
            found[cluster] = classes[row][marks[row]]
    return found


def _members_of_groups(problem: Problem, groups: Longs, sets: Longs) -> Members:
    offsets, places = take_ragged(problem.costs.offsets, sets)
    counts = problem.counts[sets]
    return Members(
        labels=owners(groups),
        counts=counts,
        offsets=offsets,
        concepts=problem.costs.classes[places],
        weights=np.repeat(counts, np.diff(offsets)).astype(np.float64),
    )
