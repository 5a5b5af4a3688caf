"""One person who asks one thing seven times: whoever is not said to be a person hides nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows import verify
from flows.run import main

QUERY = "xylophonist disease"


def write_log(path: Path, ids: list[dict[str, str]]) -> Path:
    """Seven times the same query by one person, then others who share one."""
    others = [dict.fromkeys(ids[0], f"other{n}") for n in range(6)]
    asked = [(own, QUERY) for own in ids] + [(own, "lung cancer") for own in others]
    lines = [json.dumps({**own, "query": query}) + "\n" for own, query in asked]
    path.write_text("".join(lines))
    return path


LOGS = {
    "customer_id": [{"customer_id": "c1", "session_id": f"s{n}"} for n in range(7)],
    "userToken": [{"userToken": "t1", "objectID": f"o{n}"} for n in range(7)],
}


def run(log: Path, store: Path, out: Path, *options: str) -> int:
    given = [str(log), "--bare", "--out", str(out), "--store", str(store), *options]
    return main(given)


@pytest.mark.parametrize("column", LOGS)
def test_nobody_is_a_person_unless_it_is_said(
    store: Path, tmp_path: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl", LOGS[column]), tmp_path / "out"
    assert run(log, store, out) == 2
    told = capsys.readouterr().err
    assert f"'{column}'" in told
    assert "--columns user=NAME" in told
    assert "xylophonist" not in told
    assert not out.exists()


@pytest.mark.parametrize("column", LOGS)
def test_given_the_column_none_of_the_seven_rows_is_published(
    store: Path, tmp_path: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl", LOGS[column]), tmp_path / "out"
    assert run(log, store, out, "--columns", f"user={column}") == 0
    release = (out / "release.tsv").read_text()
    assert len(release.splitlines()) == 1 + 6
    assert "xylophonist" not in release
    said = f"5 people (column {column})"
    screen = " ".join(capsys.readouterr().out.split())
    assert said in screen
    assert said in (out / "report.html").read_text()
    users = json.loads((out / "measures.json").read_text())["users"]
    assert (users["counted"], users["column"]) == ("people", column)
    assert verify.main([str(out), "--store", str(store)]) == 0
    assert f"shared by at least {said}" in capsys.readouterr().out


def test_rows_are_not_people_and_everything_says_so(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl", LOGS["userToken"]), tmp_path / "out"
    assert run(log, store, out, "--person", "row") == 0
    assert "5 rows, not people" in " ".join(capsys.readouterr().out.split())
    assert "5 rows, not people" in (out / "report.html").read_text()
    assert verify.main([str(out), "--store", str(store)]) == 0
    assert "shared by at least 5 rows, not people" in capsys.readouterr().out


def test_sessions_are_not_people(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl", LOGS["customer_id"]), tmp_path / "out"
    assert run(log, store, out, "--person", "session:session_id") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "5 sessions, not people" in told
    assert "not used: customer_id" in told


def test_contradictions_are_wrong_usage(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = write_log(tmp_path / "log.jsonl", LOGS["customer_id"]), tmp_path / "out"
    assert run(log, store, out, "--person", "row", "--columns", "user=customer_id") == 2
    assert "say different things" in capsys.readouterr().err
