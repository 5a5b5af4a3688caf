"""Algorithm 3 as printed: adaptive MDAV over pairs of records (paper §3.3, lines 1–15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from tasks.core.arrays import people_per_label
from tasks.core.choices import Distance
from tasks.core.records import Clusters, Flags, Floats, Ints, Longs, RecordTable
from tasks.core.similarity.pairs import Pairs, SetPairs, record_pairs

ROUNDING = 1e-12

UNCLUSTERED = -1


def cluster_as_printed(
    table: RecordTable,
    set_pairs: SetPairs,
    *,
    k: int,
    l: int,  # noqa: E741
    distance: Distance,
) -> Clusters:
    """Algorithm 3 on the records that hold attributes (they stand last in canonical order)."""
    first = int(np.searchsorted(table.set_of, 0))
    own_sets = table.set_of[first:]
    bounds = np.searchsorted(own_sets, np.arange(len(table.sets) + 1)).astype(np.int64)
    pairs = record_pairs(set_pairs, table.sets, bounds, distance=distance)
    node_labels = cluster_nodes(pairs)
    labels = np.full(len(table), -1, dtype=np.int32)
    labels[first:] = np.repeat(node_labels, pairs.sizes)
    centroids = node_centroids(pairs, node_labels) + first
    return suppress_small(labels, table.users, table.set_of, centroids, k=k, l=l)


def centroid_score(scores: Floats, counts: Floats) -> float:
    """Eq. 9: the mean score of the pairs."""
    return float((scores * counts).sum() / counts.sum())


def centroid_pair_score(scores: Floats, counts: Floats) -> float:
    """The largest pair score that does not exceed the mean (up to rounding)."""
    return float(scores[scores <= centroid_score(scores, counts) + ROUNDING].max())


@dataclass(slots=True)
class _Remaining:
    """The pairs not yet touched by a cluster."""

    left: Longs
    right: Longs
    scores: Floats
    counts: Floats

    def keep(self, kept: Flags) -> None:
        self.left, self.right = self.left[kept], self.right[kept]
        self.scores, self.counts = self.scores[kept], self.counts[kept]


def cluster_nodes(pairs: Pairs) -> Ints:
    """Lines 4–13: the cluster of each node, numbered in the order of their making.

    Each round takes the mean of the remaining pairs as centre, grows a cluster from the pair of
    least score over pairs that score less than the centre, removes every pair it touches, and
    does the same from the pair of greatest score, upwards. A seed that scores as the centre
    grows over pairs of that score. What no pair holds forms the last cluster.
    """
    labels = np.full(len(pairs.sizes), UNCLUSTERED, dtype=np.int32)
    remaining = _Remaining(pairs.left, pairs.right, pairs.scores, pairs.counts)
    next_label = 0
    while len(remaining.left):
        centre = centroid_pair_score(remaining.scores, remaining.counts)
        low = int(np.argmin(remaining.scores))
        below = remaining.scores < centre
        near_low = below if below[low] else remaining.scores == remaining.scores[low]
        _grow(remaining, labels, low, near_low, next_label)
        next_label += 1
        above = remaining.scores > centre
        at_centre = remaining.scores == centre
        near_high = above if above.any() else at_centre
        if near_high.any():
            high = int(np.argmax(np.where(near_high, remaining.scores, -np.inf)))
            _grow(remaining, labels, high, near_high, next_label)
            next_label += 1
    leftovers = (labels == UNCLUSTERED) & (pairs.sizes > 0)
    labels[leftovers] = next_label
    return labels


def _grow(remaining: _Remaining, labels: Ints, seed: int, near: Flags, label: int) -> None:
    """Label all nodes reachable from the seed pair over the near pairs, and drop their pairs."""
    left, right = remaining.left, remaining.right
    size = len(labels)
    ones = np.ones(int(near.sum()), dtype=np.int8)
    graph = sparse.csr_matrix((ones, (left[near], right[near])), shape=(size, size))
    reached = breadth_first_order(graph, int(left[seed]), directed=False, return_predecessors=False)
    labels[reached] = label
    touched = (labels[left] == label) | (labels[right] == label)
    remaining.keep(~touched)


def node_centroids(pairs: Pairs, labels: Ints) -> Longs:
    """Line 15: the record in most pairs of its own cluster; ties: least score, lowest index."""
    own = labels[pairs.left] == labels[pairs.right]
    left, right, scores = pairs.left[own], pairs.right[own], pairs.scores[own]
    recurrence = np.zeros(len(labels))
    np.add.at(recurrence, left, pairs.sizes[right] - (left == right))
    other = left != right
    np.add.at(recurrence, right[other], pairs.sizes[left[other]])
    least = np.full(len(labels), np.inf)
    np.minimum.at(least, left, scores)
    np.minimum.at(least, right, scores)
    present = np.flatnonzero(pairs.sizes > 0)
    order = present[np.lexsort((present, least[present], -recurrence[present], labels[present]))]
    _, first = np.unique(labels[order], return_index=True)
    return pairs.starts[order[first]]


def suppress_small(
    labels: Ints,
    users: Ints,
    sets: Ints,
    centroids: Longs,
    *,
    k: int,
    l: int,  # noqa: E741 - the literature's name
) -> Clusters:
    """Keep the clusters of at least k people and l sets, numbered anew; suppress the others."""
    large = (people_per_label(labels, users, len(centroids)) >= k) & (
        people_per_label(labels, sets, len(centroids)) >= l
    )
    number = np.append(np.where(large, np.cumsum(large) - 1, -1), -1).astype(np.int32)
    kept = number[labels]
    return Clusters(
        labels=kept,
        suppressed=(labels >= 0) & (kept < 0),
        centroids=centroids[large].astype(np.int32),
    )
