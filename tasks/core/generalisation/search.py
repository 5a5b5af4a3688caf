"""The search for the concepts that a cluster publishes: candidates, their costs, a local search.

Works on classes (numbers below some width) whatever they stand for; squares between classes come
from a function. Many small clusters are searched at once.

A cluster pays for each of its entries the square to the nearest chosen candidate, 1 if none is
chosen, times the entry's weight; and for each chosen candidate what it makes up. The search
adds a candidate, drops one or replaces one, whatever saves most, until nothing saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import sums_by, take_ragged
from tasks.core.generalisation.members import Members
from tasks.core.records import Flags, Floats, Ints, Longs

DROPPED_SQUARE = 1.0
"""What an attribute costs for which nothing is published: δ = 1."""

SAVING = 1e-9

DECIMALS = 9
"""Savings are compared after rounding, so that ties go to the first candidate."""

Squares = Callable[[Ints, Ints], Floats]
"""δ² of each pair of classes, elementwise."""

MOST_CANDIDATES = 256
"""Of a very large cluster only the candidates that weigh most are tried."""

LARGEST_BATCH = 2_000_000
"""Squares held at a time."""

GRAIN = 12
"""Clusters share a group if their sizes are equal in steps of GRAIN."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The distinct classes of each cluster's attributes.

    Attributes:
        of_attribute: entry of each attribute of the members.
        labels, classes, weights: cluster, class and total weight of each entry, in this order.
        offsets: entries of each cluster, as ragged arrays.
        width: classes are numbers below this.
    """

    of_attribute: Longs
    labels: Longs
    classes: Longs
    weights: Floats
    offsets: Longs
    width: int


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The classes that each cluster may publish, ascending, as ragged arrays."""

    offsets: Longs
    classes: Longs


@dataclass(frozen=True, slots=True, eq=False)
class ClusterGroup:
    """Clusters of about the same size: places of their entries and candidates, padded with -1."""

    clusters: Longs
    entries: Longs
    candidates: Longs


def gather_entries(members: Members, classes: Ints, width: int) -> Entries:
    """The entries of all clusters; `classes` holds the class of each attribute of the members."""
    keys, of_attribute = np.unique(members.attribute_labels * width + classes, return_inverse=True)
    labels, entry_classes = np.divmod(keys, width)
    return Entries(
        of_attribute=of_attribute,
        labels=labels,
        classes=entry_classes,
        weights=sums_by(of_attribute, members.weights, len(keys)),
        offsets=np.searchsorted(labels, np.arange(members.cluster_count + 1)),
        width=width,
    )


def gather_candidates(
    entries: Entries, labels: Longs, classes: Longs | Ints, weights: Floats
) -> Candidates:
    """The entries and further classes of clusters, the MOST_CANDIDATES heaviest of each."""
    keys, inverse = np.unique(
        np.concatenate([entries.labels, labels]) * entries.width
        + np.concatenate([entries.classes, classes]),
        return_inverse=True,
    )
    owners, numbers = np.divmod(keys, entries.width)
    offsets = np.searchsorted(owners, np.arange(len(entries.offsets)))
    if np.diff(offsets).max(initial=0) <= MOST_CANDIDATES:
        return Candidates(offsets, numbers)
    total = sums_by(inverse, np.concatenate([entries.weights, weights]), len(keys))
    order = np.lexsort((-total, owners))
    rank = np.arange(len(keys)) - offsets[owners]
    kept = np.sort(order[rank < MOST_CANDIDATES])
    sizes = np.minimum(np.diff(offsets), MOST_CANDIDATES)
    return Candidates(np.append(0, np.cumsum(sizes)), numbers[kept])


def cluster_groups(entries: Entries, candidates: Candidates) -> Iterator[ClusterGroup]:
    """All clusters, those of about the same size together."""
    counts = np.stack([np.diff(entries.offsets), np.diff(candidates.offsets)], axis=1)
    shapes = -(-counts // GRAIN) * GRAIN
    order = np.lexsort((shapes[:, 1], shapes[:, 0]))
    changes = np.flatnonzero(np.diff(shapes[order], axis=0).any(axis=1)) + 1
    for group in np.split(order, changes):
        limit = max(1, LARGEST_BATCH // max(1, int(shapes[group[:1]].prod())))
        for start in range(0, len(group), limit):
            clusters = group[start : start + limit]
            yield ClusterGroup(
                clusters,
                _padded(entries.offsets, clusters),
                _padded(candidates.offsets, clusters),
            )


def _padded(offsets: Longs, rows: Longs) -> Longs:
    """Places of the values of each row, padded with -1 to the longest."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    steps = np.arange(int(lengths.max(initial=0)))
    return np.where(steps < lengths[:, None], starts[:, None] + steps, -1)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCosts:
    """B clusters of up to E entries and C candidates, padded with weight 0 and endless cost.

    Attributes:
        squares: δ² of entry and candidate, shape (B, E, C).
        weights: shape (B, E).
        made_up: cost of publishing a candidate, shape (B, C).
    """

    squares: Floats
    weights: Floats
    made_up: Floats

    def take(self, chosen: Longs) -> CandidateCosts:
        return CandidateCosts(self.squares[chosen], self.weights[chosen], self.made_up[chosen])

    def totals(self, published: Flags) -> Floats:
        """What each cluster pays if it publishes the marked candidates, shape (B,)."""
        nearest = np.where(published[:, None, :], self.squares, DROPPED_SQUARE).min(axis=2)
        made_up = np.where(published, self.made_up, 0.0).sum(axis=1)
        return np.asarray((nearest * self.weights).sum(axis=1) + made_up)


def group_costs(
    members: Members,
    entries: Entries,
    candidates: Candidates,
    group: ClusterGroup,
    squares: Squares,
) -> CandidateCosts:
    """Squares, weights and made-up costs of one group."""
    left, right = entries.classes[group.entries], candidates.classes[group.candidates]
    between = squares(*np.broadcast_arrays(left[:, :, None], right[:, None, :]))
    weights = np.where(group.entries >= 0, entries.weights[group.entries], 0.0)
    made_up = _made_up(members, entries, group, between)
    return CandidateCosts(between, weights, np.where(group.candidates >= 0, made_up, np.inf))


def _made_up(members: Members, entries: Entries, group: ClusterGroup, squares: Floats) -> Floats:
    """For each candidate the squares to the nearest attribute of every record, shape (B, C)."""
    member_offsets, own = take_ragged(members.cluster_offsets, group.clusters)
    attribute_offsets, attributes = take_ragged(members.offsets, own)
    row = np.repeat(np.arange(len(group.clusters)), np.diff(member_offsets))
    attribute_row = np.repeat(row, np.diff(attribute_offsets))
    local = entries.of_attribute[attributes] - group.entries[attribute_row, 0]
    nearest = np.minimum.reduceat(squares[attribute_row, local], attribute_offsets[:-1], axis=0)
    weighted = nearest * members.counts[own][:, None]
    return np.asarray(np.add.reduceat(weighted, member_offsets[:-1], axis=0))


def marks_of(
    candidates: Candidates, group: ClusterGroup, rows: Longs, classes: Longs | Ints
) -> Flags:
    """Mark the candidates of row rows[i] of the group that are classes[i], shape (B, C)."""
    held = np.where(group.candidates >= 0, candidates.classes[group.candidates], -1)
    which, places = np.nonzero(held[rows] == classes[:, None])
    marks = np.zeros(held.shape, dtype=np.bool_)
    marks[rows[which], places] = True
    return marks


def search_candidates(choices: CandidateCosts, start: Flags) -> Flags:
    """Improve the marked candidates of each cluster until no single change saves anything."""
    published = start.copy()
    active = np.arange(len(published))
    while len(active):
        part = choices.take(active)
        dropped, added, saved = _best_changes(part, published[active])
        improving = saved > SAVING
        active, dropped, added = active[improving], dropped[improving], added[improving]
        published[active[dropped >= 0], dropped[dropped >= 0]] = False
        published[active[added >= 0], added[added >= 0]] = True
    return published


def _best_changes(choices: CandidateCosts, published: Flags) -> tuple[Longs, Longs, Floats]:
    """For each cluster the candidate to drop and the one to add (-1: none), and what it saves."""
    rows = np.arange(len(published))
    paid = choices.totals(published)
    best_drop = np.full(len(rows), -1)
    best_add, best_saved = np.full(len(rows), -1), np.zeros(len(rows))
    marked = _marked_table(published)
    for column in range(-1, marked.shape[1]):
        dropped = marked[:, column] if column >= 0 else np.full(len(rows), -1)
        if column >= 0 and not (dropped >= 0).any():
            break
        kept = published.copy()
        kept[rows[dropped >= 0], dropped[dropped >= 0]] = False
        added, total = _best_addition(choices, kept)
        saved = np.round(paid - total, DECIMALS)
        saved[(dropped < 0) & (column >= 0)] = 0.0
        better = saved > best_saved
        best_drop[better], best_add[better] = dropped[better], added[better]
        best_saved[better] = saved[better]
    return best_drop, best_add, best_saved


def _best_addition(choices: CandidateCosts, kept: Flags) -> tuple[Longs, Floats]:
    """The candidate that helps most beside the kept ones, or -1, and what is then paid."""
    rows = np.arange(len(kept))
    nearest = np.where(kept[:, None, :], choices.squares, DROPPED_SQUARE).min(axis=2)
    gains = np.maximum(nearest[:, :, None] - choices.squares, 0.0)
    saved = np.einsum("be,bec->bc", choices.weights, gains) - choices.made_up
    best = np.argmax(np.round(saved, DECIMALS), axis=1)
    helps = saved[rows, best] > SAVING
    paid = choices.totals(kept) - np.where(helps, saved[rows, best], 0.0)
    return np.where(helps, best, -1), paid


def _marked_table(published: Flags) -> Longs:
    """The marked candidates of each cluster in order, padded with -1."""
    counts = published.sum(axis=1)
    table = np.full((len(published), int(counts.max(initial=0))), -1)
    rows, columns = np.nonzero(published)
    first = np.cumsum(counts) - counts
    table[rows, np.arange(len(rows)) - np.repeat(first, counts)] = columns
    return table
