"""Sums by group, as floats whatever is summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.core.records import Floats, Longs


def sums_by(groups: Longs, values: NDArray[Any], count: int) -> Floats:
    """Sum of the values of each group 0 … count - 1."""
    return np.asarray(np.bincount(groups, values, minlength=count), dtype=np.float64)
