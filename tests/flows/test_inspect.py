"""`flows.inspect`: what a log is taken for, on every kind of log, without any text of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.inspect import main
from flows.run import main as release_log
from tasks.phases import inspect as inspecting
from tests.adapters.logs.kinds import KINDS, QUERIES, Kind, plain_log

FORMATS = {
    **{"aol": ("aol", "\t"), "tsv": ("tsv", "\t"), "csv": ("csv", ",")},
    **{"csv with ;": ("csv", ";"), "csv with |": ("csv", "|"), "jsonl": ("jsonl", "")},
    **{"json": ("json", ""), "ga4": ("jsonl", ""), "algolia": ("json", "")},
    **{"access, combined": ("access", ""), "solr": ("solr", ""), "slow log": ("slowlog", "")},
    **{"parquet": ("parquet", ""), "xlsx": ("xlsx", ""), "zip": ("csv", ",")},
}
ENCODINGS = {"csv in utf-16": "utf-16", "csv in utf-16-be": "utf-16-be"}
TIMES = {
    **{"csv, day first": "the day first", "csv, month first": "the month first"},
    **{"csv, milliseconds": "milliseconds since 1970"},
    **{"csv, microseconds": "microseconds since 1970"},
    **{"access, combined": "months by name", "aol": "ISO 8601 without zone: UTC"},
    **{"access, json": "ISO 8601, zones given", "parquet": "ISO 8601 without zone: UTC"},
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are tried by a test of their own."""
    monkeypatch.setattr(inspecting, "_estimates", lambda job, log: [])


@pytest.fixture
def inspected(store: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    def inspect(log: Path, *options: str) -> dict[str, Any]:
        assert main([str(log), "--json", "--store", str(store), *options]) == 0
        printed = capsys.readouterr()
        assert not told_of(printed.out + printed.err)
        found: dict[str, Any] = json.loads(printed.out)
        return found

    return inspect


def told_of(screen: str) -> list[str]:
    """Queries of the log that are on the screen."""
    return [query for query in QUERIES if re.search(rf"\b{query}\b", screen)]


def write(folder: Path, kind: Kind) -> Path:
    path = folder / kind.file
    path.write_bytes(kind.write(plain_log()))
    return path


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_log(tmp_path: Path, inspected: Any, name: str) -> None:
    kind = KINDS[name]
    said = ",".join(f"{role}={column}" for role, column in kind.columns.items())
    found = inspected(write(tmp_path, kind), *(["--columns", said] if said else []))
    (file,) = found["files"]
    if name in FORMATS:
        assert (file["format"], file["delimiter"]) == FORMATS[name]
    assert file["encoding"] == ENCODINGS.get(name, file["encoding"])
    assert file["times"] == TIMES.get(name, file["times"])
    assert file["times"]
    taken = [column["taken_for"] for column in file["columns"]]
    assert taken[:3] == ["person", "query", "time"]
    assert found["people"] == 12
    assert found["rows"] == {"usable": 60, "whole": True, "rejected": {}}
    assert found["months"] == ["2006-03", "2006-03"]
    assert found["language"]["english"]
    assert found["words_known"] > 0.9


ASKED = ("json of a search engine", "ubi", "algolia", "access, combined", "solr", "slow log")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ASKED)
def test_who_is_a_person_is_asked(tmp_path: Path, inspected: Any, name: str) -> None:
    found = inspected(write(tmp_path, KINDS[name]))
    assert "say which column tells people apart" in found["person"]["doubt"].lower()
    assert found["people"] is None
    assert found["command"].endswith("--person COLUMN --k 5 --out release")
    assert found["rows"]["usable"] == 60


@pytest.mark.usefixtures("quick")
def test_why_a_column_is_taken(tmp_path: Path, inspected: Any) -> None:
    (tmp_path / "log.csv").write_text("who,sid,query,ts,rank\n7,1,flu,2006-03-01,1\n")
    options = ("--person", "who", "--exact-ids")
    found = inspected(tmp_path / "log.csv", *options)
    assert [list(column.values()) for column in found["files"][0]["columns"]] == [
        ["who", "person", "you said so"],
        ["query", "query", "its name"],
        ["ts", "time", "its name"],
        ["sid", "not used", ""],
        ["rank", "not used", ""],
    ]
    said = f"flows.run {tmp_path}/log.csv --person who --exact-ids --k 5"
    assert said in found["command"]


@pytest.mark.usefixtures("quick")
def test_what_would_be_set_aside(tmp_path: Path, inspected: Any) -> None:
    rows = "user,query\n7,flu\n-,flu\nNULL,flu\n8,-\n"
    (tmp_path / "log.csv").write_text(rows)
    reasons = {"user is a placeholder, nobody": 2, "query is empty": 1}
    assert inspected(tmp_path / "log.csv")["rows"]["rejected"] == reasons


@pytest.mark.usefixtures("quick")
def test_of_a_long_file_the_beginning_is_read(
    tmp_path: Path, inspected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspecting, "MOST_ROWS", 10)
    found = inspected(write(tmp_path, KINDS["aol"]))
    assert found["rows"]["usable"] == 10
    assert found["rows"]["whole"] is False


def test_the_guess_for_a_short_log_is_what_a_release_holds(
    tmp_path: Path, inspected: Any, store: Path
) -> None:
    log = write(tmp_path, KINDS["csv"])
    found = inspected(log)["estimate"]
    assert (found["rows"], found["people"]) == (60, 12)
    assert [estimate["k"] for estimate in found["by_k"]] == [5, 10, 20, 50]
    out = tmp_path / "out"
    assert release_log([str(log), "--bare", "--store", str(store), "--out", str(out)]) == 0
    released = (out / "release.tsv").read_text().splitlines()[1:]
    assert found["by_k"][0]["rows"] == pytest.approx(len(released) / 60)
    assert found["by_k"][3]["rows"] == 0.0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_screen(
    tmp_path: Path,
    store: Path,
    width: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    log = write(tmp_path, KINDS["csv with ;"])
    assert main([str(log), "--store", str(store)]) == 0
    shown = capsys.readouterr().out
    assert "CSV, semicolon, utf-8" in shown
    assert "12 people (column user)" in shown
    assert f"flows.run {log} --k 5 --out release" in shown
    assert not told_of(shown)
    tables = [line for line in shown.splitlines() if str(tmp_path) not in line]
    assert max(map(len, tables)) <= width


def test_a_run_says_the_same_in_short(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path, KINDS["csv with |"])
    given = [str(log), "--bare", "--store", str(store), "--out", str(tmp_path / "out")]
    assert release_log(given) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "CSV, bar, utf-8; person: user, query: query, time: time" in shown
    assert not told_of(shown)


def test_a_log_that_cannot_be_read(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nothing.csv"), "--store", str(store)]) == 3
    (tmp_path / "log.csv").write_text("user,query\n7,flu\n")
    wrong = [str(tmp_path / "log.csv"), "--person", "who", "--store", str(store)]
    assert main(wrong) == 2
    assert "who: not in" in capsys.readouterr().err


def test_the_screen_shows_names_as_they_are_and_no_markup(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "a[b].csv"
    log.write_text("user_id,query,[red]odd\n" + "".join(f"{n},cats,x\n" for n in range(1, 9)))
    assert main([str(log), "--store", str(store)]) == 0
    shown = capsys.readouterr().out
    assert "a[b].csv: CSV, comma, utf-8" in shown
    assert "[red]odd" in shown
    assert "[bold]" not in shown
    assert "\\[" not in shown


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("28.01.2025", "the day first"),
        ("1141200000.5", "seconds since 1970"),
        ("1141200000", "seconds since 1970"),
    ],
)
def test_dates_with_points_are_no_numbers(
    time: str, told: str, tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("user_id,query,time\n" + f"7,cats,{time}\n" * 3)
    assert main([str(log), "--store", str(store)]) == 0
    assert told in capsys.readouterr().out
