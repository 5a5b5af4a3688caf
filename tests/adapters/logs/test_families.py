"""What is peculiar to a family of formats: which rows there are, their numbers, what counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import openpyxl
import pytest

from tasks.adapters.logs.engine_logs import solr_text, text_in
from tasks.adapters.logs.reader import read_logs, texts_at
from tasks.adapters.logs.requests import search_in
from tasks.core.log_options import LogOptions
from tasks.core.records import QueryLog
from tasks.errors import InputError, UsageError
from tests.adapters.logs.kinds import (
    KINDS,
    as_access,
    as_ga4,
    as_slow_log,
    as_solr,
    delimited,
    json_lines,
    plain_log,
)
from tests.adapters.logs.logwriters import (
    AOL_HEADER,
    MOMENT,
    ROWS,
    SECONDS,
    as_aol,
    assert_holds,
    read_content,
    rejects,
    seconds,
)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., QueryLog]:
    return partial(read_content, tmp_path)


# Who is a person


ONLY_A_PERSON_MISSING = [name for name, kind in KINDS.items() if [*kind.columns] == ["user"]]


@pytest.mark.parametrize("name", [name for name in ONLY_A_PERSON_MISSING if name != "ga4"])
def test_no_id_is_a_person_by_itself(tmp_path: Path, name: str) -> None:
    """Neither an address, nor a token, a client, a header or a login."""
    path = tmp_path / KINDS[name].file
    path.write_bytes(KINDS[name].write(plain_log()))
    with pytest.raises(UsageError, match=r"no column .* is a person beyond doubt"):
        read_logs([path])
    assert read_logs([path], LogOptions(person="row")).user_count == len(plain_log())


def test_ga4_knows_people_by_user_id_alone(read: Any) -> None:
    assert read(as_ga4(plain_log())).counted.column == "user_id"
    devices = read(as_ga4(plain_log()), person="session:user_pseudo_id")
    assert (devices.counted.unit, devices.user_count) == ("sessions", 1)


def test_an_address_is_counted_only_if_that_is_said(read: Any) -> None:
    content = as_access(plain_log())
    assert read(content, person="session:ip").user_count == 1
    assert read(content, columns={"user": "ip"}).counted.column == "ip"


# Text


@pytest.mark.parametrize("width", [3, 4, 5])
@pytest.mark.parametrize("row_width", [3, 5])
def test_aol_with_a_header_of_any_width(read: Any, width: int, row_width: int) -> None:
    header = "\t".join(AOL_HEADER.strip().split("\t")[:width]) + "\n"
    rows = as_aol(ROWS, header, "\t" * (width - 3)) + as_aol(ROWS, "", "\t" * (row_width - 3))
    assert_holds(read(rows), [*ROWS, *ROWS])


@pytest.mark.parametrize("format", ["auto", "csv"])
def test_any_delimiter_that_is_said(read: Any, format: str) -> None:
    content = delimited("\x01")(ROWS)
    assert_holds(read(content, delimiter="\x01", format=format), ROWS)


def test_the_encoding_is_told(read: Any) -> None:
    rows = [("7", "café", MOMENT)] * 3
    for encoding in ("utf-8", "cp1252", "utf-16"):
        log = read(delimited(",", encoding)(rows))
        assert [file.encoding for file in log.files] == [encoding]
        assert log.texts.tolist() == ["café"] * 3


def test_an_encoding_is_seen_far_behind_the_first_bytes(read: Any) -> None:
    rows = [("7", "plain", MOMENT)] * 100_000 + [("7", "café", MOMENT)]
    assert read(delimited(",", "latin-1")(rows)).texts.tolist()[-1] == "café"


def test_single_lines_that_are_not_utf8_are_set_aside(read: Any) -> None:
    content = delimited(",")([("7", "éé", MOMENT)] * 5) + b"7,caf\xe9,\n"
    log = read(content)
    assert rejects(log) == [(7, "query is not valid UTF-8")]
    assert log.warnings == ()


def test_any_encoding_that_is_said(read: Any) -> None:
    rows = [("7", "漢字 かな", MOMENT)]
    assert_holds(read(delimited(",", "shift-jis")(rows), encoding="shift-jis"), rows)


def test_half_a_character_at_the_end(read: Any) -> None:
    with pytest.raises(InputError, match="damaged or cut off"):
        read(delimited(",", "utf-16")(ROWS)[:-1])


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["13/04/2006", "03/04/2006"], ["2006-04-13", "2006-04-03"]),
        (["04/13/2006", "03/04/2006"], ["2006-04-13", "2006-03-04"]),
        (["03/03/2006", ""], ["2006-03-03", ""]),
        (["3.4.2006", "03.04.06"], ["2006-04-03", "2006-04-03"]),
    ],
)
def test_all_dates_of_a_file_say_what_is_the_day(
    read: Any, times: list[str], expected: list[str]
) -> None:
    log = read(delimited(",")([("7", "cats", time) for time in times]))
    assert_holds(log, [("7", "cats", time) for time in expected])


@pytest.mark.parametrize(("order", "day"), [("day-first", "04-03"), ("month-first", "03-04")])
def test_the_order_that_is_said(read: Any, order: str, day: str) -> None:
    rows = [("7", "cats", "03/04/2006"), ("7", "cats", "13/31/2006")]
    log = read(delimited(",")(rows), date_order=order)
    assert rejects(log) == [(3, "time not understood")]
    assert_times(log, [f"2006-{day}"])


def assert_times(log: QueryLog, days: list[str]) -> None:
    assert log.times.tolist() == [seconds(day) for day in days]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:30:00-01:00"])
def test_times_beyond_the_calendar_are_set_aside(read: Any, time: str) -> None:
    log = read(delimited(",")([("7", "cats", time), ("7", "dogs", MOMENT)]))
    assert rejects(log) == [(2, "time outside the years 1 to 9999")]


# JSON


def test_elements_of_an_array_are_numbered(read: Any) -> None:
    content = json.dumps([{"user": 1, "query": "a"}, 7, {"user": 1}, {"user": 1, "query": "b"}])
    log = read(content)
    assert log.rows.tolist() == [1, 4]
    assert rejects(log) == [(2, "not a JSON object"), (3, "query is empty")]


def test_an_array_in_cp1252(read: Any) -> None:
    content = json.dumps([{"user": "7", "query": "café"}], ensure_ascii=False).encode("cp1252")
    assert read(content).texts.tolist() == ["café"]


def test_objects_over_several_lines(read: Any) -> None:
    objects = [json.dumps({"user": "7", "query": f"q{n}"}, indent=1) for n in range(3)]
    assert read("\n".join(objects)).texts.tolist() == ["q0", "q1", "q2"]


def test_a_name_with_dots_goes_before_a_path(read: Any) -> None:
    content = json_lines([{"a.b": "one", "a": {"b": "two"}, "user": 7}])
    assert read(content, columns={"query": "a.b"}).texts.tolist() == ["one"]


def test_deep_objects_do_no_harm(read: Any) -> None:
    deep = '{"a":' * 500 + "1" + "}" * 500
    log = read(f'{{"user": 7, "query": "cats", "more": {deep}}}\n')
    assert log.texts.tolist() == ["cats"]


def test_events_that_are_no_searches_are_counted_only(read: Any) -> None:
    for content, options in [
        (as_ga4(plain_log()), {}),
        (as_slow_log(plain_log()), {"columns": {"user": "x_opaque_id"}}),
    ]:
        log = read(content, **options)
        assert (log.rows_read, log.passed_over) == (60, 60)
        assert log.warnings[-1].endswith("log: 60 entries are no searches, passed over")
    log = read(as_solr(plain_log()), person="row")
    assert (log.rows_read, log.passed_over) == (60, 121)


# Access logs


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/search?q=flu+shot%21&page=2", "flu shot!"),
        ("/find?page=2&KEYWORDS=a%26b", "a&b"),
        ("/?s=wordpress", "wordpress"),
        ("/shop/search?k=shoes", "shoes"),
        ("https://example.com/search?query=caf%C3%A9#top", "café"),
        ("/s?wd=%E6%BC%A2", "漢"),
        ("/index.php?p=123", ""),
        ("/style.css?s=1", ""),
        ("/search?q=", ""),
        ("/search", ""),
        ("//[broken?q=x", ""),
    ],
)
def test_which_requests_are_searches(url: str, expected: str) -> None:
    assert search_in(url) == expected


def test_a_parameter_that_is_said_is_the_only_one(read: Any) -> None:
    line = '1.2.3.4 - ann [01/Mar/2006:07:17:12 +0000] "GET {} HTTP/1.1" 200 5\n'
    content = line.format("/x?q=other&find=cats") + line.format("/x?q=other")
    log = read(content, query_param="find", columns={"user": "auth"})
    assert (log.texts.tolist(), log.passed_over) == (["cats"], 1)
    assert log.times.tolist() == [SECONDS]


def test_what_servers_escape(read: Any) -> None:
    line = r'1.2.3.4 - ann [01/Mar/2006:07:17:12 +0000] "GET /?q=\xC3\xA9\"a\" HTTP/1.1" 200 5'
    assert read(f"{line}\n", columns={"user": "auth"}).texts.tolist() == ['é"a"']


def test_lines_that_are_no_requests_are_set_aside(read: Any) -> None:
    content = as_access(plain_log()).replace(b"\n", b"\nbroken line\n", 1)
    log = read(content, columns={"user": "auth"})
    assert rejects(log) == [(2, "not a line of an access log")]
    assert log.passed_over == 120


def test_a_query_string_is_no_query(read: Any) -> None:
    requests = [{"uri": "/search", "query_string": f"q={quote('a b')}&x=1", "status": 200}]
    log = read(
        json_lines([*requests, {"uri": "/", "query_string": "", "status": 200}]), person="row"
    )
    assert (log.texts.tolist(), log.passed_over) == (["a b"], 1)


# Search engines


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"match": {"title": "flu shot"}}, "flu shot"),
        ({"match_phrase": {"title": {"query": "flu shot"}}}, "flu shot"),
        ({"multi_match": {"query": "flu", "fields": ["a"]}}, "flu"),
        ({"query_string": {"query": "flu AND shot"}}, "flu AND shot"),
        ({"simple_query_string": {"query": "flu +shot"}}, "flu +shot"),
        ({"term": {"title": "flu"}}, "flu"),
        ({"wildcard": {"title": {"value": "*flu*"}}}, "flu"),
        ({"bool": {"must": {"match": {"a": "x"}}, "should": [{"match": {"b": "y"}}]}}, "x y"),
        ({"bool": {"must": {"match": {"a": "x"}}, "filter": {"term": {"b": "y"}}}}, "x"),
        ({"bool": {"must": [{"match": {"a": "x"}}, {"term": {"b": "y"}}]}}, "x"),
        ({"bool": {"filter": [{"term": {"b": "y"}}]}}, ""),
        ({"function_score": {"query": {"match": {"a": "x"}}}}, "x"),
        ({"match_all": {}}, ""),
    ],
)
def test_the_text_in_a_query_of_the_dsl(source: dict[str, Any], expected: str) -> None:
    assert text_in({"size": 10, "query": source}) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("flu shot", "flu shot"),
        ("*:*", ""),
        ("*", ""),
        ("{!edismax qf='title body'}flu shot", "flu shot"),
        ("{!edismax v=$qq}", "asked"),
        ("{!type=dismax v='flu'}", "flu"),
        ("title:flu body:(lung cancer)", "flu (lung cancer)"),
        ("time 12:30", "time 12:30"),
    ],
)
def test_the_text_in_a_query_of_solr(query: str, expected: str) -> None:
    assert solr_text(query, {"qq": "asked"}) == expected


def test_a_query_that_is_cut_off_is_set_aside(read: Any) -> None:
    whole = as_slow_log(plain_log()).decode()
    first, _, rest = whole.partition("\n")
    log = read(first[: first.index("source[") + 30] + "\n" + rest, person="row")
    assert rejects(log) == [(1, "query in the search engine's language not understood")]


# Workbooks and counts


def test_rows_of_a_workbook_are_numbered_as_they_are_shown(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Log"
    book.create_sheet("Empty")
    for place, row in enumerate([("user", "query"), (7, "cats"), (7, None), (8, "dogs")], start=3):
        for column, cell in enumerate(row, start=2):
            sheet.cell(place, column, cell)
    book.save(tmp_path / "log.xlsx")
    log = read_logs([tmp_path / "log.xlsx"])
    assert log.rows.tolist() == [4, 6]
    assert rejects(log) == [(5, "query is empty")]


COUNTS = "label,nb_visits,nb_hits\ncats,1,3\n-,2,5\ndogs,1,5000\nfish,1,many\nbirds,1,0\n"


def test_a_count_stands_for_so_many_rows(tmp_path: Path) -> None:
    path = tmp_path / "keywords.csv"
    path.write_text(COUNTS)
    options = LogOptions(person="row")
    log = read_logs([path], options)
    assert log.texts.tolist() == ["cats"] * 3 + ["dogs"] * 1000
    assert log.user_count == len(set(log.people.tolist())) == 1003
    assert rejects(log) == [(3, "query is empty"), (5, "count is not a number")]
    assert log.passed_over == 1
    chosen = np.array([0, 2, 3, 500])
    found = texts_at(str(path), log.rows[chosen].tolist(), options)
    assert found == log.texts[chosen].tolist()


def test_any_column_can_be_said_to_count(read: Any) -> None:
    content = "user,query,times\n7,cats,2\n8,dogs,1\n"
    log = read(content, columns={"count": "times"})
    assert log.texts.tolist() == ["cats", "cats", "dogs"]
    assert log.user_count == 2
