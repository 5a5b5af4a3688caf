"""Where each record of a pool goes: into a published cluster, into a new one, or nowhere yet.

The pool holds the records that are to be released or wait, by distinct sets, as their clustering
left them. What was published never changes, so a record joins a published cluster only together
with k users of the same pool, and every release holds by itself. Units leave their new cluster and
never come back, and whoever has joined stays: every round moves somebody for good or is the last.

Nobody joins a published cluster alone, and nobody at the cost of those who stay behind. Everybody
first prefers the nearest published set that costs no more than their new cluster. Of the published
clusters that too few have chosen, the emptiest half are closed and everybody chooses again among
the others. When all that are chosen have enough, new clusters that would be left with a few
members keep all of them. Whatever was closed or kept stays so: it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tasks.core.append.fits import Fits, find_fits, first_numbers, replacement_costs
from tasks.core.arrays import people_per_label, ragged_of, take_ragged
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.records import (
    AttributeSets,
    Clusters,
    Flags,
    Floats,
    Ints,
    Longs,
    RecordTable,
    freeze,
)
from tasks.core.similarity.costs import SetCosts
from tasks.core.similarity.medoids import group_medoids
from tasks.core.taxonomy import Taxonomy

NOWHERE = -1
CENTROID_CANDIDATES: Final = 64
"""The middle of a large cluster is looked for among so many of its most frequent sets."""


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """One more release of an edition, in the edition's cluster numbers.

    Attributes:
        labels: cluster of each record, or -1: without attributes, or waiting; shape (n,).
        waiting: records with attributes that no cluster takes yet, shape (n,).
        rows: concepts of all clusters of the edition, the new ones last.
        known: how many of them were published before.
    """

    labels: Ints
    waiting: Flags
    rows: tuple[Ints, ...]
    known: int

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def count(self) -> int:
        """Clusters that take part in this release."""
        return len(np.unique(self.labels[self.labels >= 0]))

    @property
    def new_rows(self) -> tuple[Ints, ...]:
        """Concepts of the clusters that are new, in the order of their numbers."""
        return self.rows[self.known :]


def assign(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    published: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    k: int,
    l: int,  # noqa: E741 - the literature's name
) -> Assignment:
    """Find a place for every record that can be released now.

    Args:
        table: the pool: new records and those that waited.
        clusters: any clustering of the pool.
        rows: what each of its clusters would publish.
        published: concepts of the edition's clusters, by number - 1.
    """
    pool = Pool.of(table, clusters, taxonomy, inclusive=inclusive, k=k, l=l)
    fits = find_fits(table.sets, published, taxonomy, inclusive=inclusive)
    nobody = np.zeros(len(pool), dtype=np.bool_)
    new = PoolClusters(pool.clusters, tuple(rows)).without(pool, nobody)
    return _assignment(pool, *_rounds(pool, fits, new, published), published)


def _rounds(
    pool: Pool, fits: Fits, new: PoolClusters, published: Sequence[Ints]
) -> tuple[PoolClusters, Ints]:
    """New clusters, and what each unit joined, once nobody moves any more."""
    joined = np.full(len(pool), NOWHERE, dtype=np.int32)
    while True:
        new = fitting(pool, new)
        preferences = preferences_of(pool, fits, new, joined)
        moves = join(pool, preferences, new, joined, len(published))
        if not (moves >= 0).any():
            moves = _twins(new, published)
        if not (moves >= 0).any():
            return new, joined
        joined = np.maximum(joined, moves)
        new = new.without(pool, moves >= 0)


def _twins(new: PoolClusters, published: Sequence[Ints]) -> Ints:
    """The published cluster that says the same as a unit's new one, or NOWHERE."""
    number = first_numbers(published)
    twins = [number.get(row.tobytes(), NOWHERE) for row in new.rows]
    return np.array([*twins, NOWHERE], dtype=np.int32)[new.labels]


def _assignment(
    pool: Pool, new: PoolClusters, joined: Ints, published: Sequence[Ints]
) -> Assignment:
    """Number the new clusters after the known ones, in the order of their first sets."""
    held = list(dict.fromkeys(new.labels[new.labels >= 0].tolist()))
    number = np.full(len(new.rows) + 1, NOWHERE, dtype=np.int32)
    number[held] = np.arange(len(published), len(published) + len(held), dtype=np.int32)
    labels = pool.of_records(np.maximum(number[new.labels], joined))
    return Assignment(
        labels=labels,
        waiting=(pool.unit_of >= 0) & (labels < 0),
        rows=(*published, *(new.rows[label] for label in held)),
        known=len(published),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Records with attributes, as units: those of one set in one new cluster go together.

    Attributes:
        table: all records of the pool.
        unit_of: unit of each record, or NOWHERE for one without attributes, shape (n,).
        sets: set of each unit, shape (units,).
        clusters: new cluster that the method put each unit in, or NOWHERE, shape (units,).
        taxonomy, inclusive: what costs are measured by.
        k: distinct users that a cluster holds at least, in this release alone.
        l: distinct sets that it holds at least.
    """

    table: RecordTable
    unit_of: Longs
    sets: Ints
    clusters: Ints
    taxonomy: Taxonomy
    inclusive: bool
    k: int
    l: int  # noqa: E741 - the literature's name

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(
        cls,
        table: RecordTable,
        clusters: Clusters,
        taxonomy: Taxonomy,
        *,
        inclusive: bool,
        k: int,
        l: int,  # noqa: E741
    ) -> Pool:
        holding = np.flatnonzero(table.set_of >= 0)
        keys = np.stack([table.set_of[holding], clusters.labels[holding]], axis=1)
        units, inverse = np.unique(keys, axis=0, return_inverse=True)
        unit_of = np.full(len(table), NOWHERE, dtype=np.int64)
        unit_of[holding] = inverse.ravel()
        sets, labels = units[:, 0], units[:, 1]
        return cls(table, unit_of, sets, labels, taxonomy, inclusive, k, l)

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def sizes(self) -> Longs:
        """What it costs to publish nothing of each unit: the number of its attributes."""
        return self.table.sets.sizes[self.sets]

    def rows(self, units: Longs) -> AttributeSets:
        """The attribute sets of some units."""
        offsets, places = take_ragged(self.table.sets.offsets, self.sets[units])
        return AttributeSets(offsets, self.table.sets.concepts[places])

    def of_records(self, labels: Ints) -> Ints:
        """Labels of records from labels of units."""
        return np.append(labels, np.int32(NOWHERE))[self.unit_of]

    def people(self, labels: Ints, count: int) -> Longs:
        """Distinct users of the units under each label 0 … count - 1."""
        return people_per_label(self.of_records(labels), self.table.users, count)

    def enough(self, labels: Ints, count: int) -> Flags:
        """Which labels have k users and l sets."""
        sets = people_per_label(self.of_records(labels), self.table.set_of, count)
        return (self.people(labels, count) >= self.k) & (sets >= self.l)


@dataclass(frozen=True, slots=True, eq=False)
class PoolClusters:
    """The new clusters of a pool at some moment.

    Attributes:
        labels: new cluster of each unit, or NOWHERE, shape (units,).
        rows: what each new cluster publishes; a label keeps its row when nobody is left.
    """

    labels: Ints
    rows: tuple[Ints, ...]

    def __post_init__(self) -> None:
        freeze(self)

    def costs(self, pool: Pool) -> Floats:
        """What each unit pays in its new cluster; without one, what publishing nothing costs."""
        costs = pool.sizes.astype(np.float64)
        held = np.flatnonzero(self.labels >= 0)
        offsets, values = ragged_of(self.rows)
        own_offsets, places = take_ragged(offsets, self.labels[held])
        published = AttributeSets(own_offsets, values[places])
        costs[held] = replacement_costs(
            pool.rows(held), published, pool.taxonomy, inclusive=pool.inclusive
        )
        return costs

    def without(self, pool: Pool, leaving: Flags) -> PoolClusters:
        """Some units leave; clusters left with too few dissolve, the others publish anew."""
        staying = np.where(leaving, NOWHERE, self.labels).astype(np.int32)
        large = np.append(pool.enough(staying, len(self.rows)), False)
        labels = np.where(large[staying], staying, NOWHERE).astype(np.int32)
        left = np.unique(self.labels[leaving & (self.labels >= 0)])
        return PoolClusters(labels, _published_anew(pool, labels, self.rows, left))


def fitting(pool: Pool, new: PoolClusters) -> PoolClusters:
    """Let whoever a new cluster does not fit leave it, until it fits all who are left."""
    while True:
        misfits = (new.labels >= 0) & (new.costs(pool) >= pool.sizes)
        if not misfits.any():
            return new
        new = new.without(pool, misfits)


def _published_anew(
    pool: Pool, labels: Ints, rows: tuple[Ints, ...], changed: Ints
) -> tuple[Ints, ...]:
    """The rows, with those of the changed clusters that still hold somebody found anew."""
    held = np.intersect1d(changed, labels)
    if not len(held):
        return rows
    number = np.full(len(rows) + 1, NOWHERE, dtype=np.int32)
    number[held] = np.arange(len(held), dtype=np.int32)
    members = members_of(pool.table, number[pool.of_records(labels)])
    found = generalise(members, pool.taxonomy, inclusive=pool.inclusive)
    anew = dict(zip(held.tolist(), found, strict=True))
    return tuple(anew.get(label, row) for label, row in enumerate(rows))


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Published clusters that units would join, ordered by unit, the best first."""

    units: Longs
    targets: Ints

    def kept(self, chosen: Flags) -> Preferences:
        return Preferences(self.units[chosen], self.targets[chosen])

    def first(self, count: int) -> Ints:
        """The first preference of each unit 0 … count - 1, or NOWHERE."""
        places = np.flatnonzero(np.diff(self.units, prepend=NOWHERE))
        best = np.full(count, NOWHERE, dtype=np.int32)
        best[self.units[places]] = self.targets[places]
        return best


def preferences_of(pool: Pool, fits: Fits, new: PoolClusters, joined: Ints) -> Preferences:
    """All fits of units that joined nothing yet, as good as their new cluster or better."""
    waiting = np.flatnonzero(joined < 0)
    offsets, places = take_ragged(fits.offsets, pool.sets[waiting])
    units = np.repeat(waiting, np.diff(offsets))
    as_good = fits.costs[places] <= new.costs(pool)[units]
    return Preferences(units[as_good], fits.targets[places[as_good]])


def join(pool: Pool, preferences: Preferences, new: PoolClusters, joined: Ints, count: int) -> Ints:
    """The published cluster that each unit joins now, or NOWHERE.

    Args:
        joined: what units joined before; they count wherever they are.
        count: how many published clusters there are.
    """
    while True:
        choices = preferences.first(len(pool))
        closed = _emptiest(pool, np.maximum(choices, joined), count)
        if closed.any():
            preferences = preferences.kept(~closed[preferences.targets])
            continue
        kept = _torn(pool, new, choices)
        if not kept.any():
            return choices
        preferences = preferences.kept(~kept[preferences.units])


def _emptiest(pool: Pool, choices: Ints, count: int) -> Flags:
    """Half of the published clusters that too few have chosen: fewest people first, then young."""
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[choices[choices >= 0]] = True
    short = np.flatnonzero(chosen & ~pool.enough(choices, count))
    order = np.lexsort((-short, pool.people(choices, count)[short]))
    closed = np.zeros(count, dtype=np.bool_)
    closed[short[order][: (len(short) + 1) // 2]] = True
    return closed


def _torn(pool: Pool, new: PoolClusters, choices: Ints) -> Flags:
    """Units that want to leave a new cluster in which some, but too few, would stay."""
    staying = np.where(choices >= 0, NOWHERE, new.labels).astype(np.int32)
    torn = ~pool.enough(staying, len(new.rows))
    torn &= np.bincount(staying[staying >= 0], minlength=len(torn)) > 0
    return np.append(torn, False)[new.labels] & (choices >= 0)


def clusters_in_use(assignment: Assignment) -> tuple[Clusters, Ints]:
    """The clusters of this release numbered 0, 1, …, as redaction and measures want them.

    Returns:
        The clusters, waiting records suppressed, and the edition's number of each.
    """
    held = assignment.labels >= 0
    numbers, places = np.unique(assignment.labels[held], return_inverse=True)
    labels = np.full(len(held), -1, dtype=np.int32)
    labels[held] = places
    suppressed = assignment.waiting.copy()
    return Clusters(labels, suppressed, np.full(len(numbers), -1, dtype=np.int32)), numbers


def with_centroids(table: RecordTable, clusters: Clusters, costs: SetCosts) -> Clusters:
    """The same clusters, each with the first record of its medoid, ties by order.

    Args:
        costs: of the table's sets.
    """
    held = np.flatnonzero(clusters.labels >= 0)
    keys = clusters.labels[held].astype(np.int64) * len(table.sets) + table.set_of[held]
    units, first, counts = np.unique(keys, return_index=True, return_counts=True)
    labels, sets = np.divmod(units, max(1, len(table.sets)))
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    groups = np.append(starts, len(sets)), sets
    found = group_medoids(costs, groups, counts, most_candidates=CENTROID_CANDIDATES)
    return replace(clusters, centroids=held[first[found]].astype(np.int32))
