"""The loss of each group by itself (the paper's Figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import group_by, ragged_of, take_ragged
from tasks.core.measures.losses import row_losses
from tasks.core.measures.quality import form_attributes, percent_of
from tasks.core.records import Floats, Ints, Longs
from tasks.evaluation.methods.interface import Material, Outcome


@dataclass(frozen=True, slots=True, eq=False)
class GroupLosses:
    """Squares of what is lost and made up in each group, and around the data set's centre."""

    error: Floats
    total: Floats


def group_losses(material: Material, outcome: Outcome) -> GroupLosses:
    """Eq. 12 and 13, in both directions, over the records of each group."""
    table = material.table
    members = np.flatnonzero(outcome.labels >= 0)
    first, variant_of = group_by(outcome.labels[members], table.form_of[members])
    labels = outcome.labels[members[first]].astype(np.int64)
    counts = np.bincount(variant_of, minlength=len(first)).astype(np.float64)
    forms = table.form_of[members[first]].astype(np.int64)

    def total(rows: Sequence[Ints]) -> Floats:
        costs = counts * _costs(material, forms, labels, rows)
        return np.bincount(labels, costs, minlength=len(outcome.rows)).astype(np.float64)

    return GroupLosses(total(outcome.rows), total([material.centre] * len(outcome.rows)))


def _costs(material: Material, forms: Longs, labels: Longs, rows: Sequence[Ints]) -> Floats:
    """Cost of one record of each form if the row of its label is published."""
    offsets, attributes, weights = form_attributes(material.table, forms)
    row_offsets, concepts = ragged_of(rows)
    published_offsets, places = take_ragged(row_offsets, labels)
    losses = row_losses(
        material.taxonomy,
        (offsets, attributes),
        (published_offsets, concepts[places]),
        inclusive=material.inclusive,
    )
    owners = np.repeat(np.arange(len(forms)), np.diff(offsets))
    lost = np.bincount(owners, losses.lost * weights, minlength=len(forms))
    return np.asarray(lost + losses.made_up)


def binned_losses(sizes: Longs, losses: GroupLosses) -> list[dict[str, float]]:
    """Loss over all groups of about the same size, smallest first.

    Sizes 1, 2, 3–4, 5–8 and so on are taken together; their loss is Eq. 11 over their records.
    """
    if not len(sizes):
        return []
    bins = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    found = np.unique(bins)
    return [
        {
            "mean_size": float(sizes[bins == own].mean()),
            "groups": int((bins == own).sum()),
            "records": int(sizes[bins == own].sum()),
            "loss": percent_of(losses.error[bins == own].sum(), losses.total[bins == own].sum()),
        }
        for own in found.tolist()
    ]
