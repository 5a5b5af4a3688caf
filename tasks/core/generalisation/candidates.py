"""Which concepts each cluster may publish, and what each of them costs its records.

Works on classes (numbers below some width) whatever they stand for; squares between classes come
from a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import sums_by, take_ragged
from tasks.core.generalisation.members import Members
from tasks.core.generalisation.search import SlotChoices
from tasks.core.records import Flags, Floats, Ints, Longs

Squares = Callable[[Ints, Ints], Floats]
"""δ² of each pair of classes, elementwise."""

MOST_CANDIDATES = 256
"""Of a very large cluster only the candidates that weigh most are tried."""
LARGEST_BATCH = 2_000_000
"""Squares held at a time."""
GRAIN = 12
"""Clusters share a batch if their sizes are equal in steps of GRAIN."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The distinct classes of each cluster's attributes.

    Attributes:
        of_attribute: entry of each attribute of the members.
        labels, classes, weights: cluster, class and total weight of each entry, in this order.
        offsets: entries of each cluster, as compressed rows.
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
    """The classes that each cluster may publish, ascending, as compressed rows."""

    offsets: Longs
    classes: Longs


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
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


def batches(entries: Entries, candidates: Candidates) -> Iterator[Batch]:
    """All clusters, those of about the same size together."""
    counts = np.stack([np.diff(entries.offsets), np.diff(candidates.offsets)], axis=1)
    shapes = -(-counts // GRAIN) * GRAIN
    order = np.lexsort((shapes[:, 1], shapes[:, 0]))
    changes = np.flatnonzero(np.diff(shapes[order], axis=0).any(axis=1)) + 1
    for group in np.split(order, changes):
        limit = max(1, LARGEST_BATCH // max(1, int(shapes[group[:1]].prod())))
        for start in range(0, len(group), limit):
            clusters = group[start : start + limit]
            yield Batch(
                clusters,
                _padded(entries.offsets, clusters),
                _padded(candidates.offsets, clusters),
            )


def _padded(offsets: Longs, rows: Longs) -> Longs:
    """Places of the values of each row, padded with -1 to the longest."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    steps = np.arange(int(lengths.max(initial=0)))
    return np.where(steps < lengths[:, None], starts[:, None] + steps, -1)


def batch_choices(
    members: Members, entries: Entries, candidates: Candidates, batch: Batch, squares: Squares
) -> SlotChoices:
    """Squares, weights and made-up costs of one batch."""
    left, right = entries.classes[batch.entries], candidates.classes[batch.candidates]
    between = squares(*np.broadcast_arrays(left[:, :, None], right[:, None, :]))
    weights = np.where(batch.entries >= 0, entries.weights[batch.entries], 0.0)
    made_up = _made_up(members, entries, batch, between)
    return SlotChoices(between, weights, np.where(batch.candidates >= 0, made_up, np.inf))


def _made_up(members: Members, entries: Entries, batch: Batch, squares: Floats) -> Floats:
    """For each candidate the squares to the nearest attribute of every record, shape (B, C)."""
    member_offsets, own = take_ragged(members.cluster_offsets, batch.clusters)
    attribute_offsets, attributes = take_ragged(members.offsets, own)
    row = np.repeat(np.arange(len(batch.clusters)), np.diff(member_offsets))
    attribute_row = np.repeat(row, np.diff(attribute_offsets))
    local = entries.of_attribute[attributes] - batch.entries[attribute_row, 0]
    nearest = np.minimum.reduceat(squares[attribute_row, local], attribute_offsets[:-1], axis=0)
    weighted = nearest * members.counts[own][:, None]
    return np.asarray(np.add.reduceat(weighted, member_offsets[:-1], axis=0))


def marks_of(candidates: Candidates, batch: Batch, rows: Longs, classes: Longs | Ints) -> Flags:
    """Mark the candidates of row rows[i] of the batch that are classes[i], shape (B, C)."""
    held = np.where(batch.candidates >= 0, candidates.classes[batch.candidates], -1)
    which, places = np.nonzero(held[rows] == classes[:, None])
    marks = np.zeros(held.shape, dtype=np.bool_)
    marks[rows[which], places] = True
    return marks
