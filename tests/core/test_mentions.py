"""All concepts that a record mentions are kept, not only those that stand for others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.mentions import mentions_of
from tasks.core.records import RecordTable
from tests.helpers.strategies import logs


def mentioned(table: RecordTable, record: int) -> list[int]:
    """By hand, item by item."""
    form = table.form_of[record]
    start, end = table.forms.item_offsets[form : form + 2]
    return sorted({int(c) for c in table.forms.item_concepts[start:end] if c >= 0})


@given(st.data())
def test_each_record_has_the_concepts_of_its_query(data: st.DataObject) -> None:
    _, table = data.draw(logs())
    chosen = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=20)) if len(table) else []
    mentions, sets = mentions_of(table, np.array(chosen, dtype=np.int64))
    found = [sets.row(number).tolist() for number in mentions.tolist()]
    assert found == [mentioned(table, record) for record in chosen]
    rows = [tuple(sets.row(number).tolist()) for number in range(len(sets))]
    assert len(set(rows)) == len(rows), "each set once"
    assert set(mentions.tolist()) == set(range(len(sets))), "no set too many"
