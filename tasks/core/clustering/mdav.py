"""MDAV and V-MDAV: microaggregation into clusters of fixed and of variable size.

J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical data-oriented microaggregation for statistical
disclosure control, IEEE TKDE 14 (2002); in the form of J. Domingo-Ferrer, V. Torra: Ordinal,
continuous and heterogeneous k-anonymity through microaggregation, DMKD 11 (2005).

A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable group
size, COMPSTAT 2006. Clusters are built as in MDAV around the unit farthest from the centre of
all; each is then extended by outside units that are nearer to it than to what remains.

The loops know nothing of what they cluster: distances come from a `Space`, and what is a cluster
from `Sizes`. Here units are distinct attribute sets, and a cluster holds k people and l sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from tasks.core.clustering.blocks import Between, in_blocks
from tasks.core.clustering.problem import Problem, UserSizes
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.similarity.costs import Costs
from tasks.core.starmap import Starmap, serial

FIRST_NEAREST: Final = 32
"""A cluster is looked for among so many nearest units, then among so many times more."""

GAMMA: Final = 0.2
"""How much nearer to the cluster than to the rest a unit must be to join: the authors' value for
scattered data (they take 1.1 where the data form clear clusters)."""


class Space(Protocol):
    """How far units 0, 1, … are from each other and from the centre of some of them."""

    def from_centre(self, units: Longs) -> Floats:
        """Distance of each of the units from the centre of them all."""

    def from_unit(self, unit: int, units: Longs) -> Floats:
        """Distance of each of the units from one unit."""


class Sizes(Protocol):
    """How many units a cluster needs."""

    def needed(self, units: Longs) -> int:
        """The shortest beginning of the units that is enough for a cluster; 0 if all are not."""

    def enough(self, units: Longs) -> bool:
        """Whether the units together are enough for a cluster."""


class SetSpace:
    """Distinct sets under the graded cost; the centre of some of them is their medoid."""

    def __init__(self, problem: Problem, between: Costs) -> None:
        """Take `between` as of `between_sets`."""
        self._between = between
        self._counts = problem.counts.astype(np.float64)
        # What the records of the sets present would pay for each set. Not by `@`: the order in
        # which that adds up, and so the last digits, depend on the machine.
        self._totals = np.einsum("i,ij->j", self._counts, between)
        self._present = np.ones(len(problem), dtype=np.bool_)

    def from_centre(self, units: Longs) -> Floats:
        """Distance from the medoid; units that were left out of a call stay out."""
        left = self._present.copy()
        left[units] = False
        gone = np.flatnonzero(left)
        self._totals -= np.einsum("i,ij->j", self._counts[gone], self._between[gone])
        self._present[gone] = False
        medoid = int(units[np.argmin(np.round(self._totals[units], 6))])
        return self.from_unit(medoid, units)

    def from_unit(self, unit: int, units: Longs) -> Floats:
        return np.asarray(self._between[unit, units], dtype=np.float64)


def mdav_labels(
    problem: Problem,
    starmap: Starmap = serial,
    sources: Sequence[Between] | None = None,
    *,
    sets_per_block: int = PART_SIZES.sets_per_block,
) -> Ints:
    """Fixed-size MDAV on the graded cost; a cluster is full once it holds k users and l sets."""
    return in_blocks(problem, _mdav_of_block, starmap, sources, sets_per_block=sets_per_block)


def _mdav_of_block(problem: Problem, between: Between) -> Ints:
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
    looked_at = min(FIRST_NEAREST, len(units))
    while True:
        order = _nearest_first(distances, looked_at)
        needed = sizes.needed(units[order])
        if needed or looked_at == len(units):
            break
        looked_at = min(looked_at * FIRST_NEAREST, len(units))
    near = np.zeros(len(units), dtype=np.bool_)
    near[order[:needed]] = True
    return near


def _nearest_first(distances: Floats, count: int) -> Longs:
    """So many places or, where distances are equal, more: nearest first, ties by place."""
    farthest = np.partition(distances, count - 1)[count - 1]
    places = np.flatnonzero(distances <= farthest)
    return places[np.argsort(distances[places], kind="stable")]


def vmdav_labels(
    problem: Problem,
    starmap: Starmap = serial,
    sources: Sequence[Between] | None = None,
    *,
    sets_per_block: int = PART_SIZES.sets_per_block,
) -> Ints:
    """V-MDAV on the graded cost; a cluster holds k users and l sets or more."""
    return in_blocks(problem, _vmdav_of_block, starmap, sources, sets_per_block=sets_per_block)


def _vmdav_of_block(problem: Problem, between: Between) -> Ints:
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
