"""Publishing record by record: what a form publishes in its cluster, its time cut to the day."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tasks.core.arrays import group_by, take_ragged
from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_NONE,
    Clusters,
    Ints,
    Longs,
    RecordTable,
    Release,
    cut_times,
)

Rows = tuple[Longs, Ints]
"""Compressed rows: offsets and values."""


def publish_each(
    table: RecordTable, clusters: Clusters, rows_of: Callable[[Ints, Ints], tuple[Rows, Rows]]
) -> Release:
    """Publish every record that is not withheld and of which something is left.

    Args:
        rows_of: terms and concepts of forms[i] in clusters[i] (-1: a form without attributes).
    """
    records = np.flatnonzero(~clusters.withheld)
    days = cut_times(table.times[records], TIME_DAY)
    first, variant_of = group_by(table.form_of[records], clusters.labels[records], days)
    labels, times = clusters.labels[records[first]], days[first]
    terms, concepts = rows_of(table.form_of[records[first]], labels)
    kept = np.diff(terms[0]) > 0
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    class_of = np.full(len(table), -1, dtype=np.int32)
    class_of[records] = number[variant_of]
    concept_offsets, places = take_ragged(concepts[0], np.flatnonzero(kept))
    return Release(
        class_of=class_of,
        # Only rows without terms are dropped.
        term_offsets=np.append(terms[0][:-1][kept], terms[0][-1]),
        terms=terms[1],
        concept_offsets=concept_offsets,
        concepts=concepts[1][places],
        times=times[kept],
        precisions=np.where(times[kept] == NO_TIME, TIME_NONE, TIME_DAY).astype(np.int32),
        clusters=labels[kept],
    )
