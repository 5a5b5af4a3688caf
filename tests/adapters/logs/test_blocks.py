"""Rows that are read many at a time are those that are read one by one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.adapters.logs import delimited, reader
from tasks.adapters.logs.files import LINE_LIMIT, open_log
from tasks.adapters.logs.reader import read_logs
from tasks.adapters.logs.values import QUERY_LIMIT, judge
from tasks.core.detection.readings import normalise
from tasks.core.log_options import LogOptions
from tasks.core.records import QueryLog
from tasks.core.texts import TextColumn
from tasks.errors import LogveilError
from tests.adapters.logs.logwriters import AOL_HEADER, MOMENT, ROWS, as_aol, as_tsv, outcome

SIZES = [1, 7, 40, 200, 1000]

ids = st.sampled_from(["7", "007", "7.0", "8", "u9", "U9", "9 ", " 9", "", "-", "guest", "é", "\0"])
plain_queries = st.sampled_from(["cats", "cats and dogs", "Cats AND Dogs", "a", "ab", "-", "--"])
odd_queries = st.sampled_from(
    ["", " ", " cats", "cats ", "cats  and dogs", '"cats"', "ünï", "ÜNÏ\u3000x", "\x85", "ca\x7fts"]
    + ["ca\0ts", "\x1fcats", "cats\r", "x" * QUERY_LIMIT, "x" * (QUERY_LIMIT + 1), "\u2028"]
)
moments = st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat(" "))
odd_times = st.sampled_from(
    ["2006-02-30 00:00:00", "0000-01-01 00:00:00", "2006-03-01 24:00:00", "2006-03-01 07:17:60"]
    + ["2006-03-01T07:17:12", "2006-03-01T07:17:12Z", "9999-12-31 23:59:59-05:00", "1141197432"]
    + [f" {MOMENT}", f"{MOMENT} ", "13/04/2006 07:17:12", "03/04/2006", "soon", "2006-03-01", "-"]
)
clicks = st.sampled_from(["", "", "\t\t", "\t\t", "\t3\thttp://x.org", "\t", "\t\t\t", "\t  \té"])
ends = st.sampled_from(["\n"] * 12 + ["\r\n", "\n\n", "\n\r\n", "\n \n", "\n\t\t\n", ""])


def lines_of(queries: st.SearchStrategy[str], times: st.SearchStrategy[str]) -> Any:
    parts = st.tuples(ids, queries, times)
    return st.builds(lambda row, end: "\t".join(row) + end, parts, clicks.flatmap(ended))


def ended(clicked: str) -> st.SearchStrategy[str]:
    return ends.map(clicked.__add__)


plain_lines = st.builds(
    "{}\t{}\t{}\t\t\n".format, st.sampled_from(["7", "8", "007"]), plain_queries, moments
)
any_lines = lines_of(plain_queries | odd_queries, st.just("") | moments | odd_times)
text_lines = (plain_lines | any_lines).map(lambda text: text.encode("utf-8", "surrogatepass"))
junk = st.binary(max_size=12) | st.sampled_from(
    [b"\xff\n", b"7\tcaf\xe9\t\t\t\n", b"\n\n\n", b"\r"]
)
heads = st.sampled_from(
    [AOL_HEADER, "user\tquery\ttime\n", "query\tuser\ttime\t\t\n", "\n\nuser\tquery\ttime\t\t\n"]
    + ["", "", "\ufeffAnonID\tQuery\tQueryTime\r\n"]
)
contents = st.builds(
    lambda head, lines: head.encode() + b"".join(lines),
    heads,
    st.lists(text_lines, max_size=25)
    | st.lists(plain_lines.map(str.encode), max_size=25)
    | st.lists(text_lines | junk, max_size=25),
)
options = st.builds(
    lambda format, order, exact, whom: LogOptions(
        format=format, date_order=order, exact_ids=exact, **whom
    ),
    st.sampled_from(["aol", "tsv"]),
    st.sampled_from(["auto", "day-first"]),
    st.booleans(),
    st.sampled_from(
        [{}, {}, {"person": "row"}, {"columns": {"user": "1", "query": "2"}}]
        + [{"columns": {"user": "1", "query": "2", "time": "3"}}]
        + [{"columns": {"user": "1", "query": "3"}}, {"person": "row", "columns": {"query": "2"}}]
    ),
)


def read(path: Path, said: LogOptions, chunk_bytes: int) -> QueryLog | str:
    """Two files of the same content, or the error."""
    opened = partial(open_log, chunk_bytes=chunk_bytes)
    with patch.object(reader, "open_log", opened):
        try:
            return read_logs([path / "a", path / "b"], said, secret=b"s", spelt=normalise)
        except LogveilError as fault:
            return f"{type(fault).__name__}: {fault}"


def told(log: QueryLog | str) -> Any:
    """All that a log says, to be compared."""
    if isinstance(log, str):
        return log
    return {each.name: _plain(getattr(log, each.name)) for each in fields(log)}


def _plain(value: Any) -> Any:
    if isinstance(value, TextColumn):
        return value.tolist(), list(value.distinct)
    return (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=contents, said=options, size=st.sampled_from(SIZES))
@example(content=as_aol(ROWS * 3), said=LogOptions(format="aol"), size=40)
@example(content=as_tsv(ROWS * 3), said=LogOptions(format="tsv"), size=7)
# Empty lines at the end of a block, of which only those behind the last row are none.
@example(content=b"7\tcats\t\n\n\n8\tdogs\t\n\n\n", said=LogOptions(format="aol"), size=9)
@example(content=b"7\tcats\t\n\n8\tcats\t\n\r\n\n", said=LogOptions(format="aol"), size=1000)
@example(content=b"7\tcats\t\n" * 5 + b"7\tcaf\xe9\t\n", said=LogOptions(format="aol"), size=9)
# The names of columns may look like a row.
@example(content=b"user\tquery\n7\tcats\n", said=LogOptions(format="tsv"), size=1000)
@example(
    content="".join(f"7\t{'x' * (QUERY_LIMIT + n)}\t\n" for n in (0, 1)).encode(),
    said=LogOptions(format="aol"),
    size=100_000,
)
# Nobody is known by a row that is set aside.
@example(content=b"7\tcats\t\n8\tcats\tsoon\n9\t-\t\n" * 2, said=LogOptions(format="aol"), size=40)
@example(content=b"\t\t\n" * 9, said=LogOptions(format="aol"), size=7)
def test_blocks_hold_what_rows_hold(
    tmp_path: Path, content: bytes, said: LogOptions, size: int
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(content)
    in_blocks = read(tmp_path, said, size)
    with patch.object(delimited, "blocks_of", lambda *_: None):
        in_rows = read(tmp_path, said, 1 << 20)
    assert told(in_blocks) == told(in_rows)


@pytest.mark.parametrize("length", [LINE_LIMIT - 1, LINE_LIMIT, LINE_LIMIT + 1])
def test_a_line_may_be_so_long_and_no_longer(tmp_path: Path, length: int) -> None:
    start = f"7\tcats\t{MOMENT}\t1\t"
    lines = ["8\tdogs\t\t\t", start + "x" * (length - len(start)), "9\tbirds\t\t\t"]
    (tmp_path / "log").write_text("\n".join(lines))
    log = outcome(tmp_path / "log", format="aol")
    assert isinstance(log, QueryLog)
    assert log.rows.tolist() == ([1, 2, 3] if length <= LINE_LIMIT else [1, 3])
    assert log.reject_rows.tolist() == ([] if length <= LINE_LIMIT else [2])


def test_plain_rows_are_not_looked_at_one_by_one(tmp_path: Path) -> None:
    """Else all of this would be for nothing."""
    count = 3_000
    rows = [(str(1 + n % 7), f"query number {n % 50}", MOMENT) for n in range(count)]
    odd = [("7", "-", MOMENT), ("7", "ünïcode", MOMENT), ("guest", "dogs", MOMENT)]
    (tmp_path / "log").write_bytes(as_aol([*rows, *odd, *rows]))
    seen: list[object] = []
    with ExitStack() as stack:
        judged = partial(_seen, seen, judge)
        stack.enter_context(patch.object(reader, "judge", judged))
        log = read_logs([tmp_path / "log"])
    assert len(log.texts) == 2 * count + 1
    assert len(seen) == len(odd)


def _seen(seen: list[object], judged: Any, *given: Any) -> Any:
    seen.append(given)
    return judged(*given)


plain_texts = st.lists(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
).map(" ".join)


@given(st.lists(plain_texts, max_size=8))
def test_plain_texts_are_spelt_together(texts: list[str]) -> None:
    """What `TextGatherer` asks of a spelling."""
    ends = [0, *accumulate(map(len, texts))]
    together = normalise("".join(texts))
    assert [together[a:b] for a, b in pairwise(ends)] == [normalise(text) for text in texts]
