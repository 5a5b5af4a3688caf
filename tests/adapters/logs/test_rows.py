"""Reading logs: which rows are accepted, which are set aside and why, in every format."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.logs.reader import read_logs
from tasks.adapters.logs.times import FIRST, LAST, OUT_OF_RANGE, Dates
from tasks.core.counted import Counted
from tasks.core.records import NO_TIME, QueryLog
from tasks.errors import InputError, UsageError
from tests.adapters.logs.logwriters import (
    CANARY,
    MOMENT,
    ROWS,
    SECONDS,
    WRITERS,
    as_aol,
    as_jsonl,
    as_tsv,
    assert_holds,
    every_format,
    outcome,
    parquet_of,
    read_content,
    rejects,
)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., QueryLog]:
    return partial(read_content, tmp_path)


# Rows


@pytest.mark.parametrize(
    ("user", "query", "time", "reason"),
    [
        ("7", "", MOMENT, "query is empty"),
        ("7", "-", MOMENT, "query is empty"),
        ("7", "   ", MOMENT, "query is empty"),
        ("", "cats", MOMENT, "user is missing"),
        ("7", "cats", "yesterday", "time not understood"),
        ("7", "cats", "2006-02-30 00:00:00", "time not understood"),
        ("7", "cats", "-1", "time not understood"),
        ("7", "c" * 10_001, MOMENT, "query longer than 10,000 characters"),
        ("7", "c" * 1_000_000, MOMENT, "query longer than 10,000 characters"),
        ("7", "ca\0ts", MOMENT, "query holds a NUL byte"),
        ("\x007", "cats", MOMENT, "user holds a NUL byte"),
    ],
    ids=lambda text: text[:20],
)
@every_format
def test_same_row_same_reason_in_every_format(
    read: Any, format: str, user: str, query: str, time: str, reason: str
) -> None:
    rows = [*ROWS, (user, query, time), *ROWS]
    log = read(WRITERS[format](rows), format=format)
    number = 5 + (format in ("aol", "csv", "tsv"))  # a header counts as a line
    assert rejects(log) == [(number, reason)]
    assert log.texts.tolist() == [query for _, query, _ in ROWS] * 2


@pytest.mark.parametrize("format", WRITERS)
def test_a_query_of_10_000_characters_is_accepted(read: Any, format: str) -> None:
    rows = [("7", "ü" * 10_000, MOMENT)]
    assert_holds(read(WRITERS[format](rows), format=format), rows)


@pytest.mark.parametrize(
    ("column", "reason"),
    [(0, "user is not valid UTF-8"), (1, "query is not valid UTF-8"), (2, "time not understood")],
)
@every_format
def test_bytes_that_are_not_utf8(read: Any, format: str, column: int, reason: str) -> None:
    bad = ["7", "cats", MOMENT]
    bad[column] = "?!?!"
    content = WRITERS[format]([*ROWS, (bad[0], bad[1], bad[2])])
    log = read(content.replace(b"?!?!", b"caf\x81"), format=format)
    assert log.reject_reasons.tolist() == [reason]
    assert len(log.texts) == len(ROWS)


def test_bytes_that_are_not_utf8_do_no_harm_in_other_columns(read: Any) -> None:
    assert_holds(read(as_aol(ROWS).replace(b"\t\t\n", b"\t1\tcaf\xe9\n")), ROWS)


def test_bytes_that_are_not_utf8_in_a_parquet_dictionary(read: Any) -> None:
    queries = pa.array([b"cats", b"caf\x81"]).view(pa.string()).dictionary_encode()
    log = read(parquet_of(query=queries), person="row")
    assert log.texts.tolist() == ["cats"]
    assert rejects(log) == [(2, "query is not valid UTF-8")]


def test_escaped_surrogate_in_json_is_not_utf8(read: Any) -> None:
    log = read('{"query": "\\ud800", "user": 1}\n{"query": "\\ud83d\\ude00", "user": 1}\n')
    assert log.texts.tolist() == ["😀"]
    assert rejects(log) == [(1, "query is not valid UTF-8")]


@pytest.mark.parametrize("line", ["7", "7 cats", f"7\tcats {MOMENT}", f"7\tcats\t{MOMENT}\t1"])
def test_missing_tabs(read: Any, line: str) -> None:
    log = read(as_aol(ROWS) + line.encode() + b"\n" + as_aol(ROWS, header=""))
    assert rejects(log) == [(6, "wrong number of fields")]
    assert len(log.texts) == 2 * len(ROWS)


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_wrong_number_of_fields(read: Any, format: str) -> None:
    delimiter = "," if format == "csv" else "\t"
    lines = ["user query time", "7 cats", f"7 dogs {MOMENT[:10]}", "7 cats 2006-03-01 x"]
    log = read("\n".join(lines).replace(" ", delimiter), format=format)
    assert log.texts.tolist() == ["dogs"]
    assert rejects(log) == [(2, "wrong number of fields"), (4, "wrong number of fields")]


def test_first_line_of_wrong_width_does_not_condemn_the_rest(read: Any) -> None:
    log = read("1,2\n" + "7,cats,x\n" * 5, format="csv", columns={"user": "1", "query": "2"})
    assert len(log.texts) == 5
    assert rejects(log) == [(1, "wrong number of fields")]


def test_blank_lines_are_set_aside_but_not_at_the_end(read: Any) -> None:
    rows = as_aol(ROWS[:1], header="")
    log = read(b"\n" + rows + b"\r\n" + b"  \n" + rows + b"\n\r\n\n")
    assert len(log.texts) == 2
    assert rejects(log) == [(1, "blank line"), (3, "blank line"), (4, "blank line")]


@pytest.mark.parametrize("line", ["[1]", "7", '{"query": "cats"', '{"a": 1} x', "[" * 100_000])
def test_what_is_not_a_json_object(read: Any, line: str) -> None:
    log = read(as_jsonl(ROWS) + line.encode() + b"\n" + as_jsonl(ROWS))
    assert rejects(log) == [(5, "not a JSON object")]
    assert len(log.texts) == 2 * len(ROWS)


def test_control_characters_in_json(read: Any) -> None:
    log = read('{"user": 1, "query": "a\tb"}\n{"user": 1, "query": "a\0b"}\n')
    assert log.texts.tolist() == ["a\tb"]
    assert rejects(log) == [(2, "query holds a NUL byte")]


@pytest.mark.parametrize("value", ["true", "[1]", "{}"])
def test_json_values_that_are_not_text(read: Any, value: str) -> None:
    lines = [
        f'{{"user": 1, "query": {value}, "time": 1}}',
        f'{{"user": {value}, "query": "a", "time": 1}}',
        f'{{"user": 1, "query": "a", "time": {value}}}',
    ]
    reasons = ["query is not text", "user is not text", "time not understood"]
    assert read("\n".join(lines)).reject_reasons.tolist() == reasons


def test_a_very_long_line_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    long_line = b"7\t" + b"\xc3\xbc" * 20_000_000 + b"\t2006-03-01 07:17:12\n"
    path.write_bytes(as_aol(ROWS) + long_line + as_aol(ROWS, header=""))
    tracemalloc.start()
    log = read_logs([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rejects(log) == [(6, "line longer than 1,048,576 characters")]
    assert len(log.texts) == 2 * len(ROWS)
    assert peak < len(long_line)


# Quotes in CSV


def test_csv_rows_are_numbered_by_their_first_line(read: Any) -> None:
    content = (
        'user,query,time\n7,"two\r\n\nlines, ""quoted""",\n7,-,\n8,plain "quoted" text,\n7,-,\n'
    )
    log = read(content, format="csv")
    assert log.texts.tolist() == ['two\r\n\nlines, "quoted"', 'plain "quoted" text']
    assert rejects(log) == [(5, "query is empty"), (7, "query is empty")]


@pytest.mark.parametrize("length", [3, 3000])
@pytest.mark.parametrize(
    "last", ['8,"closed"', '"8","closed"', "8,plain", '8,"a ""b"" c"', '8,5" nails']
)
def test_a_stray_quote_costs_one_row_only(read: Any, length: int, last: str) -> None:
    good = f"7,cats and dogs,{MOMENT}\n" * length
    log = read(f'user,query,time\n{good}7,"stray,{MOMENT}\n{good}{last},{MOMENT}\n')
    assert rejects(log) == [(length + 2, "quoted field not closed")]
    assert len(log.texts) == 2 * length + 1


def test_a_stray_quote_is_told_by_the_number_of_fields(read: Any) -> None:
    log = read(f'user,query,time\n"7,stray,{MOMENT}\n7,cats,\n8,5",{MOMENT}\n')
    assert log.texts.tolist() == ["cats", '5"']
    assert rejects(log) == [(2, "quoted field not closed")]


def test_a_record_spread_over_too_many_lines_is_set_aside(read: Any) -> None:
    note = "x\n" * 40_000
    log = read(f'user,query,note\n7,cats,"{note}"\n8,dogs,\n', format="csv")
    assert log.texts.tolist() == ["dogs"]
    assert rejects(log)[:2] == [(2, "quoted field not closed"), (3, "wrong number of fields")]
    assert log.rows_read == 40_002


def test_text_behind_a_closing_quote_belongs_to_the_field(read: Any) -> None:
    assert read('user,query\n7,"new york" hotels\n').texts.tolist() == ["new york hotels"]


def test_quotes_are_ordinary_characters_between_tabs(read: Any) -> None:
    rows = [("7", '"cats', MOMENT), ("7", '"', MOMENT), ("7", 'a "b" c"', MOMENT)]
    assert_holds(read(as_aol(rows)), rows)
    assert_holds(read(as_tsv(rows)), rows)


# Times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2006-03-01 07:17:12", SECONDS),
        ("2006-03-01T07:17:12", SECONDS),
        ("2006-03-01T07:17:12Z", SECONDS),
        ("2006-03-01T09:17:12+02:00", SECONDS),
        ("2006-03-01 07:17:12.999999999", SECONDS),
        ("20060301T071712Z", SECONDS),
        ("2006-03-01", SECONDS - 7 * 3600 - 17 * 60 - 12),
        ("20060301071712", SECONDS),
        ("1141197432123456", SECONDS),
        ("1141197432123456789", SECONDS),
        ("01/Mar/2006:09:17:12 +0200", SECONDS),
        ("[01/Mar/2006:07:17:12 +0000]", SECONDS),
        ("2006/3/1 7:17:12 AM", SECONDS),
        ("01.03.2006 07:17:12", SECONDS),
        ("2/28/2006 11:17:12 PM", SECONDS - 8 * 3600),
        ("28-02-06 23:17:12", SECONDS - 8 * 3600),
        ("20060301", SECONDS - 7 * 3600 - 17 * 60 - 12),
        ("1141197432", SECONDS),
        ("1141197432.75", SECONDS),
        ("1141197432123", SECONDS),
        ("1101010112345", 1101010112),  # would pass for a day in the year 1101
        ("0", 0),
        ("1969-12-31T23:59:59.5Z", -1),
        ("", NO_TIME),
        ("  ", NO_TIME),
    ],
)
@every_format
def test_times(read: Any, format: str, text: str, expected: int) -> None:
    log = read(WRITERS[format]([("7", "cats", text)]), format=format)
    assert rejects(log) == []
    assert log.times.tolist() == [expected]


@pytest.mark.parametrize("text", ["x", "20061301", "20061301071712", "9" * 5000, "1e9", "12:30"])
@every_format
def test_times_not_understood(read: Any, format: str, text: str) -> None:
    log = read(WRITERS[format]([("7", "cats", text)]), format=format)
    assert log.reject_reasons.tolist() == ["time not understood"]


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_iso_times_agree_with_the_standard_library(moment: datetime, minutes: int) -> None:
    zoned = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    expected = (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    found = Dates(lambda: True).seconds_of(zoned.isoformat())
    assert found == (expected if FIRST <= expected <= LAST else OUT_OF_RANGE)


# Columns


@pytest.mark.parametrize(
    "header",
    ["AnonID,Query,QueryTime", "USER_ID,q,TimeStamp", "user.id,Search Terms,date"],
)
def test_well_known_names(read: Any, header: str) -> None:
    log = read(f"{header}\n7,cats,{MOMENT}\n8,dogs,\n")
    assert log.texts.tolist() == ["cats", "dogs"]
    assert log.users.tolist() == [0, 1]
    assert log.times.tolist() == [SECONDS, NO_TIME]


def test_mapped_columns_go_before_known_names(read: Any) -> None:
    content = f"user,who,query,what,when\n1,7,a,cats,{MOMENT}\n1,8,a,dogs,\n"
    log = read(content, columns={"user": "who", "query": "WHAT", "time": "when"})
    assert log.texts.tolist() == ["cats", "dogs"]
    assert log.users.tolist() == [0, 1]
    assert log.has_times


@pytest.mark.parametrize("header", ["", "time,query,user\n"])
def test_columns_by_number_with_and_without_header(read: Any, header: str) -> None:
    content = f"{header}{MOMENT},cats,7\n,dogs,8\n"
    log = read(content, format="csv", columns={"user": "3", "query": "2", "time": "1"})
    assert log.texts.tolist() == ["cats", "dogs"]
    assert log.users.tolist() == [0, 1]


def test_click_column_of_an_aol_log_can_be_mapped(read: Any) -> None:
    content = as_aol(ROWS[:1], header="", clicks="\t1\tclicked") + as_aol(ROWS[:1], "", "")
    log = read(content, format="aol", columns={"query": "5"})
    assert log.texts.tolist() == ["clicked"]
    assert rejects(log) == [(2, "wrong number of fields")]


@pytest.mark.parametrize(
    ("content", "has_times"),
    [("query,time\ncats,\ndogs,\n", True), ('{"query": "cats"}\n{"query": "dogs"}\n', False)],
)
def test_rows_are_counted_if_that_is_said(read: Any, content: str, has_times: bool) -> None:
    log = read(content, person="row")
    assert log.counted == Counted("rows")
    assert log.has_times is has_times
    assert log.users.tolist() == [0, 1]
    assert log.times.tolist() == [NO_TIME, NO_TIME]


@pytest.mark.parametrize(
    "first_row",
    [f"7,search,{MOMENT}", f"user,search,{MOMENT}", "7,query,", "7,query,x", ",query,nothing"],
)
def test_a_first_row_that_resembles_a_header_is_data(read: Any, first_row: str) -> None:
    columns = {"user": "1", "query": "2", "time": "3"}
    log = read(f"{first_row}\n8,cats,\n", format="csv", columns=columns)
    assert log.rows_read == 2


def test_a_first_aol_row_that_resembles_a_header_is_data(read: Any) -> None:
    log = read(b"someone\tquery\tlast week\n" + as_aol(ROWS, header=""), format="aol")
    assert log.counted.column == "AnonID"
    assert rejects(log) == [(1, "time not understood")]


def test_missing_mapped_columns_are_all_named_with_the_header(read: Any) -> None:
    content = f"user,query,time\n7,{CANARY},\n"
    with pytest.raises(UsageError, match=r"user=a,time=b.*'user', 'query', 'time'") as caught:
        read(content, "my.csv", columns={"user": "a", "time": "b"})
    assert "my.csv" in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_missing_mapped_column_in_named_formats(read: Any, format: str) -> None:
    with pytest.raises(UsageError, match="'user', 'query', 'time'"):
        read(WRITERS[format](ROWS), columns={"query": "1"})


def test_json_keys_that_may_be_data_are_not_shown(read: Any) -> None:
    content = f'{{"{CANARY}": 1, "id": 1}}\n{{"id": 2}}\n{{"id": 3}}\n'
    with pytest.raises(InputError, match="'id'") as caught:
        read(content)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("columns", [{}, {"query": "what"}, {"query": "9"}, {"user": "1"}])
@pytest.mark.parametrize("row", [f"7,{CANARY},x", f"{CANARY},query", f"{CANARY},search,x"])
def test_rows_are_never_shown_as_header(tmp_path: Path, row: str, columns: dict[str, str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{row}\n{row}\n")
    assert CANARY not in str(outcome(path, columns=columns))


@pytest.mark.parametrize(
    "content", [f"7,{CANARY},{MOMENT}\n" * 3, f"7\t{CANARY}\tx\n" * 3, "a,b\n1,2\n"]
)
def test_no_known_query_column_says_what_to_do(read: Any, content: str) -> None:
    with pytest.raises(InputError, match="--columns") as caught:
        read(content)
    assert CANARY not in str(caught.value)
