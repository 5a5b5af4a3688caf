"""Which of the published sets fit an attribute set, by the graded cost of both directions.

Every set is compared with every published set, some at a time, so nothing that fits is overlooked;
of each set's fits only the nearest are kept. Sums are rounded, so that ties are ties whichever
way a cost was added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NamedTuple

import numpy as np

from tasks.core.arrays import ragged_of, sums_by
from tasks.core.generalisation.members import Lineage
from tasks.core.records import AttributeSets, Floats, Ints, Longs, freeze
from tasks.core.similarity.distances import concept_distances
from tasks.core.similarity.nearest import row_losses
from tasks.core.taxonomy import Taxonomy

SizedRows = tuple[Longs, Longs]
"""Places of rows of one size, and their values as a table, one row each."""

MOST_FITS: Final = 256
"""A set looks no further than to so many of its nearest published sets."""
TABLE_SIZES: Final = (512, 128)
"""Sets and published sets that are compared at a time: so many costs stay near the processor."""
DECIMALS = 9
ROUNDING = 0.5 / 10**DECIMALS


class Found(NamedTuple):
    """Sets, published sets that fit them, and what they cost, side by side."""

    sets: Longs
    targets: Longs
    costs: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """For each set the published sets that fit it, nearest first, as ragged arrays.

    Attributes:
        offsets: the fits of set s are offsets[s] to offsets[s + 1].
        targets: indices of published sets; of equal ones only the first is named.
        costs: what it costs to publish each in place of the set.
    """

    offsets: Longs
    targets: Ints
    costs: Floats

    def __post_init__(self) -> None:
        freeze(self)


def find_fits(
    sets: AttributeSets,
    published: Sequence[Ints],
    taxonomy: Taxonomy,
    *,
    inclusive: bool,
    most_fits: int = MOST_FITS,
    table_sizes: tuple[int, int] = TABLE_SIZES,
) -> Fits:
    """The published sets that cost less in place of a set than publishing nothing of it.

    Args:
        most_fits: published sets that a set looks at, the nearest.
        table_sizes: sets and published sets that are compared at a time.
    """
    numbers = list(first_numbers(published).values())
    targets = AttributeSets(*ragged_of([published[number] for number in numbers]))
    search = _Search.of(sets, targets, taxonomy, inclusive, table_sizes)
    found = _joined([_nearest(part, most_fits) for part in search.parts()])
    order = np.argsort(found.sets, kind="stable")
    return Fits(
        offsets=np.searchsorted(found.sets[order], np.arange(len(sets) + 1)),
        targets=np.array(numbers, dtype=np.int32)[found.targets[order]],
        costs=found.costs[order],
    )


def first_numbers(published: Sequence[Ints]) -> dict[bytes, int]:
    """The first of each group of equal published sets; empty ones stand for nothing."""
    first: dict[bytes, int] = {}
    for number, row in enumerate(published):
        if len(row):
            first.setdefault(row.tobytes(), number)
    return first


def replacement_costs(
    left: AttributeSets, right: AttributeSets, taxonomy: Taxonomy, *, inclusive: bool
) -> Floats:
    """The cost of publishing row i of `right` in place of row i of `left`."""
    losses = row_losses(
        taxonomy,
        (left.offsets, left.concepts),
        (right.offsets, right.concepts),
        inclusive=inclusive,
    )
    owners = np.repeat(np.arange(len(left)), left.sizes)
    return np.round(sums_by(owners, losses.lost, len(left)) + losses.made_up, DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Sets and published sets as rows of classes of equal ancestors, by size.

    Attributes:
        own, others: a concept of each class of the sets, and of the published sets.
        rows, target_rows: the classes of the sets, and of the published sets, by size.
    """

    own: Ints
    others: Ints
    rows: list[SizedRows]
    target_rows: list[SizedRows]
    taxonomy: Taxonomy
    inclusive: bool

    @classmethod
    def of(
        cls,
        sets: AttributeSets,
        targets: AttributeSets,
        taxonomy: Taxonomy,
        inclusive: bool,
        sizes: tuple[int, int],
    ) -> _Search:
        everything = np.concatenate([sets.concepts, targets.concepts])
        lineage = Lineage.of(everything, taxonomy, inclusive=inclusive)
        own, classes = np.unique(lineage.class_of(sets.concepts), return_inverse=True)
        others, target_classes = np.unique(lineage.class_of(targets.concepts), return_inverse=True)
        return cls(
            own=lineage.examples[own],
            others=lineage.examples[others],
            rows=list(_by_size(sets.offsets, classes, sizes[0])),
            target_rows=list(_by_size(targets.offsets, target_classes, sizes[1])),
            taxonomy=taxonomy,
            inclusive=inclusive,
        )

    def parts(self) -> Iterator[Found]:
        """What fits some sets at a time, which are of one size."""
        for places, classes in self.rows:
            used, columns = np.unique(classes, return_inverse=True)
            columns = columns.reshape(classes.shape).T
            squares = self._squares(used)
            nearest = reduce(np.minimum, (squares[:, own] for own in columns))
            found = _joined(
                [_fitting(squares, nearest, columns, *targets) for targets in self.target_rows]
            )
            yield found._replace(sets=places[found.sets])

    def _squares(self, classes: Longs) -> Floats:
        """δ² of all classes of the published sets with some classes of the sets."""
        distances = concept_distances(
            self.taxonomy, self.others, self.own[classes], inclusive=self.inclusive
        )
        return np.asarray(distances**2)


def _fitting(squares: Floats, nearest: Floats, columns: Longs, places: Longs, rows: Longs) -> Found:
    """The published sets of one size that fit sets of one size.

    Args:
        squares: δ² of classes of the published sets with classes of the sets.
        nearest: the same with whole sets: the least over their classes.
        columns: the classes of the sets: the first of all, the second of all, …
        places: numbers of the published sets.
        rows: their classes, one row each.
    """
    lost = reduce(np.minimum, (squares[classes] for classes in rows.T))
    costs = np.zeros((len(rows), columns.shape[1]))
    for classes in rows.T:
        costs += nearest[classes]
    for own in columns:
        costs += lost[:, own]
    target, own_set = np.nonzero(costs < len(columns) - ROUNDING)
    return Found(own_set, places[target], costs[target, own_set])


def _by_size(offsets: Longs, values: Longs, most: int) -> Iterator[SizedRows]:
    """Rows of equal size as tables: their places, and their values."""
    sizes = np.diff(offsets)
    for size in np.unique(sizes).tolist():
        of_size = np.flatnonzero(sizes == size)
        for start in range(0, len(of_size), most):
            places = of_size[start : start + most]
            yield places, values[offsets[places][:, None] + np.arange(size)]


def _nearest(found: Found, most: int) -> Found:
    """Ordered by set, then cost, then number, and of each set only so many."""
    rounded = np.round(found.costs, DECIMALS)
    order = np.lexsort((found.targets, rounded, found.sets))
    sets = found.sets[order]
    rank = np.arange(len(sets)) - np.searchsorted(sets, sets)
    kept = order[rank < most]
    return Found(found.sets[kept], found.targets[kept], rounded[kept])


def _joined(parts: Sequence[Found]) -> Found:
    none = Found(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Found(*map(np.concatenate, zip(none, *parts, strict=True)))
