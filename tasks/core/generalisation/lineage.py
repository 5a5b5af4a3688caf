"""The concepts of a log with all that lies above them, by classes of equal ancestors (Eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import ragged_of, take_ragged
from tasks.core.records import Floats, Ints, Longs, freeze
from tasks.core.similarity.distances import paired_distances
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Some concepts and their ancestors; those with the same ancestors are one class.

    Attributes:
        concepts: all of them, ascending, shape (n,).
        classes: class of each, shape (n,).
        examples: the lowest concept of each class, ascending, shape (m,); that of the whole log
            in a part of it, so that ties between classes do not depend on the part.
        above_offsets, above: classes of the ancestors of each class, as compressed rows.
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
        classes, examples = _classes(everything, taxonomy, inclusive=inclusive)
        of_concept = dict(zip(everything.tolist(), classes.tolist(), strict=True))
        above = [
            sorted({of_concept[a] for a in taxonomy.ancestors_of(example).tolist()})
            for example in examples.tolist()
        ]
        return cls(everything, classes, examples, *ragged_of(above), inclusive)

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
        """δ² of each pair of classes, every distinct pair measured once."""
        keys = left.astype(np.int64) * len(self) + right
        distinct, inverse = np.unique(keys, return_inverse=True)
        a, b = np.divmod(distinct, len(self))
        distances = paired_distances(
            taxonomy, self.examples[a], self.examples[b], inclusive=self.inclusive
        )
        return np.asarray((distances**2)[inverse].reshape(keys.shape))


def _with_ancestors(concepts: Ints, taxonomy: Taxonomy) -> Ints:
    given = np.unique(concepts)
    _, places = take_ragged(taxonomy.ancestor_offsets, given)
    return np.union1d(given, taxonomy.ancestors[places]).astype(np.int32)


def _classes(concepts: Ints, taxonomy: Taxonomy, *, inclusive: bool) -> tuple[Ints, Ints]:
    """Class of each concept, and the lowest concept of each class.

    A concept without ancestors is alone: two of them are at distance 1, not 0.
    """
    numbers: dict[bytes, int] = {}
    classes: list[int] = []
    examples: list[int] = []
    for concept in concepts.tolist():
        row = taxonomy.ancestors_of(concept).tobytes()
        alone = inclusive or not row
        number = numbers.setdefault(b"%d" % concept if alone else b"T" + row, len(numbers))
        if number == len(examples):
            examples.append(concept)
        classes.append(number)
    return np.array(classes, dtype=np.int32), np.array(examples, dtype=np.int32)
