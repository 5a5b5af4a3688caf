"""Slow, obvious versions of the paper's formulas and algorithms, straight from its text."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import combinations

import numpy as np

from tasks.core.similarity.pairs import Pairs
from tasks.core.taxonomy import Taxonomy

ROUNDING = 1e-12
Pair = tuple[int, int]


def ancestors(taxonomy: Taxonomy, concept: int, *, inclusive: bool = False) -> set[int]:
    found = set(taxonomy.ancestors_of(concept).tolist())
    return found | {concept} if inclusive else found


def distance_of_sets(left: Set[int], right: Set[int]) -> float:
    """Eq. 1 on two ancestor sets of different concepts."""
    union = left | right
    if not union:
        return 1.0
    return math.log2(1 + (len(union) - len(left & right)) / len(union))


def concept_distance(taxonomy: Taxonomy, x: int, y: int, *, inclusive: bool = False) -> float:
    if x == y:
        return 0.0
    return distance_of_sets(
        ancestors(taxonomy, x, inclusive=inclusive), ancestors(taxonomy, y, inclusive=inclusive)
    )


def most_matches(eligible: np.ndarray) -> int:
    """The greatest number of one-to-one pairs, by trying everything."""
    if not len(eligible):
        return 0
    best = most_matches(eligible[1:])
    for column in np.flatnonzero(eligible[0]):
        rest = eligible[1:].copy()
        rest[:, column] = False
        best = max(best, 1 + most_matches(rest))
    return best


def record_distance(
    taxonomy: Taxonomy, left: Sequence[int], right: Sequence[int], *, threshold: float, kind: str
) -> tuple[float, int]:
    """Eq. 6–8 for two records, and |∩|."""
    eligible = np.array(
        [[1 - concept_distance(taxonomy, a, b) >= threshold for b in right] for a in left]
    ).reshape(len(left), len(right))
    shared = most_matches(eligible)
    union = len(left) + len(right) - shared
    if kind == "printed":
        return (1 / shared if shared else 1.0), shared
    return ((union - shared) / union if union else 1.0), shared


def least_pairs(distances: Mapping[Pair, tuple[float, int]], count: int) -> dict[Pair, float]:
    """Eq. 9: for each row i the pairs (i, j), j > i, of least distance that share something."""
    chosen: dict[Pair, float] = {}
    for i in range(count):
        row = {(i, j): distances[i, j][0] for j in range(i + 1, count) if distances[i, j][1]}
        least = min(row.values(), default=None)
        chosen.update({pair: score for pair, score in row.items() if score == least})
    return chosen


def expanded(pairs: Pairs) -> dict[Pair, float]:
    """The pairs of records that pairs of nodes stand for."""
    found: dict[Pair, float] = {}
    for left, right, score in zip(pairs.left, pairs.right, pairs.scores, strict=True):
        a = range(pairs.starts[left], pairs.starts[left] + pairs.sizes[left])
        b = range(pairs.starts[right], pairs.starts[right] + pairs.sizes[right])
        found.update({(int(i), int(j)): float(score) for i in a for j in b if i < j})
    assert len(found) == pairs.counts.sum()
    return found


def algorithm_3(pairs: Mapping[Pair, float], count: int) -> list[set[int]]:
    """Lines 4–13 on records, word by word as docs/decisions.md#paper-clusters settles them."""
    left = dict(sorted(pairs.items()))
    clusters: list[set[int]] = []

    def grow(seed: Pair, near: Mapping[Pair, float]) -> None:
        cluster = set(seed)
        while True:
            reached = {q for pair in near if cluster & set(pair) for q in pair} - cluster
            if not reached:
                break
            cluster |= reached
        clusters.append(cluster)
        for pair in [pair for pair in left if cluster & set(pair)]:
            del left[pair]

    while left:
        mean = sum(left.values()) / len(left)
        centre = max(score for score in left.values() if score <= mean + ROUNDING)
        low = min(left, key=lambda pair: (left[pair], pair))
        if left[low] < centre:
            grow(low, {p: s for p, s in left.items() if s < centre})
        else:
            grow(low, {p: s for p, s in left.items() if s == left[low]})
        above = {p: s for p, s in left.items() if s > centre}
        level = above or {p: s for p, s in left.items() if s == centre}
        if level:
            high = max(level, key=lambda pair: (level[pair], [-q for q in pair]))
            grow(high, level)
    rest = set(range(count)).difference(*clusters)
    return [*clusters, rest] if rest else clusters


def centroid(cluster: Set[int], pairs: Mapping[Pair, float]) -> int:
    """Line 15: in most of the cluster's own pairs; then least pair score; then lowest index."""
    own = {pair: score for pair, score in pairs.items() if set(pair) <= cluster}
    recurrence: dict[int, int] = defaultdict(int)
    least: dict[int, float] = defaultdict(lambda: math.inf)
    for pair, score in own.items():
        for query in pair:
            recurrence[query] += 1
            least[query] = min(least[query], score)
    return min(cluster, key=lambda query: (-recurrence[query], least[query], query))


def groups_of_similar(similar: np.ndarray) -> list[set[int]]:
    """Connected components by repeated merging."""
    groups = [{i} for i in range(len(similar))]
    for i, j in combinations(range(len(similar)), 2):
        if similar[i, j]:
            a = next(g for g in groups if i in g)
            b = next(g for g in groups if j in g)
            if a is not b:
                groups.remove(b)
                a |= b
    return groups
