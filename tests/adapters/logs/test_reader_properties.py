"""Reading logs: what is written is read back, and garbage does no harm."""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.adapters.logs.reader import read_logs
from tasks.core.counted import folded_id, is_nobody
from tasks.core.log_options import LogOptions
from tasks.core.records import QueryLog
from tests.adapters.logs.logwriters import (
    MOMENT,
    ROWS,
    WRITERS,
    Row,
    as_csv,
    assert_holds,
    every_format,
    outcome,
)

any_file = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


ids = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8).filter(
    lambda text: not is_nobody(folded_id(text))
)
line_text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r"), max_size=30
)
queries = line_text.map(str.strip).filter(lambda text: text not in ("", "-"))
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(microsecond=0).isoformat(" ")
)
row_lists = st.lists(st.tuples(ids, queries, st.just("") | moments), max_size=12)


@every_format
@any_file
@given(rows=row_lists)
def test_what_is_written_is_read_back(tmp_path: Path, format: str, rows: list[Row]) -> None:
    path = tmp_path / "log"
    path.write_bytes(WRITERS[format](rows))
    assert_holds(read_logs([path], LogOptions(format=format, exact_ids=True)), rows)


@any_file
@given(rows=st.lists(st.tuples(ids, st.text('"a,\r\n ', min_size=1), st.just("")), max_size=9))
def test_csv_agrees_with_the_standard_library(tmp_path: Path, rows: list[Row]) -> None:
    path = tmp_path / "log"
    path.write_bytes(as_csv(rows))
    log = read_logs([path], LogOptions(format="csv"))
    filled = [query.strip() for _, query, _ in rows if query.strip()]
    assert log.texts.tolist() == filled
    assert log.rows_read == len(rows)


structure = [b"\t", b"\t", b"\n", b"\n", b",", b'"', b"{", b"}", b":", b"\r", b"PAR1", b"[1]"]
content = [b"7", b"cats", b'"query"', b"query", b"user", b"AnonID", b"-", b" ", MOMENT.encode()]
pieces = st.sampled_from([*structure, *content, b"\0", b"\xff"])
garbage = st.binary(max_size=200) | st.lists(pieces, max_size=40).map(b"".join)


@pytest.mark.parametrize("format", ["auto", *WRITERS])
@any_file
@given(content=garbage)
def test_garbage_raises_nothing_of_its_own(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    columns = {"query": "1"} if len(content) % 2 else {}
    found = outcome(path, format=format, columns=columns)
    assert isinstance(found, QueryLog) or found.__context__ is None


@pytest.mark.parametrize("format", ["aol", "tsv"])
@any_file
@given(content=garbage)
@example(content=b"\n\n7\tcats\t\n\n\n")
def test_no_line_is_lost(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "log"
    header = b"AnonID\tQuery\tQueryTime\n"
    path.write_bytes(header + content)
    log = read_logs([path], LogOptions(format=format))
    lines = [line.removesuffix(b"\r") for line in content.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    assert log.rows_read == len(lines)
    assert set(log.reject_rows.tolist()) <= set(range(2, len(lines) + 2))


@pytest.mark.parametrize("format", ["csv", "jsonl"])
@any_file
@given(content=garbage)
def test_no_line_is_lost_without_quotes(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "log"
    start = {"csv": b"user,query\n", "jsonl": b'{"user": 1, "query": "cats"}\n'}[format]
    content = content.replace(b'"', b"")
    path.write_bytes(start + content)
    lines = [line.removesuffix(b"\r") for line in content.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    assert read_logs([path], LogOptions(format=format)).rows_read == len(lines) + (
        format == "jsonl"
    )


@any_file
@given(place=st.integers(0, 2000), byte=st.integers(0, 255), format=st.sampled_from([*WRITERS]))
def test_one_damaged_byte_raises_nothing_of_its_own(
    tmp_path: Path, place: int, byte: int, format: str
) -> None:
    content = bytearray(gzip.compress(WRITERS[format](ROWS), mtime=0))
    content[place % len(content)] = byte
    (tmp_path / "log").write_bytes(content)
    found = outcome(tmp_path / "log")
    assert isinstance(found, QueryLog) or found.__context__ is None
