"""Texts kept as bytes against lists of strings."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core import columns, record_table, texts
from tasks.core.arrays import narrowed
from tasks.core.columns import columns_in
from tasks.core.detection.readings import Item, pack_readings
from tasks.core.record_table import build_record_table, find_forms
from tasks.core.texts import TextColumn, TextGatherer, Texts
from tasks.runtime import columns as runtime_columns
from tasks.runtime.columns import ColumnFiles
from tests.helpers.random_logs import equal_bits, spans
from tests.helpers.strategies import mini_taxonomy

# Of lengths around the eight bytes that are compared at a time.
TEXT = st.text(alphabet="ab é😀", max_size=20) | st.sampled_from(["a" * n for n in range(7, 26)])


@given(st.lists(st.lists(TEXT, max_size=8), max_size=5), st.data())
def test_a_column_holds_each_text_once(batches: list[list[str]], data: st.DataObject) -> None:
    rows = [text for batch in batches for text in batch]
    with patch.object(texts, "TEXTS_AT_A_TIME", 3):
        gathered = TextGatherer()
        for batch in batches:
            gathered.add(batch)
        column = gathered.column()
        assert column.tolist() == rows
        assert list(column.distinct) == sorted(set(rows))
        chosen = data.draw(st.lists(st.sampled_from(range(len(rows))))) if rows else []
        some = column[np.array(chosen, dtype=np.int64)]
        assert some.tolist() == [rows[place] for place in chosen]
        assert list(some.distinct) == sorted(set(some.tolist()))


def test_no_text_is_shown_by_accident() -> None:
    assert "zyxwvcanary" not in repr(TextColumn.of(["zyxwvcanary"]))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 127], np.int8),
        ([-128, 5], np.int8),
        ([128], np.int16),
        ([-129], np.int16),
        ([], np.int8),
    ]
    + [([2**31 - 1], np.int32), ([2**31], np.int64), ([-(2**31) - 1], np.int64)],
)
def test_numbers_are_as_narrow_as_they_can_be(values: list[int], kind: type) -> None:
    found = narrowed(np.array(values, dtype=np.int64))
    assert found.dtype == np.dtype(kind)
    assert found.tolist() == values
    assert narrowed(found, np.int32).dtype.itemsize >= 4


# Memory: bytes of one row more, whatever is held at a time.


def bytes_a_row(work: Callable[[int], object], few: int = 5_000) -> float:
    """How much higher the peak is for each of some further rows."""
    peaks = []
    for count in (few, few, 3 * few):
        tracemalloc.start()
        work(count)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[2] - peaks[1]) / (2 * few)


def said(number: int) -> str:
    return f"word{number % 97} of some{number % 101} query {number % 89}"


def test_texts_take_few_bytes_a_row() -> None:
    def gather(count: int) -> None:
        gathered = TextGatherer()
        for start in range(0, count, 250):
            gathered.add([said(2 * n // 3) for n in range(start, start + 250)])
        assert len(gathered.column()) == count

    with patch.object(texts, "TEXTS_AT_A_TIME", 1 << 9):
        assert bytes_a_row(gather) < 100


def test_records_take_few_bytes_a_row(tmp_path: Path) -> None:
    """What is made of texts and readings, these and columns not counted."""

    def build(count: int) -> None:
        text_of = np.arange(count, dtype=np.int32) * 2 // 3
        distinct = sorted(said(n) for n in range(int(text_of[-1]) + 1))
        items = [Item("word", 5), *[Item("", -1)] * 4]
        read = ((spans(text), items) for text in distinct)
        given = Texts.of(distinct), pack_readings(read), text_of, mini_taxonomy()
        del distinct
        tracemalloc.clear_traces()
        tracemalloc.reset_peak()
        found = find_forms(*given, threshold=0.8, inclusive=False)
        table = build_record_table(
            *(found, text_of, np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int64)),
            stop_words=frozenset(),
            bits_of=equal_bits,
        )
        assert len(table) == count

    with (
        patch.object(texts, "TEXTS_AT_A_TIME", 1 << 9),
        patch.object(record_table, "FORMS_AT_A_TIME", 1 << 9),
        patch.object(columns, "ROWS_AT_A_TIME", 1 << 9),
        patch.object(runtime_columns, "LEAST_BYTES", 1 << 9),
        columns_in(ColumnFiles(tmp_path, most_in_memory=0)),
    ):
        assert bytes_a_row(build) < 80
