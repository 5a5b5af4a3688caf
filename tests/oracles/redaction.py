"""Releases row by row, to be compared and to be made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Ragged, ragged_of, split_ragged
from tasks.core.records import Ints, Release


class Row(NamedTuple):
    """What some records publish."""

    terms: list[int]
    concepts: list[int]
    time: int
    precision: int
    cluster: int
    records: list[int]


def rows_of(release: Release) -> list[Row]:
    """The rows of a release, to be compared."""
    return [
        Row(terms.tolist(), concepts.tolist(), time, precision, cluster, records.tolist())
        for terms, concepts, time, precision, cluster, records in zip(
            split_ragged(release.term_offsets, release.terms),
            split_ragged(release.concept_offsets, release.concepts),
            release.times.tolist(),
            release.precisions.tolist(),
            release.clusters.tolist(),
            [np.flatnonzero(release.class_of == row) for row in range(release.class_count)],
            strict=True,
        )
    ]


def form_by_form(
    row_of: Callable[[int, int], tuple[Sequence[int], Ints]],
) -> Callable[[Ints, Ints], tuple[Ragged, Ragged]]:
    """What `publish_each` asks for, from the terms and concepts of one form in its cluster."""

    def rows_of(forms: Ints, labels: Ints) -> tuple[Ragged, Ragged]:
        rows = [row_of(*pair) for pair in zip(forms.tolist(), labels.tolist(), strict=True)]
        return ragged_of([terms for terms, _ in rows]), ragged_of([found for _, found in rows])

    return rows_of
