"""What is generalised: the members of each cluster, and their concepts with all that lies above.

Members are distinct sets with the weights of their attributes; concepts go by classes of equal
ancestors, which Eq. 1 cannot tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import ragged_of, sums_by, take_ragged
from tasks.core.records import Floats, Ints, Longs, RecordTable, freeze
from tasks.core.similarity.concepts import concept_classes
from tasks.core.similarity.distances import paired_squares
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The distinct sets in clusters 0, 1, …, each of which holds at least one.

    Attributes:
        labels: cluster of each member, ascending, shape (members,).
        counts: records of each member, shape (members,).
        offsets, concepts: the members' attributes, ascending, as ragged arrays.
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


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Some concepts and their ancestors; those with the same ancestors are one class.

    Attributes:
        concepts: all of them, ascending, shape (n,).
        classes: class of each, shape (n,).
        examples: the lowest concept of each class, ascending, shape (m,); that of the whole log
            in a part of it, so that ties between classes do not depend on the part.
        above_offsets, above: classes of the ancestors of each class, as ragged arrays.
        inclusive: whether Eq. 1 counts a concept among its own ancestors.
    """

    concepts: Ints
    classes: Ints
    examples: Ints
    above_offsets: Longs
    above: Ints
    inclusive: bool

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, concepts: Ints, taxonomy: Taxonomy, *, inclusive: bool) -> Lineage:
        everything = _with_ancestors(concepts, taxonomy)
        found = concept_classes(taxonomy, everything, inclusive=inclusive)
        of_concept = dict(zip(everything.tolist(), found.classes.tolist(), strict=True))
        above = [
            sorted({of_concept[a] for a in taxonomy.ancestors_of(example).tolist()})
            for example in found.examples.tolist()
        ]
        return cls(everything, found.classes, found.examples, *ragged_of(above), inclusive)

    def part(self, concepts: Ints, taxonomy: Taxonomy) -> Lineage:
        """The lineage of some of the concepts; classes keep their order and their examples."""
        own = _with_ancestors(concepts, taxonomy)
        used, classes = np.unique(self.class_of(own), return_inverse=True)
        offsets, places = take_ragged(self.above_offsets, used)
        above = np.searchsorted(used, self.above[places]).astype(np.int32)
        examples = self.examples[used]
        return Lineage(own, classes.astype(np.int32), examples, offsets, above, self.inclusive)

    def __len__(self) -> int:
        return len(self.examples)

    def class_of(self, concepts: Ints) -> Ints:
        return self.classes[np.searchsorted(self.concepts, concepts)]

    def squares(self, taxonomy: Taxonomy, left: Ints, right: Ints) -> Floats:
        """δ² of each pair of classes."""
        own, other = self.examples[left], self.examples[right]
        return paired_squares(taxonomy, own, other, inclusive=self.inclusive)


def _with_ancestors(concepts: Ints, taxonomy: Taxonomy) -> Ints:
    given = np.unique(concepts)
    _, places = take_ragged(taxonomy.ancestor_offsets, given)
    return np.union1d(given, taxonomy.ancestors[places]).astype(np.int32)
