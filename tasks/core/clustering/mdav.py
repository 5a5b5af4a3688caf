"""MDAV, microaggregation into clusters of fixed size, the classic loop.

J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical data-oriented microaggregation for statistical
disclosure control, IEEE TKDE 14 (2002); in the form of J. Domingo-Ferrer, V. Torra: Ordinal,
continuous and heterogeneous k-anonymity through microaggregation, DMKD 11 (2005). The loop knows
nothing of what it clusters: distances come from a `Space`, and what is a cluster from `Sizes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tasks.core.clustering.blocks import Between, in_blocks
from tasks.core.clustering.problem import Problem
from tasks.core.clustering.spaces import SetSpace, Sizes, Space, UserSizes
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.runs import Run, here

FIRST_LOOK: Final = 32
"""A cluster is looked for among so many nearest units, then among so many times more."""


def mdav_labels(
    problem: Problem, run: Run = here, sources: Sequence[Between] | None = None
) -> Ints:
    """Fixed-size MDAV on the graded cost; a cluster is full once it holds k users and l sets."""
    return in_blocks(problem, _cluster_block, run, sources)


def _cluster_block(problem: Problem, between: Between) -> Ints:
    space = SetSpace(problem, between(problem))
    return mdav(space, UserSizes(problem), len(problem))


def mdav(space: Space, sizes: Sizes, count: int) -> Ints:
    """Labels of `count` units, which together are enough for a cluster; ties by lowest index.

    While what remains afterwards is still enough for a cluster: one around the unit farthest
    from the centre of the remaining and one around the unit farthest from that one; then only
    the first of the two; the rest is the last cluster. With rows for size this is the published
    loop (two clusters while 3k rows remain, one while 2k do).
    """
    labels = np.full(count, -1, dtype=np.int32)
    remaining = np.arange(count)
    label = 0
    while len(remaining):
        for cluster in _next_clusters(space, sizes, remaining):
            labels[cluster] = label
            label += 1
        remaining = np.flatnonzero(labels < 0)
    return labels


def _next_clusters(space: Space, sizes: Sizes, remaining: Longs) -> list[Longs]:
    """Two clusters, or one, such that the rest is still enough for another; else all the rest."""
    outermost = int(remaining[np.argmax(space.from_centre(remaining))])
    distances = space.from_unit(outermost, remaining)
    near = _nearest(distances, sizes, remaining)
    rest = remaining[~near]
    if not sizes.enough(rest):
        return [remaining]
    opposite = int(rest[np.argmax(distances[~near])])
    far = _nearest(space.from_unit(opposite, rest), sizes, rest)
    first, second = remaining[near], rest[far]
    return [first, second] if sizes.enough(rest[~far]) else [first]


def _nearest(distances: Floats, sizes: Sizes, units: Longs) -> Flags:
    """Which units are the nearest that are enough for a cluster, as all together are."""
    looked_at = min(FIRST_LOOK, len(units))
    while True:
        order = _nearest_first(distances, looked_at)
        needed = sizes.needed(units[order])
        if needed or looked_at == len(units):
            break
        looked_at = min(looked_at * FIRST_LOOK, len(units))
    near = np.zeros(len(units), dtype=np.bool_)
    near[order[:needed]] = True
    return near


def _nearest_first(distances: Floats, count: int) -> Longs:
    """So many places or, where distances are equal, more: nearest first, ties by place."""
    farthest = np.partition(distances, count - 1)[count - 1]
    places = np.flatnonzero(distances <= farthest)
    return places[np.argsort(distances[places], kind="stable")]
