"""Redaction word by word: every published word is used by k people (guarantee ``terms``).

All records of a cluster publish the same concepts, as in strict mode, but a word stays wherever
k people use it, and times are cut to the day. More text survives; somebody who knows several
words of a query may still find its row.
"""

from __future__ import annotations

import numpy as np

from tasks.core.records import ATTRIBUTE, WORD, Clusters, Flags, RecordTable, Release
from tasks.core.redaction.published import NO_CLUSTER, PublishedSets
from tasks.core.redaction.variants import Row, publish_each
from tasks.core.rows import take_rows


def redact_by_terms(
    table: RecordTable, clusters: Clusters, published: PublishedSets, *, k: int
) -> Release:
    """Publish every record that is not withheld with its words of at least k people."""
    shared = shared_words(table, ~clusters.withheld, k=k)

    def row_of(form: int, label: int) -> Row:
        return _terms(table, form, label, shared, published), published.concepts(label)

    return publish_each(table, clusters, row_of)


def shared_words(table: RecordTable, chosen: Flags, *, k: int) -> Flags:
    """Words that at least k people use in the chosen records, shape of the vocabulary."""
    records = np.flatnonzero(chosen)
    offsets, places = take_rows(table.forms.item_offsets, table.form_of[records])
    users = np.repeat(table.users[records], np.diff(offsets))
    plain = table.forms.item_kinds[places] == WORD
    width = int(table.users.max(initial=0)) + 1
    keys = np.unique(table.forms.item_words[places[plain]].astype(np.int64) * width + users[plain])
    return np.bincount(keys // width, minlength=len(table.words)) >= k


def _terms(
    table: RecordTable, form: int, label: int, shared: Flags, published: PublishedSets
) -> list[int]:
    """The query with attributes replaced in place; concepts it does not say come last."""
    forms = table.forms
    row: dict[int, None] = {}
    for item in range(forms.item_offsets[form], forms.item_offsets[form + 1]):
        word, kind = int(forms.item_words[item]), forms.item_kinds[item]
        if kind == WORD and shared[word]:
            row[word] = None
        elif kind == ATTRIBUTE and label != NO_CLUSTER:
            own_set, slot = int(table.set_of_form[form]), int(forms.item_slots[item])
            concept = published.replacement(own_set, label, slot)
            if concept >= 0:
                row[-1 - concept] = None
    row.update(dict.fromkeys(-1 - concept for concept in published.concepts(label).tolist()))
    return list(row)
