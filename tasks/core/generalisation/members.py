"""The distinct sets in each cluster, with the weights of their attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import sums_by, take_ragged
from tasks.core.records import Floats, Ints, Longs, RecordTable, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The distinct sets in clusters 0, 1, …, each of which holds at least one.

    Attributes:
        labels: cluster of each member, ascending, shape (members,).
        counts: records of each member, shape (members,).
        offsets, concepts: the members' attributes, ascending, as compressed rows.
        weights: mentions that each attribute stands for, over all records of the member.
    """

    labels: Longs
    counts: Longs
    offsets: Longs
    concepts: Ints
    weights: Floats

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def cluster_count(self) -> int:
        return int(self.labels[-1]) + 1 if len(self.labels) else 0

    @property
    def cluster_offsets(self) -> Longs:
        """Members of cluster c: cluster_offsets[c] to cluster_offsets[c + 1]."""
        return np.searchsorted(self.labels, np.arange(self.cluster_count + 1))

    @property
    def cluster_sizes(self) -> Longs:
        return np.diff(self.cluster_offsets)

    @property
    def by_frequency(self) -> Longs:
        """All members, those of a cluster side by side, most records first, ties by order."""
        return np.asarray(np.lexsort((-self.counts, self.labels)))

    @property
    def attribute_labels(self) -> Longs:
        """Cluster of each attribute."""
        return np.repeat(self.labels, np.diff(self.offsets))


def members_of(table: RecordTable, labels: Ints) -> Members:
    """The distinct sets in each cluster of records (label -1: in none)."""
    held = np.flatnonzero(labels >= 0)
    variants, records = np.unique(
        np.stack([labels[held], table.set_of[held], table.form_of[held]], axis=1),
        axis=0,
        return_counts=True,
    )
    new = np.diff(variants[:, :2], axis=0, prepend=-1).any(axis=1)
    member_of = np.cumsum(new) - 1
    offsets, places = take_ragged(table.sets.offsets, variants[new, 1])
    # Forms of one set list their attributes in the same order, so their weights add up.
    form_offsets, form_places = take_ragged(table.forms.attribute_offsets, variants[:, 2])
    shift = np.repeat(offsets[:-1][member_of] - form_offsets[:-1], np.diff(form_offsets))
    weights = table.forms.weights[form_places] * np.repeat(records, np.diff(form_offsets))
    return Members(
        labels=variants[new, 0].astype(np.int64),
        counts=sums_by(member_of, records, int(new.sum())).astype(np.int64),
        offsets=offsets,
        concepts=table.sets.concepts[places],
        weights=sums_by(shift + np.arange(len(shift)), weights, len(places)),
    )
