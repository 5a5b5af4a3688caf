"""Why records are withheld: counted by measures, and told record by record in the private audit."""

from __future__ import annotations

import numpy as np

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
from tasks.core.rows.levels import VAGUEST, LogLevels, SharedNodes, form_ranges
from tasks.core.taxonomy import Taxonomy


def withheld_reasons(table: RecordTable, published: Flags, taxonomy: Taxonomy, *, k: int) -> Ints:
    """The reason of each record, PUBLISHED for those that are."""
    said = np.add.reduceat(
        np.append(table.forms.item_kinds != IDENTIFIER, False), table.forms.item_offsets[:-1]
    )
    nothing = (said == 0) | (np.diff(table.forms.item_offsets) == 0)
    silent, sharp, vague = _shared_levels(table, taxonomy, k=k)
    of_form = np.select(
        [nothing, silent, vague & ~sharp], [IDENTIFIERS_ONLY, FILLERS_ONLY, TOO_VAGUE], TOO_FEW
    )
    return np.where(published, PUBLISHED, of_form[table.form_of]).astype(np.int32)


def _shared_levels(table: RecordTable, taxonomy: Taxonomy, *, k: int) -> tuple[Flags, Flags, Flags]:
    """Forms without a level; with one that k people share and that says enough; with one that
    does not."""
    log = LogLevels(table, taxonomy, vaguest=0.0, fillers=False)
    shared = SharedNodes(log.node_count, table.users, k)
    records = np.searchsorted(table.form_of, np.arange(len(table.forms) + 1))
    for forms in form_ranges(len(log)):
        levels = log.of(forms)
        shared.add(levels.nodes, forms[levels.forms], records)
    silent, sharp, vague = (np.zeros(len(log), dtype=np.bool_) for _ in range(3))
    for forms in form_ranges(len(log)):
        levels = log.of(forms)
        silent[forms] = np.diff(levels.item_offsets) == 0
        says = (levels.nodes < levels.words) | (levels.bits >= VAGUEST)
        held, own = shared.enough[levels.nodes], forms[levels.forms]
        sharp[own[held & says]] = True
        vague[own[held & ~says]] = True
    return silent, sharp, vague
