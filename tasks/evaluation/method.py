"""The interface of methods: records, costs and k go in, what every record publishes comes out.

Some methods group records, others change them one by one. What they have in common is that every
record publishes a set of concepts, or nothing; so that is what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tasks.core.arrays import (
    distinct,
    group_by,
    owners,
    ragged_from_keys,
    ragged_keys,
    ragged_of,
    split_ragged,
    take_ragged,
)
from tasks.core.choices import Distance, Scope
from tasks.core.clustering.problem import Problem, problem_of
from tasks.core.records import (
    ATTRIBUTE,
    NO_TIME,
    SURPLUS,
    TIME_NONE,
    Clusters,
    Flags,
    Floats,
    Ints,
    Longs,
    RecordTable,
    Release,
    freeze,
    too_few_unless_published,
)
from tasks.core.redaction.class_sizes import limit_shares
from tasks.core.rows.classes import classes_of
from tasks.core.rows.levels import VAGUEST, ItemLevels, item_levels
from tasks.core.rows.problem import Groups, groups_of, row_problem
from tasks.core.rows.told import concepts_told, release_of, told_of
from tasks.core.similarity.concepts import ConceptDistances
from tasks.core.similarity.pairs import SetPairs
from tasks.core.starmap import Starmap, serial
from tasks.core.taxonomy import Taxonomy

WITHHELD = -1
DOMINANCE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The records, which are the same for every method, and what is known of them.

    Attributes:
        table: the log after analysis.
        distances: δ between its concepts.
        set_pairs: the least distant pairs of its sets (Eq. 9).
        centre: the concepts of the data set's centre (Eq. 13).
        scope: what was taken as an attribute.
        starmap: how independent blocks of work are done.
        known: outcomes that a later method starts from.
    """

    table: RecordTable
    taxonomy: Taxonomy
    distances: ConceptDistances
    set_pairs: SetPairs
    centre: Ints
    threshold: float = 0.8
    distance: Distance = "jaccard"
    inclusive: bool = False
    scope: Scope = "sensitive"
    starmap: Starmap = serial
    known: dict[tuple[str, int], Outcome] = field(default_factory=dict, repr=False)

    def problem(self, k: int) -> Problem:
        """The distinct sets, who holds them, and what they cost in place of each other."""
        return problem_of(self.table, self.distances, self.taxonomy, k=k, l=1)

    @property
    def levels(self) -> ItemLevels:
        """What may be told of each query, words that say nothing by themselves included."""
        return item_levels(self.table, self.taxonomy, vaguest=VAGUEST, fillers=True)

    @property
    def senses(self) -> bool:
        """Whether an attribute that is told as typed is told as its concept, too."""
        return self.scope == "sensitive"

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
        rows: whole rows, words and concepts, if the method publishes more than those sets.
        counts: how often each of the rows is said to stand, if that is not how often it does.
    """

    labels: Ints
    published: Sequence[Ints] = field(repr=False)
    centroids: Ints | None = None
    rows: Release | None = None
    counts: Floats | None = None

    def __post_init__(self) -> None:
        freeze(self)


def without_times(
    class_of: Ints,
    terms: Sequence[Sequence[int] | Ints],
    concepts: Sequence[Sequence[int] | Ints],
    clusters: Sequence[int],
) -> Release:
    """A release of classes that publish these terms and concepts, and no times."""
    term_offsets, all_terms = ragged_of(terms)
    concept_offsets, all_concepts = ragged_of(concepts)
    return Release(
        class_of=class_of,
        term_offsets=term_offsets,
        terms=all_terms,
        concept_offsets=concept_offsets,
        concepts=all_concepts,
        times=np.full(len(terms), NO_TIME, dtype=np.int64),
        precisions=np.full(len(terms), TIME_NONE, dtype=np.int32),
        clusters=np.array(clusters, dtype=np.int32),
        reasons=too_few_unless_published(class_of),
    )


Kind = Literal["ours", "paper", "baseline", "floor", "peer", "rival"]


@dataclass(frozen=True, slots=True)
class Method:
    """A plug-in.

    Attributes:
        clusters: whether it puts records into clusters, or changes them one by one.
        source: who published it, where.
        assumed: what the source leaves open, or what is different here.
        epsilon, delta: of a method that promises differential privacy.
    """

    name: str
    kind: Kind
    clusters: bool
    apply: Callable[[Material, int], Outcome]
    source: str
    assumed: str
    epsilon: float | None = None
    delta: float | None = None


def published_by_clusters(material: Material, clusters: Clusters, k: int) -> Outcome:
    """All records of a cluster tell what is true of all of them, and words that k of them share."""
    levels = material.levels
    groups = groups_of(material.table, clusters.labels, levels)
    rows = chosen_rows(material, levels, k, groups)
    return Outcome(clusters.labels, common_concepts(material, clusters), clusters.centroids, rows)


def chosen_rows(
    material: Material, levels: ItemLevels, k: int, groups: Groups | None = None
) -> Release:
    """The rows that tell most, within groups or of all records, as `--guarantee strict` does."""
    table = material.table
    problem, unit_of = row_problem(table, levels, k=k, l=1, precision=TIME_NONE, groups=groups)
    classes = classes_of(problem, material.starmap)[unit_of]
    told = release_of(table, classes, levels, k=k, precision=TIME_NONE, senses=material.senses)
    return without_dominance(told, table)


def without_dominance(rows: Release, table: RecordTable) -> Release:
    """Nobody has more than half of the rows that read alike: the default of `--dominance`."""
    return limit_shares(
        rows, rows.class_of, table.users, most=DOMINANCE, multiple=1, reason=SURPLUS
    )


def common_concepts(material: Material, clusters: Clusters) -> list[Ints]:
    """The concepts that are true of all records of each cluster."""
    table, levels = material.table, material.levels
    held = np.flatnonzero(clusters.labels >= 0)
    first, _ = group_by(clusters.labels[held], table.form_of[held])
    labels, forms = clusters.labels[held[first]], table.form_of[held[first]]
    told = told_of(labels.astype(np.int64), forms.astype(np.int64), levels, clusters.count)
    return split_ragged(*concepts_told(told, levels, clusters.count, senses=True))


def published_by_rows(material: Material, rows: Release) -> Outcome:
    """Records publish whole rows; those that tell the same of their attributes are a group."""
    told = told_concepts(material.table, rows)
    groups: dict[tuple[int, ...], int] = {(): WITHHELD}
    label_of = [groups.setdefault(tuple(own.tolist()), len(groups) - 1) for own in told]
    # The last entry is for records that are withheld.
    labels = np.array([*label_of, WITHHELD], dtype=np.int32)[rows.class_of]
    published = [np.array(row, dtype=np.int32) for row in groups if row]
    return Outcome(labels, published, rows=rows)


def told_concepts(table: RecordTable, rows: Release) -> list[Ints]:
    """The attributes that each row tells."""
    return split_ragged(*ragged_from_keys(concept_keys(table, rows), rows.class_count))


def concept_keys(table: RecordTable, rows: Release) -> Longs:
    """The attributes that each row tells, by concept or by the word that its people typed."""
    records = np.flatnonzero(rows.published)
    first, _ = group_by(table.form_of[records], rows.class_of[records])
    offsets, items = take_ragged(table.forms.item_offsets, table.form_of[records[first]])
    classes = rows.class_of[records[first]][owners(offsets)].astype(np.int64)
    typed = np.isin(
        ragged_keys(classes, table.forms.item_words[items]),
        ragged_keys(owners(rows.term_offsets), rows.terms),
    )
    typed &= table.forms.item_kinds[items] == ATTRIBUTE
    own = ragged_keys(classes[typed], table.forms.item_concepts[items][typed])
    generalised = ragged_keys(owners(rows.concept_offsets), rows.concepts)
    return distinct(np.concatenate([own, generalised]))


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
