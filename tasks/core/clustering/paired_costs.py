"""The graded cost of many pairs of sets at once."""

from __future__ import annotations

import numpy as np

from tasks.core.records import Floats, Longs
from tasks.core.rows import take_rows
from tasks.core.similarity.costs import SetCosts


def paired_costs(costs: SetCosts, left: Longs, right: Longs) -> Floats:
    """Cost of one record of set left[i] if set right[i] is published for it, shape (pairs,)."""
    return _lost(costs, left, right) + _lost(costs, right, left)


def _lost(costs: SetCosts, left: Longs, right: Longs) -> Floats:
    """What is lost of set left[i] if right[i] is published: squares to the nearest class."""
    if not len(left):
        return np.zeros(0)
    left_offsets, left_places = take_rows(costs.offsets, left)
    pair = np.repeat(np.arange(len(left)), np.diff(left_offsets))
    right_offsets, right_places = take_rows(costs.offsets, right[pair])
    owner = np.repeat(left_places, np.diff(right_offsets))
    squares = costs.squares[costs.classes[owner], costs.classes[right_places]]
    nearest = np.minimum.reduceat(squares, right_offsets[:-1]).astype(np.float64)
    return np.asarray(np.add.reduceat(nearest, left_offsets[:-1]))
