"""What a clustering method is given: the distinct sets of a log, who holds them, and k and l.

Methods work on distinct attribute sets, not on records: equal records always share a cluster, and
whoever holds a set counts once however often they asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tasks.core.clustering.paired_costs import paired_costs
from tasks.core.records import Clusters, Floats, Ints, Longs, RecordTable, freeze
from tasks.core.rows import distinct, take_rows
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.costs import CENTRE_CANDIDATES, SetCosts
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy

WITHHELD = -1
MOST_PAIRS = 500_000
"""Pairs of sets that are compared at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Distinct sets to be put into clusters of at least k people and l sets.

    Attributes:
        costs: the graded cost of publishing one set in place of another.
        counts: records of each set, shape (n,).
        user_offsets, users: the distinct users of each set, ascending, as compressed rows.
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
        _, places = take_rows(self.user_offsets, chosen)
        held = np.bincount(self.users[places])
        return len(chosen) >= max(1, self.l) and int(np.count_nonzero(held)) >= self.k

    def users_of(self, index: int) -> Ints:
        return self.users[self.user_offsets[index] : self.user_offsets[index + 1]]

    def part(self, chosen: Longs) -> Problem:
        """The problem of some of the sets, with the distances of their concepts only.

        Users are numbered anew, in the same order: parts cannot be joined by them.
        """
        offsets, places = take_rows(self.costs.offsets, chosen)
        used, classes = np.unique(self.costs.classes[places], return_inverse=True)
        squares = self.costs.squares[np.ix_(used, used)]
        user_offsets, user_places = take_rows(self.user_offsets, chosen)
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


def renumbered(labels: Ints) -> Ints:
    """The same clusters, numbered 0, 1, … in the order of their first sets."""
    held = labels >= 0
    _, first, inverse = np.unique(labels[held], return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int32)
    numbers[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    result = np.full(len(labels), WITHHELD, dtype=np.int32)
    result[held] = numbers[inverse.ravel()]
    return result


def withheld_labels(problem: Problem) -> Ints:
    return np.full(len(problem), WITHHELD, dtype=np.int32)


def clusters_of(table: RecordTable, labels_of_sets: Ints, problem: Problem) -> Clusters:
    """Clusters of records from labels of their sets; a medoid's first record is the centroid."""
    set_labels = renumbered(labels_of_sets)
    own_sets = table.set_of
    # The last entry is for records without a set, whose number is -1.
    labels = np.append(set_labels, np.int32(WITHHELD))[own_sets]
    first_records = np.searchsorted(own_sets, np.arange(len(table.sets)))
    return Clusters(
        labels=labels,
        withheld=(own_sets >= 0) & (labels < 0),
        centroids=first_records[medoids(problem, set_labels)].astype(np.int32),
    )


def medoids(problem: Problem, labels: Ints) -> Longs:
    """For each label the member set of least total cost to the records, ties by order.

    In a very large cluster only its most frequent sets are tried.
    """
    held = np.flatnonzero(labels >= 0)
    members = held[np.argsort(labels[held], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members], prepend=WITHHELD))
    offsets = np.append(starts, len(members))
    tried, owners = _medoid_candidates(problem.counts[members], offsets)
    candidates = members[tried]
    totals = _total_costs(problem, candidates, owners, (offsets, members))
    best_first = np.lexsort((np.round(totals, 6), owners))
    return candidates[best_first[np.flatnonzero(np.diff(owners, prepend=-1))]]


def _medoid_candidates(counts: Longs, offsets: Longs) -> tuple[Longs, Longs]:
    """Places of the most frequent members of each cluster, ascending, and their clusters.

    Args:
        counts: records of each member.
        offsets: the members of each cluster.
    """
    sizes = np.diff(offsets)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    most = np.clip(MOST_PAIRS // sizes, 1, CENTRE_CANDIDATES)
    frequent_first = np.lexsort((-counts, owners))
    ranks = np.arange(len(counts)) - offsets[owners]
    chosen = np.sort(frequent_first[ranks < most[owners]])
    return chosen, owners[chosen]


def _total_costs(
    problem: Problem, candidates: Longs, owners: Longs, clusters: tuple[Longs, Longs]
) -> Floats:
    """Cost of publishing candidates[i] for all records of cluster owners[i]."""
    offsets, members = clusters
    bounds = np.concatenate(([0], np.cumsum(np.diff(offsets)[owners])))
    totals = np.empty(len(candidates))
    start = 0
    while start < len(candidates):
        fitting = np.searchsorted(bounds, bounds[start] + MOST_PAIRS, side="right") - 1
        part = slice(start, max(start + 1, int(fitting)))
        pair_offsets, places = take_rows(offsets, owners[part])
        left = np.repeat(candidates[part], np.diff(pair_offsets))
        costs = paired_costs(problem.costs, left, members[places])
        weighted = costs * problem.counts[members[places]]
        totals[part] = np.add.reduceat(weighted, pair_offsets[:-1])
        start = part.stop
    return totals
