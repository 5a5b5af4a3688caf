"""The records that are to be released or wait: by distinct sets, as their clustering left them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import people_per_label, take_ragged
from tasks.core.records import AttributeSets, Clusters, Flags, Ints, Longs, RecordTable, freeze
from tasks.core.taxonomy import Taxonomy

NOWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Records with attributes, as units: those of one set in one new cluster go together.

    Attributes:
        table: all records of the pool.
        unit_of: unit of each record, or NOWHERE for one without attributes, shape (n,).
        sets: set of each unit, shape (units,).
        homes: new cluster that the method put each unit in, or NOWHERE, shape (units,).
        taxonomy, inclusive: what costs are measured by.
        k: distinct users that a cluster holds at least, in this release alone.
        l: distinct sets that it holds at least.
    """

    table: RecordTable
    unit_of: Longs
    sets: Ints
    homes: Ints
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
        sets, homes = units[:, 0], units[:, 1]
        return cls(table, unit_of, sets, homes, taxonomy, inclusive, k, l)

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
