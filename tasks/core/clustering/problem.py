"""What a clustering method is given: the distinct sets of a log, who holds them, and k and l.

Methods work on distinct attribute sets, not on records: equal records always share a cluster, and
whoever holds a set counts once however often they asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tasks.core.arrays import distinct, numbered_by_first, take_ragged
from tasks.core.columns import computed
from tasks.core.members import members_of
from tasks.core.records import Clusters, Flags, Ints, Longs, Narrow, RecordTable, freeze
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.costs import TILE, Costs, SetCosts, costs_between
from tasks.core.similarity.medoids import group_medoids
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy

SUPPRESSED = -1
CENTROID_CANDIDATES: Final = 64
"""The middle of a large cluster is looked for among so many of its most frequent sets."""
FIRST_LOOK = 4
"""k people are looked for among the first FIRST_LOOK * k units, then so many times further."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Distinct sets to be put into clusters of at least k people and l sets.

    Attributes:
        costs: the graded cost of publishing one set in place of another.
        counts: records of each set, shape (n,).
        user_offsets, users: the distinct users of each set, ascending, as a ragged array.
        paths: the concepts above each class from the top down, ended by NO_CONCEPT, shape
            (classes, depth).
        k: distinct users that every cluster holds at least.
        l: distinct sets that every cluster holds at least.
    """

    costs: SetCosts
    counts: Longs
    user_offsets: Longs
    users: Ints = field(repr=False)
    paths: Ints = field(repr=False)
    k: int
    l: int  # noqa: E741  (the name of the parameter of l-diversity)

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def solvable(self) -> bool:
        """Whether the log as a whole is enough for a cluster; if not, nothing is."""
        return self.is_enough(np.arange(len(self)))

    def is_enough(self, chosen: Longs) -> bool:
        """Whether some of the sets are enough for a cluster."""
        _, places = take_ragged(self.user_offsets, chosen)
        held = np.bincount(self.users[places])
        return len(chosen) >= max(1, self.l) and int(np.count_nonzero(held)) >= self.k

    def users_of(self, index: int) -> Ints:
        return self.users[self.user_offsets[index] : self.user_offsets[index + 1]]

    def part(self, chosen: Longs) -> Problem:
        """The problem of some of the sets, with the distances of their concepts only.

        Users are numbered anew, in the same order: parts cannot be joined by them.
        """
        offsets, places = take_ragged(self.costs.offsets, chosen)
        used, classes = np.unique(self.costs.classes[places], return_inverse=True)
        squares = self.costs.squares[np.ix_(used, used)]
        user_offsets, user_places = take_ragged(self.user_offsets, chosen)
        users = np.unique(self.users[user_places], return_inverse=True)[1]
        return Problem(
            costs=SetCosts(offsets, classes.astype(np.int32), squares),
            counts=self.counts[chosen],
            user_offsets=user_offsets,
            users=users.astype(np.int32),
            paths=self.paths[used],
            k=self.k,
            l=self.l,
        )


class UserSizes:
    """A cluster holds at least k distinct users and l distinct sets."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def needed(self, units: Longs) -> int:
        length = FIRST_LOOK * self._problem.k
        while length < len(units):
            found = self._needed(units[:length])
            if found:
                return found
            length *= FIRST_LOOK
        return self._needed(units)

    def enough(self, units: Longs) -> bool:
        # Most often a few units already are, and more cannot be less.
        few = units[: FIRST_LOOK * self._problem.k]
        return self._problem.is_enough(few) or self._problem.is_enough(units)

    def _needed(self, units: Longs) -> int:
        problem = self._problem
        if not problem.is_enough(units):
            return 0
        offsets, places = take_ragged(problem.user_offsets, units)
        _, first = np.unique(problem.users[places], return_index=True)
        last = np.partition(first, problem.k - 1)[problem.k - 1]
        return max(int(np.searchsorted(offsets, last, side="right")), problem.l)


def problem_of(
    table: RecordTable,
    distances: ConceptDistances,
    taxonomy: Taxonomy,
    *,
    k: int,
    l: int,  # noqa: E741
) -> Problem:
    """The sets of a record table with their records and users."""
    holding = np.flatnonzero(table.set_of >= 0)
    sets, users = table.set_of[holding].astype(np.int64), table.users[holding]
    width = int(users.max(initial=0)) + 1
    held_sets, held_users = np.divmod(distinct(sets * width + users), width)
    bounds = np.searchsorted(held_sets, np.arange(len(table.sets) + 1))
    return Problem(
        costs=SetCosts.of(table.sets, distances),
        counts=np.bincount(sets, minlength=len(table.sets)).astype(np.int64),
        user_offsets=bounds.astype(np.int64),
        users=held_users.astype(np.int32),
        paths=_class_paths(distances, taxonomy),
        k=k,
        l=l,
    )


def _class_paths(distances: ConceptDistances, taxonomy: Taxonomy) -> Ints:
    """Path of each class: that of any of its concepts, for they have the same ancestors."""
    _, first = np.unique(distances.classes, return_index=True)
    rows = [_path_above(concept, taxonomy) for concept in distances.concepts[first].tolist()]
    paths = np.full((len(rows), max(map(len, rows), default=0)), NO_CONCEPT, dtype=np.int32)
    for path, row in zip(paths, rows, strict=True):
        path[: len(row)] = row
    return paths


def _path_above(concept: int, taxonomy: Taxonomy) -> list[int]:
    """The parents on a concept's longest path, topmost first; one without parents stands alone."""
    path = [concept]
    while (parent := int(taxonomy.main_parents[path[-1]])) >= 0 and parent not in path:
        path.append(parent)
    return path[:0:-1] or path


def suppressed_labels(problem: Problem) -> Ints:
    return np.full(len(problem), SUPPRESSED, dtype=np.int32)


def clusters_of(table: RecordTable, labels_of_sets: Ints, problem: Problem) -> Clusters:
    """Clusters of records from labels of their sets; a medoid's first record is the centroid."""
    set_labels = numbered_by_first(labels_of_sets)
    # The last entry is for forms without a set, whose number is -1.
    label_of_form = np.append(set_labels, np.int32(SUPPRESSED))[table.set_of_form]
    labels = computed(len(table), np.int32, lambda own: label_of_form[table.form_of[own]])
    first_forms = np.searchsorted(table.set_of_form, np.arange(len(table.sets), dtype=np.int32))
    return Clusters(
        labels=labels,
        suppressed=_suppressed(table, labels),
        centroids=table.record_offsets[first_forms[medoids(problem, set_labels)]].astype(np.int32),
    )


def _suppressed(table: RecordTable, labels: Ints) -> Flags:
    """Records that hold attributes and are in no cluster."""
    return computed(
        len(table),
        np.bool_,
        lambda own: (table.set_of_form[table.form_of[own]] >= 0) & (labels[own] < 0),
    )


def medoids(problem: Problem, labels: Ints) -> Longs:
    """For each label the member set of least total cost to the records, ties by order."""
    held = np.flatnonzero(labels >= 0)
    members = held[np.argsort(labels[held], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members], prepend=SUPPRESSED))
    groups = np.append(starts, len(members)), members
    return members[group_medoids(problem.costs, groups, problem.counts[members])]


def clusters_of_labels(table: RecordTable, labels: Narrow, costs: SetCosts) -> Clusters:
    """Clusters of the records that hold attributes, by any labels (-1: none).

    The first record of its medoid stands for each, ties by order.

    Args:
        costs: of the table's sets.
    """
    holding = table.set_of_form >= 0
    own = numbered_by_first(
        computed(
            len(table),
            np.int32,
            lambda rows: np.where(holding[table.form_of[rows]], labels[rows], SUPPRESSED),
        )
    )
    count = int(own.max(initial=SUPPRESSED)) + 1
    parts = [(np.zeros(0, dtype=np.int64),) * 4]
    for clusters, rows, cluster_of in members_of(own, count).parts():
        keys = cluster_of * len(table.sets) + table.set_of_form[table.form_of[rows]]
        units, first, counts = np.unique(keys, return_index=True, return_counts=True)
        cluster, sets = np.divmod(units, len(table.sets))
        parts.append((cluster + clusters.start, sets, counts, rows[first].astype(np.int64)))
    cluster, sets, counts, records = (np.concatenate(each) for each in zip(*parts, strict=True))
    groups = np.searchsorted(cluster, np.arange(count + 1)), sets
    found = group_medoids(costs, groups, counts, most_candidates=CENTROID_CANDIDATES)
    return Clusters(
        labels=own,
        suppressed=_suppressed(table, own),
        centroids=records[found].astype(np.int32),
    )


def between_sets(problem: Problem) -> Costs:
    """Cost of one record of a set if another set is published, symmetric, shape (n, n)."""
    every = np.arange(len(problem))
    return costs_between(problem.costs, every, every)


def nearest_sets(between: Costs, count: int) -> Longs:
    """For each set itself and the sets that cost least in its place, in order, ties by index."""
    nearest = np.empty((len(between), count), dtype=np.int64)
    for top in range(0, len(between), TILE):
        rows = between[top : top + TILE].copy()
        rows[np.arange(len(rows)), np.arange(top, top + len(rows))] = -1.0
        some = np.sort(np.argpartition(rows, count - 1, axis=1)[:, :count], axis=1)
        order = np.argsort(np.take_along_axis(rows, some, axis=1), axis=1, kind="stable")
        nearest[top : top + TILE] = np.take_along_axis(some, order, axis=1)
    return nearest
