"""Losses in parts: the figures of one piece, whatever the parts are."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information_loss import information_loss, loss_of, loss_sums, shown_rows
from tasks.core.records import RecordTable
from tasks.core.taxonomy import Taxonomy
from tasks.runtime.codec import pack, unpack
from tests.core.measures.test_information_loss import publishing
from tests.helpers.random_logs import tables

SIZES = st.integers(1, 12)


@settings(max_examples=40)
@given(tables(), SIZES, st.data())
def test_the_loss_adds_up_over_parts(
    log: tuple[Taxonomy, RecordTable], size: int, data: st.DataObject
) -> None:
    taxonomy, table = log
    release = publishing(table, [data.draw(st.integers(0, len(taxonomy) - 1))])
    masks = data.draw(st.lists(st.integers(0, 3), min_size=len(taxonomy), max_size=len(taxonomy)))
    topics = TopicMap(("one", "two"), np.array(masks, dtype=np.uint32))
    centre = np.array([data.draw(st.integers(0, len(taxonomy) - 1))], dtype=np.int32)
    whole = information_loss(table, release, centre, taxonomy, topics, inclusive=False)
    parts = [unpack(pack(rows)) for rows in shown_rows(table, release, rows_per_part=size)]
    assert sum(int(rows.counts.sum()) for rows in parts) == int((table.set_of >= 0).sum())
    sums = [loss_sums(rows, centre, taxonomy, topics, inclusive=False) for rows in parts]
    found = asdict(loss_of((unpack(pack(own)) for own in sums), topics))
    assert found.pop("by_topic") == pytest.approx(whole.by_topic)
    assert found == pytest.approx({k: v for k, v in asdict(whole).items() if k != "by_topic"})
