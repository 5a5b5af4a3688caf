"""Where each record of a pool goes: into a published cluster, into a new one, or nowhere yet.

What was published never changes, so a record joins a published cluster only together with k
users of the same pool, and every release holds by itself. Units leave their new cluster and
never come back, and whoever has joined stays: every round moves somebody for good or is the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.append.fits import Fits, find_fits, first_numbers
from tasks.core.append.homes import Homes, fitting
from tasks.core.append.joins import join, wishes_of
from tasks.core.append.pool import NOWHERE, Pool
from tasks.core.records import Clusters, Flags, Ints, RecordTable, freeze
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class Settlement:
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


def settle(
    table: RecordTable,
    clusters: Clusters,
    rows: Sequence[Ints],
    published: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    k: int,
    l: int,  # noqa: E741 - the literature's name
) -> Settlement:
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
    homes = Homes(pool.homes, tuple(rows)).without(pool, nobody)
    return _settlement(pool, *_rounds(pool, fits, homes, published), published)


def _rounds(pool: Pool, fits: Fits, homes: Homes, published: Sequence[Ints]) -> tuple[Homes, Ints]:
    """New clusters, and what each unit joined, once nobody moves any more."""
    joined = np.full(len(pool), NOWHERE, dtype=np.int32)
    while True:
        homes = fitting(pool, homes)
        wishes = wishes_of(pool, fits, homes, joined)
        moves = join(pool, wishes, homes, joined, len(published))
        if not (moves >= 0).any():
            moves = _twins(homes, published)
        if not (moves >= 0).any():
            return homes, joined
        joined = np.maximum(joined, moves)
        homes = homes.without(pool, moves >= 0)


def _twins(homes: Homes, published: Sequence[Ints]) -> Ints:
    """The published cluster that says the same as a unit's new one, or NOWHERE."""
    number = first_numbers(published)
    twins = [number.get(row.tobytes(), NOWHERE) for row in homes.rows]
    return np.array([*twins, NOWHERE], dtype=np.int32)[homes.labels]


def _settlement(pool: Pool, homes: Homes, joined: Ints, published: Sequence[Ints]) -> Settlement:
    """Number the new clusters after the known ones, in the order of their first sets."""
    new = list(dict.fromkeys(homes.labels[homes.labels >= 0].tolist()))
    number = np.full(len(homes.rows) + 1, NOWHERE, dtype=np.int32)
    number[new] = np.arange(len(published), len(published) + len(new), dtype=np.int32)
    labels = pool.of_records(np.maximum(number[homes.labels], joined))
    return Settlement(
        labels=labels,
        waiting=(pool.unit_of >= 0) & (labels < 0),
        rows=(*published, *(homes.rows[label] for label in new)),
        known=len(published),
    )
