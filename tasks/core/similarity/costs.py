"""The graded cost of publishing one attribute set in place of another.

Eq. 8 counts attributes that match and sees most pairs of records as equally far. The graded cost
sums, with Eq. 1, what is lost, Σ_{a∈q} min_{b∈p} δ(a,b)², and what is made up, the same from p
to q: it is what information loss (Eq. 12) charges in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.core.records import AttributeSets, Floats, Ints, Longs
from tasks.core.rows import split_rows, take_rows
from tasks.core.runs import Run, here
from tasks.core.similarity.concepts import ConceptDistances

Costs = NDArray[np.float32]
CENTRE_CANDIDATES = 256
SETS_PER_SHARD: Final = 25_000
"""Sets that are held against all candidates at a time: half a second of work."""


@dataclass(frozen=True, slots=True, eq=False)
class SetCosts:
    """Graded costs of a list of sets.

    Attributes:
        offsets, classes: the sets as compressed rows of classes of `squares`.
        squares: δ² between classes.
    """

    offsets: Longs
    classes: Ints
    squares: Costs = field(repr=False)

    @classmethod
    def of(cls, sets: AttributeSets, distances: ConceptDistances) -> SetCosts:
        rows = distances.in_classes(sets)
        return cls(rows.offsets, rows.concepts, distances.matrix**2)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> Ints:
        return self.classes[self.offsets[index] : self.offsets[index + 1]]

    def to(self, centre: Ints) -> Costs:
        """Cost of publishing `centre` (classes) in place of every set, shape (sets,)."""
        columns = self.squares[:, centre]
        starts = self.offsets[:-1]
        costs = np.add.reduceat(columns.min(axis=1)[self.classes], starts)
        for column in range(len(centre)):
            costs += np.minimum.reduceat(columns[:, column][self.classes], starts)
        return np.asarray(costs, dtype=np.float32)


def dataset_centre(costs: SetCosts, counts: Longs, run: Run = here) -> int:
    """The set that costs least in place of all records: the centre of Eq. 13.

    Eq. 9's pair of records would do, but which record of which tied pair it is depends on the
    order of the records. Candidates are the most frequent sets, ties by order.
    """
    candidates = np.lexsort((np.arange(len(counts)), -counts))[:CENTRE_CANDIDATES]
    totals = sum(run(_candidate_totals, _centre_shards(costs, counts, candidates)))
    return int(candidates[int(np.argmin(np.round(totals, 6)))])


def _centre_shards(
    costs: SetCosts, counts: Longs, candidates: Longs
) -> Iterator[tuple[SetCosts, Longs, Longs, Longs]]:
    """Some sets at a time, their counts, and the candidates' rows of classes.

    Only how far classes are from those of candidates goes along.
    """
    rows, places = take_rows(costs.offsets, candidates)
    used, classes = np.unique(costs.classes[places], return_inverse=True)
    squares = costs.squares[:, used]
    for start in range(0, len(costs), SETS_PER_SHARD):
        offsets = costs.offsets[start : start + SETS_PER_SHARD + 1]
        own = costs.classes[offsets[0] : offsets[-1]]
        shard = SetCosts(offsets - offsets[0], own, squares)
        yield shard, counts[start : start + SETS_PER_SHARD], rows, classes


def _candidate_totals(costs: SetCosts, counts: Longs, offsets: Longs, classes: Ints) -> Floats:
    """What each candidate costs in place of the records of some sets.

    Not as a product of vectors: that adds up in an order of the machine's own.
    """
    rows = split_rows(offsets, classes)
    return np.array([float((costs.to(row) * counts).sum()) for row in rows])
