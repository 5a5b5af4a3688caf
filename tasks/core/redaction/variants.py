"""Publishing record by record: what a form publishes in its cluster, its time cut to the day."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tasks.core.records import (
    NO_TIME,
    TIME_DAY,
    TIME_NONE,
    Clusters,
    Ints,
    RecordTable,
    Release,
)
from tasks.core.rows import compress, cut_times

Row = tuple[Sequence[int], Ints]
"""The terms and the concepts that a row publishes."""


def publish_each(
    table: RecordTable, clusters: Clusters, row_of: Callable[[int, int], Row]
) -> Release:
    """Publish every record that is not withheld and of which something is left.

    Args:
        row_of: the published row of a form in a cluster (-1: a form without attributes).
    """
    records = np.flatnonzero(~clusters.withheld)
    days = cut_times(table.times, TIME_DAY)
    variants = np.stack([table.form_of, clusters.labels, days], axis=1)[records]
    distinct, inverse = np.unique(variants, axis=0, return_inverse=True)
    rows = [row_of(form, label) for form, label, _ in distinct.tolist()]
    kept = np.array([len(terms) > 0 for terms, _ in rows], dtype=np.bool_)
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    class_of = np.full(len(table), -1, dtype=np.int32)
    class_of[records] = number[inverse.ravel()]
    term_offsets, terms = compress([terms for terms, _ in rows if len(terms)])
    concept_offsets, concepts = compress([concepts for terms, concepts in rows if len(terms)])
    labels, times = distinct[kept, 1], distinct[kept, 2]
    return Release(
        class_of=class_of,
        term_offsets=term_offsets,
        terms=terms,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=times.copy(),
        precisions=np.where(times == NO_TIME, TIME_NONE, TIME_DAY).astype(np.int32),
        clusters=labels.astype(np.int32),
    )
