"""A log narrowed down to some records: no more than their redaction needs, numbered anew.

Numbers keep their order, so ties are decided as in the whole log; and what was narrowed down to
different records cannot be joined by its users or words.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from tasks.core.arrays import take_ragged
from tasks.core.records import (
    TIME_HOUR,
    WORD,
    AttributeSets,
    Flags,
    Ints,
    Longs,
    QueryForms,
    RecordTable,
    Strings,
    cut_times,
)

_NO_WORDS = cast("Strings", np.zeros(0, dtype=np.str_))
"""An array of strings, not of objects, can be written to a file without a pickle."""
_NOTHING: Ints = np.zeros(0, dtype=np.int32)


def narrowed(table: RecordTable, records: Longs) -> RecordTable:
    """A table of these records, ascending, with their forms and sets alone.

    It holds no words and no places in the log, no time finer than any that is published, and does
    not tell what attributes and identifiers are called.
    """
    forms, form_of = np.unique(table.form_of[records], return_inverse=True)
    own_sets = table.set_of_form[forms]
    sets = np.unique(own_sets[own_sets >= 0])
    words = words_said(table, records)
    offsets, places = take_ragged(table.sets.offsets, sets)
    return RecordTable(
        forms=_narrowed_forms(table.forms, forms, words),
        sets=AttributeSets(offsets, table.sets.concepts[places]),
        set_of_form=_ranks(own_sets, sets, own_sets >= 0),
        form_of=form_of.astype(np.int32),
        users=np.unique(table.users[records], return_inverse=True)[1].astype(np.int32),
        times=cut_times(table.times[records], TIME_HOUR),
        log_rows=_NOTHING,
        words=_NO_WORDS,
        fillers=table.fillers[words],
        in_doubt=0,
        identifiers=np.zeros_like(table.identifiers),
    )


def words_said(table: RecordTable, records: Longs) -> Ints:
    """The plain words of these records, ascending: word w of their own table is words_said[w]."""
    _, items = take_ragged(table.forms.item_offsets, np.unique(table.form_of[records]))
    return np.unique(table.forms.item_words[items[table.forms.item_kinds[items] == WORD]])


def _narrowed_forms(forms: QueryForms, chosen: Ints, words: Ints) -> QueryForms:
    item_offsets, items = take_ragged(forms.item_offsets, chosen)
    attribute_offsets, places = take_ragged(forms.attribute_offsets, chosen)
    kinds = forms.item_kinds[items]
    return QueryForms(
        item_offsets=item_offsets,
        item_words=_ranks(forms.item_words[items], words, kinds == WORD),
        item_kinds=kinds,
        item_concepts=np.full(len(items), -1, dtype=np.int32),
        item_slots=forms.item_slots[items],
        attribute_offsets=attribute_offsets,
        attributes=forms.attributes[places],
        weights=forms.weights[places],
    )


def _ranks(values: Ints, among: Ints, held: Flags) -> Ints:
    """The rank of each held value among some, which are ascending; -1 for the others."""
    return np.where(held, np.searchsorted(among, values), -1).astype(np.int32)
