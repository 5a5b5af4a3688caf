"""V-MDAV, microaggregation into clusters of variable size.

A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable group
size, COMPSTAT 2006. Clusters are built as in MDAV around the unit farthest from the centre of
all; each is then extended by outside units that are nearer to it than to what remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tasks.core.clustering.blocks import Between, in_blocks
from tasks.core.clustering.problem import Problem
from tasks.core.clustering.spaces import SetSpace, Sizes, Space, UserSizes
from tasks.core.records import Floats, Ints, Longs
from tasks.core.runs import Run, here

GAMMA: Final = 0.2
"""How much nearer to the cluster than to the rest a unit must be to join: the authors' value for
scattered data (they take 1.1 where the data form clear clusters)."""


def vmdav_labels(
    problem: Problem, run: Run = here, sources: Sequence[Between] | None = None
) -> Ints:
    """V-MDAV on the graded cost; a cluster holds k users and l sets or more."""
    return in_blocks(problem, _cluster_block, run, sources)


def _cluster_block(problem: Problem, between: Between) -> Ints:
    space = SetSpace(problem, between(problem))
    return vmdav(space, UserSizes(problem), len(problem))


def vmdav(space: Space, sizes: Sizes, count: int, *, gamma: float = GAMMA) -> Ints:
    """Labels of `count` units, which together are enough for a cluster; ties by lowest index.

    A cluster grows to at most twice the units it needed, less one, as published (2k - 1 rows).
    What is left at the end and not enough for a cluster joins the nearest one.
    """
    labels = np.full(count, -1, dtype=np.int32)
    # Distance of each unit to the nearest member of any cluster, and that cluster.
    nearest, nearest_label = np.full(count, np.inf), np.full(count, -1, dtype=np.int32)
    remaining = np.arange(count)
    from_centre = space.from_centre(remaining)
    label = 0
    while len(remaining) and sizes.enough(remaining):
        seed = int(remaining[np.argmax(from_centre[remaining])])
        to_cluster = _build(space, sizes, labels, seed, label, remaining, gamma)
        closer = to_cluster < nearest
        nearest[closer], nearest_label[closer] = to_cluster[closer], label
        remaining = np.flatnonzero(labels < 0)
        label += 1
    labels[remaining] = nearest_label[remaining]
    return labels


def _build(
    space: Space,
    sizes: Sizes,
    labels: Ints,
    seed: int,
    label: int,
    remaining: Longs,
    gamma: float,
) -> Floats:
    """Label one cluster; returns the distance of each unit to the nearest of its members."""
    order = np.argsort(space.from_unit(seed, remaining), kind="stable")
    needed = sizes.needed(remaining[order])
    cluster = remaining[order[:needed]]
    labels[cluster] = label
    to_cluster = np.full(len(labels), np.inf)
    for member in cluster.tolist():
        _approach(space, to_cluster, member, remaining)
    for _ in range(needed - 1):
        newcomer = _newcomer(space, labels, to_cluster, gamma)
        if newcomer < 0:
            break
        labels[newcomer] = label
        _approach(space, to_cluster, newcomer, remaining)
    return to_cluster


def _approach(space: Space, to_cluster: Floats, member: int, units: Longs) -> None:
    to_cluster[units] = np.minimum(to_cluster[units], space.from_unit(member, units))


def _newcomer(space: Space, labels: Ints, to_cluster: Floats, gamma: float) -> int:
    """The free unit nearest to the cluster if it is near enough to join, else -1."""
    free = np.flatnonzero(labels < 0)
    if len(free) < 2:
        return -1
    candidate = int(free[np.argmin(to_cluster[free])])
    others = free[free != candidate]
    outside = float(space.from_unit(candidate, others).min())
    return candidate if to_cluster[candidate] < gamma * outside else -1
