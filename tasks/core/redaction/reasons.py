"""Why records are withheld: counted by measures, and told record by record in the private audit."""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import people_per_label, take_ragged
from tasks.core.records import (
    FILLERS_ONLY,
    IDENTIFIER,
    IDENTIFIERS_ONLY,
    PUBLISHED,
    TOO_FEW,
    TOO_VAGUE,
    Flags,
    Ints,
    RecordTable,
)
from tasks.core.rows.levels import VAGUEST, ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy


def withheld_reasons(table: RecordTable, published: Flags, taxonomy: Taxonomy, *, k: int) -> Ints:
    """The reason of each record, PUBLISHED for those that are."""
    said = np.add.reduceat(
        np.append(table.forms.item_kinds != IDENTIFIER, False), table.forms.item_offsets[:-1]
    )
    nothing = (said == 0) | (np.diff(table.forms.item_offsets) == 0)
    levels = item_levels(table, taxonomy)
    silent = np.diff(levels.item_offsets) == 0
    sharp, vague = _shared_levels(table, levels, k=k)
    of_form = np.select(
        [nothing, silent, vague & ~sharp], [IDENTIFIERS_ONLY, FILLERS_ONLY, TOO_VAGUE], TOO_FEW
    )
    return np.where(published, PUBLISHED, of_form[table.form_of]).astype(np.int32)


def _shared_levels(table: RecordTable, levels: ItemLevels, *, k: int) -> tuple[Flags, Flags]:
    """Forms with a level that k people share: one that says enough, and one that does not."""
    counts = np.diff(levels.level_offsets[levels.item_offsets])
    form_of_level = np.repeat(np.arange(len(levels)), counts)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    offsets, places = take_ragged(bounds, table.form_of)
    users = np.repeat(table.users, np.diff(offsets))
    nodes = levels.nodes.astype(np.int64)
    shared = people_per_label(nodes[places], users, int(nodes.max(initial=-1)) + 1) >= k
    sharp = (nodes < levels.words) | (levels.bits >= VAGUEST)
    held = shared[nodes] if len(nodes) else np.zeros(0, dtype=np.bool_)
    return (
        np.bincount(form_of_level[held & sharp], minlength=len(levels)) > 0,
        np.bincount(form_of_level[held & ~sharp], minlength=len(levels)) > 0,
    )
