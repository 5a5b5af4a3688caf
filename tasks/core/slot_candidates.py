"""Which concepts a cluster may publish, and what each of them costs its records.

An ancestor is a candidate where several of a cluster's attributes have one of its class: above
one attribute only it is never nearer to another than to that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.lineage import Lineage
from tasks.core.members import Members
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.rows import take_rows
from tasks.core.slot_search import SlotChoices
from tasks.core.taxonomy import Taxonomy

MOST_CANDIDATES = 256
"""Of a very large cluster only the candidates at or above most of its mentions are tried."""
LARGEST_BATCH = 2_000_000
"""Squares held at a time."""
GRAIN = 4
"""Clusters share a batch if their sizes are equal in steps of GRAIN."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Entries (distinct classes of attributes) and candidates (classes) of each cluster.

    Attributes:
        entry_of: entry of each attribute of the members.
        entry_offsets, entries, weights: entries of each cluster, as compressed rows.
        offsets, candidates: candidates of each cluster, ascending, as compressed rows.
    """

    entry_of: Longs
    entry_offsets: Longs
    entries: Ints
    weights: Floats
    offsets: Longs
    candidates: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Clusters of about the same size: places of their entries and candidates, padded with -1."""

    clusters: Longs
    entries: Longs
    candidates: Longs


def gather_candidates(members: Members, lineage: Lineage) -> Pool:
    """Entries and candidates of all clusters."""
    width = len(lineage)
    keys = members.attribute_labels * width + lineage.class_of(members.concepts)
    entry_keys, entry_of = np.unique(keys, return_inverse=True)
    weights = np.bincount(entry_of, members.weights, minlength=len(entry_keys))
    labels, entries = np.divmod(entry_keys, width)
    candidate_keys = _candidate_keys(labels, entries, weights, lineage)
    every_label = np.arange(members.cluster_count + 1)
    return Pool(
        entry_of=entry_of,
        entry_offsets=np.searchsorted(labels, every_label),
        entries=entries.astype(np.int32),
        weights=weights,
        offsets=np.searchsorted(candidate_keys // width, every_label),
        candidates=(candidate_keys % width).astype(np.int32),
    )


def _candidate_keys(labels: Longs, entries: Longs, weights: Floats, lineage: Lineage) -> Longs:
    """Keys (label, class) of the entries and of what several of them have above them."""
    width = len(lineage)
    offsets, places = take_rows(lineage.above_offsets, entries)
    owner = np.repeat(np.arange(len(entries)), np.diff(offsets))
    own_keys = labels * width + entries
    keys = np.concatenate([own_keys, labels[owner] * width + lineage.above[places]])
    candidates, inverse, support = np.unique(keys, return_inverse=True, return_counts=True)
    own = np.zeros(len(candidates), dtype=np.bool_)
    own[inverse[: len(entries)]] = True
    above = np.bincount(inverse, np.concatenate([weights, weights[owner]]))
    kept = np.flatnonzero(own | (support > 1))
    return candidates[kept[_heaviest(candidates[kept] // width, above[kept])]]


def _heaviest(labels: Longs, weights: Floats) -> Longs:
    """Places of the MOST_CANDIDATES greatest weights of each label (`labels` ascending)."""
    order = np.lexsort((-weights, labels))
    rank = np.arange(len(labels)) - np.searchsorted(labels, labels[order])
    return np.sort(order[rank < MOST_CANDIDATES])


def batches(pool: Pool) -> Iterator[Batch]:
    """All clusters, those of about the same size together."""
    entry_counts, counts = np.diff(pool.entry_offsets), np.diff(pool.offsets)
    shapes = np.stack([-(-entry_counts // GRAIN), -(-counts // GRAIN)], axis=1) * GRAIN
    order = np.lexsort((shapes[:, 1], shapes[:, 0]))
    changes = np.flatnonzero(np.diff(shapes[order], axis=0).any(axis=1)) + 1
    for group in np.split(order, changes):
        limit = max(1, LARGEST_BATCH // max(1, int(shapes[group[0]].prod()))) if len(group) else 1
        for start in range(0, len(group), limit):
            clusters = group[start : start + limit]
            yield Batch(
                clusters,
                _padded(pool.entry_offsets, clusters),
                _padded(pool.offsets, clusters),
            )


def _padded(offsets: Longs, rows: Longs) -> Longs:
    """Places of the values of each row, padded with -1 to the longest."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    steps = np.arange(int(lengths.max(initial=0)))
    return np.where(steps < lengths[:, None], starts[:, None] + steps, -1)


def batch_choices(
    pool: Pool, batch: Batch, members: Members, lineage: Lineage, taxonomy: Taxonomy
) -> SlotChoices:
    """Squares, weights and made-up costs of one batch."""
    left, right = pool.entries[batch.entries], pool.candidates[batch.candidates]
    pairs = np.broadcast_arrays(left[:, :, None], right[:, None, :])
    squares = lineage.squares(pairs[0], pairs[1], taxonomy)
    weights = np.where(batch.entries >= 0, pool.weights[batch.entries], 0.0)
    made_up = _made_up(pool, batch, members, squares)
    return SlotChoices(squares, weights, np.where(batch.candidates >= 0, made_up, np.inf))


def _made_up(pool: Pool, batch: Batch, members: Members, squares: Floats) -> Floats:
    """For each candidate the squares to the nearest attribute of every record, shape (B, C)."""
    member_offsets, own = take_rows(members.cluster_offsets, batch.clusters)
    attribute_offsets, attributes = take_rows(members.offsets, own)
    row = np.repeat(np.arange(len(batch.clusters)), np.diff(member_offsets))
    attribute_row = np.repeat(row, np.diff(attribute_offsets))
    local = pool.entry_of[attributes] - batch.entries[attribute_row, 0]
    nearest = np.minimum.reduceat(squares[attribute_row, local], attribute_offsets[:-1], axis=0)
    weighted = nearest * members.counts[own][:, None]
    return np.asarray(np.add.reduceat(weighted, member_offsets[:-1], axis=0))


def member_marks(pool: Pool, batch: Batch, members: Members, rank: int) -> Flags:
    """The candidates that are classes of the rank-th most frequent member of each cluster."""
    starts, sizes = members.cluster_offsets[batch.clusters], members.cluster_sizes[batch.clusters]
    chosen = members.by_frequency[starts + np.minimum(rank, sizes - 1)]
    offsets, attributes = take_rows(members.offsets, chosen)
    row = np.repeat(np.arange(len(chosen)), np.diff(offsets))
    classes = pool.entries[pool.entry_of[attributes]]
    marks = np.zeros(batch.candidates.shape, dtype=np.bool_)
    held = np.where(batch.candidates >= 0, pool.candidates[batch.candidates], -1)
    rows, places = np.nonzero(held[row] == classes[:, None])
    marks[row[rows], places] = True
    return marks
