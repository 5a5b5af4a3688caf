"""Who is a person in a log: nobody is guessed, and what was not said to be one is never counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.adapters.logs.columns import OTHER_IDS, PERSON_NAMES
from tasks.adapters.logs.reader import read_logs
from tasks.core.counted import Counted
from tasks.core.log_options import LogOptions
from tasks.core.records import QueryLog
from tasks.errors import UsageError
from tests.adapters.logs.logwriters import CANARY, parquet_of, read_content, rejects


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., QueryLog]:
    return partial(read_content, tmp_path)


NOT_PERSONS = [
    *("session_id", "sessionId", "userToken", "visitor", "client_id", "deviceId", "cookie", "ip"),
    *("distinct_id", "anonymous_id", "user_pseudo_id", "token", "uid", "customer_id", "account"),
    *("user_agent", "email", "id"),
]


@pytest.mark.parametrize("name", NOT_PERSONS)
def test_an_id_that_is_no_persons_stops_the_run(read: Any, name: str) -> None:
    content = f"{name},query,time\n{CANARY},{CANARY},\n"
    with pytest.raises(UsageError, match=r"no column of .* is a person") as caught:
        read(content)
    message = str(caught.value)
    assert f"'{name}', 'query', 'time'" in message
    assert "--columns user=NAME" in message
    assert "--person session:NAME or --person row" in message
    assert CANARY not in message


@pytest.mark.parametrize(
    "name", ["AnonID", "user_id", "User ID", "userName", "PATRON-ID", "member"]
)
def test_names_that_mean_a_person(read: Any, name: str) -> None:
    log = read(f"{name},query\n7,cats\n8,dogs\n")
    assert log.counted == Counted("people", name)
    assert log.users.tolist() == [0, 1]


def test_no_name_is_on_both_lists() -> None:
    assert not PERSON_NAMES & OTHER_IDS


def test_two_persons_are_a_doubt(read: Any) -> None:
    content = "user_id,member_id,query\n7,1,cats\n"
    with pytest.raises(UsageError, match=r"2 columns of .* may each be a person"):
        read(content)
    assert read(content, person="member_id").counted == Counted("people", "member_id")


def test_a_file_without_header_shows_numbers(read: Any) -> None:
    content = f"{CANARY},cats,2006-03-01\n8,dogs,2006-03-01\n"
    with pytest.raises(UsageError, match="'1', '2', '3'") as caught:
        read(content, format="csv", columns={"query": "2"})
    assert CANARY not in str(caught.value)
    log = read(content, format="csv", columns={"query": "2"}, person="1")
    assert log.counted.said(2) == "2 people (column 1)"


@pytest.mark.parametrize(
    ("person", "counted", "users"),
    [
        ("who", Counted("people", "who"), [0, 0, 1]),
        ("session:sid", Counted("sessions", "sid"), [0, 1, 1]),
        ("row", Counted("rows"), [0, 1, 2]),
    ],
)
def test_what_is_said_is_counted(
    read: Any, person: str, counted: Counted, users: list[int]
) -> None:
    log = read("who,sid,query\na,1,cats\nA,2,dogs\nb,2,fish\n", person=person)
    assert log.counted == counted
    assert log.users.tolist() == users


def test_rows_count_although_there_is_a_person(read: Any) -> None:
    log = read('{"user": [1], "query": "a"}\n{"user": "", "query": "b"}\n', person="row")
    assert log.users.tolist() == [0, 1]
    assert rejects(log) == []


def test_ids_that_are_not_used_are_named(read: Any) -> None:
    content = "user_id,sessionToken,query,rank,client_ip\n7,x,cats,1,y\n"
    (warning,) = read(content, "my.csv").warnings
    assert warning.endswith("look like ids and are not used: sessionToken, client_ip")
    assert read("user_id,query,rank\n7,cats,1\n").warnings == ()


def test_a_person_that_sounds_like_a_session_is_asked_about(read: Any) -> None:
    log = read("session_id,query\n7,cats\n", person="session_id")
    assert log.counted == Counted("people", "session_id")
    assert "say --person session:session_id" in log.warnings[0]


NOBODY = "user is a placeholder, nobody"


def test_placeholders_are_set_aside(read: Any) -> None:
    ids = ["7", "-", "NULL", "", "0", "nan", "8", "\u200b", "Unknown", "anonymous"]
    log = read("user,query\n" + "".join(f"{own},cats\n" for own in ids), format="csv")
    assert log.users.tolist() == [0, 1]
    missing = "user is missing"
    reasons = [NOBODY, NOBODY, missing, NOBODY, NOBODY, missing, NOBODY, NOBODY]
    assert log.reject_reasons.tolist() == reasons


FIVE = ["Anna", "anna", " ANNA ", "\u200banna", "Ａｎｎａ"]


def test_five_spellings_are_one_person(read: Any) -> None:
    content = "".join(json.dumps({"user": own, "query": "cats"}) + "\n" for own in FIVE)
    assert read(content).user_count == 1
    assert read(content).people.shape == (1,)
    assert read(content, exact_ids=True).user_count == 5


def test_numbers_are_one_person_in_every_type(read: Any) -> None:
    assert (
        read(
            '{"user": 5, "query": "a"}\n{"user": 5.0, "query": "b"}\n'
            '{"user": "5", "query": "c"}\n{"user": "5.0", "query": "d"}\n'
        ).user_count
        == 1
    )
    whole = read(parquet_of(user=pa.array([5, 6]), query=["a", "b"]))
    real = read(parquet_of(user=pa.array([6.0, 5.0, None]), query=["a", "b", "c"]))
    assert sorted(whole.people.tolist()) == sorted(real.people.tolist())


def test_one_id_is_one_number_in_every_spelling(read: Any) -> None:
    """Batches of a store are compared by these numbers."""
    logs = [read(f"user,query\n{own},cats\n") for own in ("Anna", "ＡＮＮＡ")]
    assert logs[0].people.tolist() == logs[1].people.tolist()


# Whatever was not said to be a person never counts as one.

names = st.sampled_from([*NOT_PERSONS, "user_id", "AnonID", "patron", "who", "x", "rank"])
cells = st.sampled_from(["7", "8", "Anna", "anna", "ANNA ", "-", "", "0", "null", "b\u200b", "B"])


@st.composite
def id_logs(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    columns = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=8))
    return columns, rows


def spelled(text: str) -> str:
    """The cells of this test as they are compared, by the simplest means."""
    return text.replace("\u200b", "").strip().lower()


def distinct_people(column: int, rows: list[list[str]]) -> int:
    return len({spelled(row[column]) for row in rows} - {"", "-", "0", "null"})


def written(path: Path, columns: list[str], rows: list[list[str]], as_json: bool) -> Path:
    heads = [*columns, "query", "time"]
    filled = [[*row, f"cats {number}", ""] for number, row in enumerate(rows)]
    if as_json:
        lines = [json.dumps(dict(zip(heads, row, strict=True))) for row in filled]
    else:
        lines = [",".join(row) for row in [heads, *filled]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=id_logs(), as_json=st.booleans(), data=st.data())
def test_whatever_was_not_said_to_be_a_person_never_counts_as_one(
    tmp_path: Path, log: tuple[list[str], list[list[str]]], as_json: bool, data: st.DataObject
) -> None:
    columns, rows = log
    path = written(tmp_path / ("log.jsonl" if as_json else "log.csv"), columns, rows, as_json)
    said = data.draw(
        st.sampled_from(["", "row", *columns, *(f"session:{name}" for name in columns)])
    )
    sure = [place for place, name in enumerate(columns) if name in ("user_id", "AnonID", "patron")]
    knows = said or len(sure) == 1 or not (rows or not as_json)
    if not knows:
        with pytest.raises(UsageError):
            read_logs([path])
        return
    found = read_logs([path], LogOptions(person=said))
    assert found.counted.unit == (
        "rows" if said == "row" else "sessions" if ":" in said else "people"
    )
    if said == "row":
        assert found.user_count == len(rows)
        assert not rows or found.counted.said(found.user_count).endswith("not people")
    elif rows:
        column = columns.index(said.removeprefix("session:")) if said else sure[0]
        assert found.counted.column == columns[column]
        assert found.user_count == distinct_people(column, rows)
        assert found.rows_read == len(rows)
