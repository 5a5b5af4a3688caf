"""Redaction word by word: every published word is used by k people (guarantee ``terms``).

All records of a cluster publish the same concepts, as in strict mode, but a word stays wherever
k people use it, and times are cut to the day. More text survives; somebody who knows several
words of a query may still find its row.
"""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import owners, ragged_from_keys, ragged_keys, take_ragged
from tasks.core.records import WORD, Clusters, Flags, Ints, RecordTable, Release
from tasks.core.redaction.published import PublishedSets
from tasks.core.redaction.reading import said_terms
from tasks.core.redaction.variants import Rows, publish_each


def redact_by_terms(
    table: RecordTable, clusters: Clusters, published: PublishedSets, *, k: int
) -> Release:
    """Publish every record that is not withheld with its words of at least k people."""
    shared = shared_words(table, ~clusters.withheld, k=k)

    def rows_of(forms: Ints, labels: Ints) -> tuple[Rows, Rows]:
        return _terms(table, forms, labels, shared, published), published.concepts(labels)

    return publish_each(table, clusters, rows_of)


def shared_words(table: RecordTable, chosen: Flags, *, k: int) -> Flags:
    """Words that at least k people use in the chosen records, shape of the vocabulary."""
    records = np.flatnonzero(chosen)
    offsets, places = take_ragged(table.forms.item_offsets, table.form_of[records])
    users = np.repeat(table.users[records], np.diff(offsets))
    plain = table.forms.item_kinds[places] == WORD
    width = int(table.users.max(initial=0)) + 1
    keys = np.unique(table.forms.item_words[places[plain]].astype(np.int64) * width + users[plain])
    return np.bincount(keys // width, minlength=len(table.words)) >= k


def _terms(
    table: RecordTable, forms: Ints, labels: Ints, shared: Flags, published: PublishedSets
) -> Rows:
    """The queries with attributes replaced in place; concepts they do not say come last."""
    said = said_terms(table, forms, labels, published)
    # The last entry is for concepts, which are negative and always stay.
    kept = np.append(shared, True)[np.maximum(said.terms, -1)]
    offsets, concepts = published.concepts(labels)
    rows = owners(offsets)
    keys = np.concatenate(
        [ragged_keys(said.queries[kept], said.terms[kept]), ragged_keys(rows, -1 - concepts)]
    )
    by_row = keys[np.argsort(np.concatenate([said.queries[kept], rows]), kind="stable")]
    first = np.sort(np.unique(by_row, return_index=True)[1])
    return ragged_from_keys(by_row[first], len(forms))
