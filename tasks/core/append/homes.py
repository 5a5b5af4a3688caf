"""New clusters: what they publish, whom that fits, and which of them hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.append.fits import paired_costs
from tasks.core.append.pool import NOWHERE, Pool
from tasks.core.arrays import ragged_of, take_ragged
from tasks.core.generalisation.members import members_of
from tasks.core.generalisation.publish import publish_sets
from tasks.core.records import AttributeSets, Flags, Floats, Ints, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Homes:
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
        costs[held] = paired_costs(
            pool.rows(held), published, pool.taxonomy, inclusive=pool.inclusive
        )
        return costs

    def without(self, pool: Pool, leaving: Flags) -> Homes:
        """Some units leave; clusters left with too few dissolve, the others publish anew."""
        staying = np.where(leaving, NOWHERE, self.labels).astype(np.int32)
        large = np.append(pool.enough(staying, len(self.rows)), False)
        labels = np.where(large[staying], staying, NOWHERE).astype(np.int32)
        left = np.unique(self.labels[leaving & (self.labels >= 0)])
        return Homes(labels, _published_anew(pool, labels, self.rows, left))


def fitting(pool: Pool, homes: Homes) -> Homes:
    """Let whoever a new cluster does not fit leave it, until it fits all who are left."""
    while True:
        misfits = (homes.labels >= 0) & (homes.costs(pool) >= pool.sizes)
        if not misfits.any():
            return homes
        homes = homes.without(pool, misfits)


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
    found = publish_sets(members, pool.taxonomy, inclusive=pool.inclusive)
    anew = dict(zip(held.tolist(), found, strict=True))
    return tuple(anew.get(label, row) for label, row in enumerate(rows))
