"""Why records are withheld: counted by measures, and told record by record in the private audit."""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import owners, people_of
from tasks.core.columns import computed
from tasks.core.records import (
    FILLERS_ONLY,
    IDENTIFIER,
    IDENTIFIERS_ONLY,
    PUBLISHED,
    TOO_FEW,
    TOO_VAGUE,
    Flags,
    Narrow,
    RecordTable,
)
from tasks.core.rows.levels import VAGUEST, LogLevels, SharedNodes
from tasks.core.taxonomy import Taxonomy


def withheld_reasons(table: RecordTable, published: Flags, taxonomy: Taxonomy, *, k: int) -> Narrow:
    """The reason of each record, PUBLISHED for those that are; a column."""
    of_form = _reasons_of_forms(table, LogLevels(table, taxonomy, vaguest=0.0, fillers=False), k)
    return computed(
        len(table),
        np.int8,
        lambda own: np.where(published[own], PUBLISHED, of_form[table.form_of[own]]),
    )


def _reasons_of_forms(table: RecordTable, log: LogLevels, k: int) -> Narrow:
    """Why records of each form are withheld if they are."""
    shared = SharedNodes(log.node_count, table.users, k)
    for forms, records in table.form_parts():
        levels = log.of(np.arange(forms.start, forms.stop))
        own = people_of(
            table.form_of[records] - np.int32(forms.start), table.users[records], len(levels)
        )
        shared.add(levels.nodes, levels.forms, *own)
    reasons = np.empty(len(log), dtype=np.int8)
    for forms, _ in table.form_parts():
        count, part = forms.stop - forms.start, table.forms.part(forms.start, forms.stop)
        levels = log.of(np.arange(forms.start, forms.stop))
        said, held = part.item_kinds != IDENTIFIER, shared.enough[levels.nodes]
        says = (levels.nodes < levels.words) | (levels.bits >= VAGUEST)
        speaks, sharp, vague = (
            np.bincount(own, minlength=count) > 0
            for own in (
                owners(part.item_offsets)[said],
                levels.forms[held & says],
                levels.forms[held & ~says],
            )
        )
        silent = np.diff(levels.item_offsets) == 0
        reasons[forms] = np.select(
            [~speaks, silent, vague & ~sharp], [IDENTIFIERS_ONLY, FILLERS_ONLY, TOO_VAGUE], TOO_FEW
        )
    return reasons
