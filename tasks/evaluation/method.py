"""The interface of methods: records, costs and k go in, what every record publishes comes out.

Some methods group records, others change them one by one. What they have in common is that every
record publishes a set of concepts, or nothing; so that is what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tasks.core.arrays import group_by, split_ragged
from tasks.core.choices import Distance
from tasks.core.clustering.problem import Problem, problem_of
from tasks.core.records import Clusters, Flags, Ints, Longs, RecordTable, freeze
from tasks.core.rows.levels import VAGUEST, item_levels
from tasks.core.rows.told import concepts_told, told_of
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.pairs import SetPairs
from tasks.core.starmap import Starmap, serial
from tasks.core.taxonomy import Taxonomy

WITHHELD = -1


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The records, which are the same for every method, and what is known of them.

    Attributes:
        table: the log after analysis.
        distances: δ between its concepts.
        set_pairs: the least distant pairs of its sets (Eq. 9).
        centre: the concepts of the data set's centre (Eq. 13).
        starmap: how independent blocks of work are done.
        known: clusters that a later method starts from.
    """

    table: RecordTable
    taxonomy: Taxonomy
    distances: ConceptDistances
    set_pairs: SetPairs
    centre: Ints
    threshold: float = 0.8
    distance: Distance = "jaccard"
    inclusive: bool = False
    starmap: Starmap = serial
    known: dict[tuple[str, int], Clusters] = field(default_factory=dict, repr=False)

    def problem(self, k: int) -> Problem:
        """The distinct sets, who holds them, and what they cost in place of each other."""
        return problem_of(self.table, self.distances, self.taxonomy, k=k, l=1)

    @property
    def holding(self) -> Flags:
        """Records that hold attributes: those that are compared."""
        return np.asarray(self.table.set_of >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a method publishes.

    Attributes:
        labels: group of each record, or WITHHELD, shape (n,).
        published: the concepts that all records of a group publish, ascending; a group that has
            too little in common publishes none.
        centroids: a record that stands for each group, if the method names one.
    """

    labels: Ints
    published: Sequence[Ints] = field(repr=False)
    centroids: Ints | None = None

    def __post_init__(self) -> None:
        freeze(self)


Kind = Literal["ours", "paper", "baseline", "floor", "peer"]


@dataclass(frozen=True, slots=True)
class Method:
    """A plug-in.

    Attributes:
        clusters: whether it puts records into clusters, or changes them one by one.
        source: who published it, where.
        assumed: what the source leaves open, or what is different here.
    """

    name: str
    kind: Kind
    clusters: bool
    apply: Callable[[Material, int], Outcome]
    source: str
    assumed: str


def published_by_clusters(material: Material, clusters: Clusters) -> Outcome:
    """All records of a cluster publish the concepts that are true of all of them."""
    table = material.table
    levels = item_levels(table, material.taxonomy, vaguest=VAGUEST)
    held = np.flatnonzero(clusters.labels >= 0)
    first, _ = group_by(clusters.labels[held], table.form_of[held])
    labels, forms = clusters.labels[held[first]], table.form_of[held[first]]
    told = told_of(labels.astype(np.int64), forms.astype(np.int64), levels, clusters.count)
    rows = split_ragged(*concepts_told(told, levels, clusters.count, senses=True))
    return Outcome(clusters.labels, rows, clusters.centroids)


def published_by_sets(material: Material, rows: Sequence[Ints | None]) -> Outcome:
    """Records of set s publish rows[s], or nothing; those that publish the same are a group."""
    return published_alike(material.table.set_of, rows)


def published_alike(unit_of: Ints | Longs, rows: Sequence[Ints | None]) -> Outcome:
    """Records of unit u publish rows[u], or nothing; those that publish the same are a group."""
    groups: dict[tuple[int, ...], int] = {}
    label_of = [
        WITHHELD if row is None else groups.setdefault(tuple(np.unique(row).tolist()), len(groups))
        for row in rows
    ]
    # The last entry is for records without attributes, whose unit is -1.
    labels = np.array([*label_of, WITHHELD], dtype=np.int32)[unit_of]
    return Outcome(labels, [np.array(row, dtype=np.int32) for row in groups])
