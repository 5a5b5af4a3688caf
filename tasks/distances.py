"""Distances of concepts (Eq. 1) by block pair, by this process or by several: the same values."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.containment import contained
from tasks.core.concepts import class_distances
from tasks.core.records import Ints
from tasks.core.runs import Run
from tasks.knowledge import Knowledge

BLOCK: Final = 4096
"""Rows and columns of a block: half a second of work, whose result takes 64 MB."""

Distances = NDArray[np.float32]


def distances_in_blocks(
    known: Knowledge, left: Ints, right: Ints, run: Run, *, inclusive: bool
) -> Distances:
    """As `class_distances`; of a table that mirrors itself one half is computed."""
    matrix = np.empty((len(left), len(right)), dtype=np.float32)
    alike = np.array_equal(left, right)
    starts = ((row, column) for row in _starts(left) for column in _starts(right))
    pairs = [(row, column) for row, column in starts if row <= column or not alike]
    shards = (
        (known, left[row : row + BLOCK], right[column : column + BLOCK], inclusive)
        for row, column in pairs
    )
    for (row, column), block in zip(pairs, run(distances_of_block, shards), strict=True):
        matrix[row : row + BLOCK, column : column + BLOCK] = block
        if alike and row < column:
            matrix[column : column + BLOCK, row : row + BLOCK] = block.T
    return matrix


def _starts(concepts: Ints) -> range:
    return range(0, len(concepts), BLOCK)


@contained
def distances_of_block(known: Knowledge, left: Ints, right: Ints, inclusive: bool) -> Distances:
    """Each of some concepts with each of some others; runs in a worker."""
    return class_distances(known.taxonomy, left, right, inclusive=inclusive)
