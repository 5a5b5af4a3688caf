"""All concepts that queries mention, before similar ones are represented by one (Algorithm 1)."""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import owners, ragged_from_keys, ragged_keys, split_ragged, take_ragged
from tasks.core.records import AttributeSets, Ints, Longs, RecordTable


def mentions_of(table: RecordTable, records: Longs) -> tuple[Ints, AttributeSets]:
    """The concepts that some records mention, each once, ascending.

    Returns:
        For each record which set it mentions, and the distinct sets.
    """
    forms, form_of = np.unique(table.form_of[records], return_inverse=True)
    offsets, places = take_ragged(table.forms.item_offsets, forms)
    concepts, owner = table.forms.item_concepts[places], owners(offsets)
    keys = np.unique(ragged_keys(owner, concepts)[concepts >= 0])
    offsets, concepts = ragged_from_keys(keys, len(forms))
    numbers: dict[bytes, int] = {}
    set_of_form = [
        numbers.setdefault(row.tobytes(), len(numbers)) for row in split_ragged(offsets, concepts)
    ]
    _, first = np.unique(set_of_form, return_index=True)
    set_offsets, places = take_ragged(offsets, first)
    sets = AttributeSets(offsets=set_offsets, concepts=concepts[places])
    return np.array(set_of_form, dtype=np.int32)[form_of], sets
