"""Distances between the concepts of a log, by classes of equal ancestors (paper Eq. 1).

Eq. 1 sees a concept only through its ancestors, so concepts with the same ancestors share a row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tasks.core.columns import column
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import AttributeSets, Floats, Ints, freeze
from tasks.core.similarity.distances import concept_distances
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class ConceptDistances:
    """δ between any two of the given concepts.

    Attributes:
        concepts: the concepts, ascending, shape (n,).
        classes: row of each concept in `matrix`, shape (n,).
        matrix: δ between classes, shape (m, m).
    """

    concepts: Ints
    classes: Ints
    matrix: NDArray[np.float32] = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)

    def class_of(self, concepts: Ints) -> Ints:
        """Row of `matrix` for each of some of the concepts."""
        return self.classes[np.searchsorted(self.concepts, concepts)]

    def between(self, left: Ints, right: Ints) -> Floats:
        """δ for every concept of `left` with every one of `right`."""
        rows, columns = self.class_of(left), self.class_of(right)
        return self.matrix[np.ix_(rows, columns)].astype(np.float64)

    def similar(self, threshold: float) -> sparse.csr_matrix:
        """Which classes have sim = 1 − δ >= threshold (Eq. 2), each to itself too.

        Few are: to let scipy look for them in the whole matrix takes four times as long.
        """
        sizes, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(self.matrix), PART_SIZES.concepts_per_part):
            near = 1.0 - self.matrix[start : start + PART_SIZES.concepts_per_part] >= threshold
            sizes.append(np.count_nonzero(near, axis=1))
            found.append(np.nonzero(near)[1])
        columns, offsets = np.concatenate(found), np.cumsum(np.concatenate(sizes))
        ones = np.ones(len(columns), dtype=np.float32)
        return sparse.csr_matrix((ones, columns, offsets), shape=self.matrix.shape)

    def in_classes(self, sets: AttributeSets) -> AttributeSets:
        """The sets as rows of `matrix`, in the order of their concepts.

        Not by number of class: that depends on what else is in the log, and sums over a set
        must not, to the last bit. No set names a class twice: its members would have been one
        group in Algorithm 1.
        """
        return AttributeSets(sets.offsets, self.class_of(sets.concepts))


@dataclass(frozen=True, slots=True, eq=False)
class ConceptClasses:
    """Concepts that Eq. 1 cannot tell apart, together.

    Attributes:
        concepts: the concepts, ascending, shape (n,).
        classes: class of each concept, shape (n,).
        examples: one concept of each class, shape (m,).
        contents: what Eq. 1 sees of each class: the same in every log.
    """

    concepts: Ints
    classes: Ints
    examples: Ints
    contents: tuple[bytes, ...] = field(repr=False)

    def __post_init__(self) -> None:
        freeze(self)


def concept_classes(
    taxonomy: Taxonomy, concepts: Ints, *, inclusive: bool = False
) -> ConceptClasses:
    """Sort concepts (ascending) into classes.

    A concept without ancestors is alone: two of them are at distance 1, not 0.
    """
    numbers: dict[bytes, int] = {}
    classes: list[int] = []
    examples: list[int] = []
    for concept in concepts.tolist():
        row = taxonomy.ancestors_of(concept).tobytes()
        key = str(concept).encode() if inclusive or not row else b"T" + row
        number = numbers.setdefault(key, len(numbers))
        if number == len(examples):
            examples.append(concept)
        classes.append(number)
    return ConceptClasses(
        concepts, np.array(classes, np.int32), np.array(examples, np.int32), tuple(numbers)
    )


def class_distances(
    taxonomy: Taxonomy,
    left: Ints,
    right: Ints,
    *,
    inclusive: bool = False,
    concepts_per_part: int = PART_SIZES.concepts_per_part,
) -> NDArray[np.float32]:
    """Eq. 1 between examples of classes, so many rows at a time.

    Of a table that mirrors itself one half is computed. Nobody else is asked to help: for this
    process it takes as long to receive a distance as to compute it.
    """
    matrix = column((len(left), len(right)), np.float32)
    alike = np.array_equal(left, right)
    for start in range(0, len(left), concepts_per_part):
        rows, columns = slice(start, start + concepts_per_part), slice(start if alike else 0, None)
        distances = concept_distances(taxonomy, left[rows], right[columns], inclusive=inclusive)
        matrix[rows, columns] = distances
        if alike:
            matrix[columns, rows] = distances.T
    return matrix


def measure_concepts(
    taxonomy: Taxonomy, concepts: Ints, *, inclusive: bool = False
) -> ConceptDistances:
    """Eq. 1 for all pairs of the given concepts (ascending)."""
    found = concept_classes(taxonomy, concepts, inclusive=inclusive)
    matrix = class_distances(taxonomy, found.examples, found.examples, inclusive=inclusive)
    return ConceptDistances(concepts, found.classes, matrix)
