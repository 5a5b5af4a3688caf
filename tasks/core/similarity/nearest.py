"""The nearest concepts of paired sets: what is lost and what is made up if one set is published for
the other (Eq. 11–13).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Ragged, take_ragged
from tasks.core.records import Floats, Ints, Longs, freeze
from tasks.core.similarity.distances import paired_squares
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class RowLosses:
    """Squared distances between paired rows of concepts.

    Attributes:
        lost: for each value of the left rows δ² to the nearest of its right row, 1 if that is
            empty, shape of the left values.
        made_up: for each pair of rows the sum of δ² from the right row's values to the nearest
            of the left row, shape (rows,).
    """

    lost: Floats
    made_up: Floats

    def __post_init__(self) -> None:
        freeze(self)


def row_losses(
    taxonomy: Taxonomy,
    left: Ragged,
    right: Ragged,
    *,
    inclusive: bool,
) -> RowLosses:
    """Compare row i of `left` with row i of `right` (offsets and values of each)."""
    left_values, (right_offsets, right_values) = left[1], right
    right_sizes = np.diff(right_offsets)
    owner, places = _facing(left[0], right_offsets)
    squares = paired_squares(
        taxonomy, left_values[owner], right_values[places], inclusive=inclusive
    )
    lost = np.ones(len(left_values))
    np.minimum.at(lost, owner, squares)
    nearest = np.ones(len(right_values))
    np.minimum.at(nearest, places, squares)
    right_row = np.repeat(np.arange(len(right_sizes)), right_sizes)
    made_up = np.bincount(right_row, nearest, minlength=len(right_sizes)).astype(np.float64)
    return RowLosses(lost, made_up)


def nearest_values(
    taxonomy: Taxonomy,
    left: Ragged,
    right: Ragged,
    *,
    inclusive: bool,
) -> Ints:
    """For each value of the left rows the nearest of its right row, ties by concept; -1: none."""
    left_values, right_values = left[1], right[1]
    owner, places = _facing(left[0], right[0])
    facing = right_values[places]
    squares = paired_squares(taxonomy, left_values[owner], facing, inclusive=inclusive)
    order = np.lexsort((facing, squares, owner))
    owners, first = np.unique(owner[order], return_index=True)
    nearest = np.full(len(left_values), -1, dtype=np.int32)
    nearest[owners] = facing[order][first]
    return nearest


def _facing(left_offsets: Longs, right_offsets: Longs) -> tuple[Longs, Longs]:
    """Every left value with every value of its right row, as places in the two value lists."""
    left_row = np.repeat(np.arange(len(left_offsets) - 1), np.diff(left_offsets))
    _, places = take_ragged(right_offsets, left_row)
    owner = np.repeat(np.arange(len(left_row)), np.diff(right_offsets)[left_row])
    return owner, places
