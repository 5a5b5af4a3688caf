"""Rows of numbers as units of microaggregation: the field's classic setting."""

from __future__ import annotations

import numpy as np

from tasks.core.records import Floats, Ints, Longs


class RowSpace:
    """Rows of numbers under squared Euclidean distance; the centre is their mean."""

    def __init__(self, rows: Floats) -> None:
        self._rows = rows

    def from_centre(self, units: Longs) -> Floats:
        return self._squares(self._rows[units].mean(axis=0), units)

    def from_unit(self, unit: int, units: Longs) -> Floats:
        return self._squares(self._rows[unit], units)

    def _squares(self, centre: Floats, units: Longs) -> Floats:
        return np.asarray(((self._rows[units] - centre) ** 2).sum(axis=1))


class RowSizes:
    """A cluster holds at least k rows."""

    def __init__(self, k: int) -> None:
        self._k = k

    def needed(self, units: Longs) -> int:
        return self._k if self.enough(units) else 0

    def enough(self, units: Longs) -> bool:
        return len(units) >= self._k


def information_loss(rows: Floats, labels: Ints) -> float:
    """100 SSE / SST with the clusters' means for their rows."""
    means = np.stack([rows[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    within = ((rows - means[labels]) ** 2).sum()
    return float(100.0 * within / ((rows - rows.mean(axis=0)) ** 2).sum())
