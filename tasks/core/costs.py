"""The graded cost of publishing one attribute set in place of another.

Eq. 8 counts attributes that match and sees most pairs of records as equally far. The graded cost
sums, with Eq. 1, what is lost, Σ_{a∈q} min_{b∈p} δ(a,b)², and what is made up, the same from p
to q: it is what information loss (Eq. 12) charges in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tasks.core.concepts import ConceptDistances
from tasks.core.records import AttributeSets, Ints, Longs

Costs = NDArray[np.float32]
CENTRE_CANDIDATES = 256


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


def dataset_centre(costs: SetCosts, counts: Longs) -> int:
    """The set that costs least in place of all records: the centre of Eq. 13.

    Eq. 9's pair of records would do, but which record of which tied pair it is depends on the
    order of the records. Candidates are the most frequent sets, ties by order.
    """
    candidates = np.lexsort((np.arange(len(counts)), -counts))[:CENTRE_CANDIDATES]
    totals = [float(costs.to(costs.row(index)) @ counts) for index in candidates.tolist()]
    return int(candidates[int(np.argmin(np.round(totals, 6)))])
