"""Names that nobody would choose, and terminals that know few characters: nothing breaks."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from flows import compare, inbox, run, verify
from tasks.errors import InputError, UsageError, printable
from tests.helpers.commands import command
from tests.helpers.generated import generated_lines

EMPTY_QUERY = "9\t\t2006-03-01 10:00:00\n"
FORGED = "a\nfile\tforged\tanother.tsv\t7\tnone\x1b[2J.tsv"
"""Would begin a line of its own, put cells into it, and clear the screen."""
NOT_UTF8 = os.fsdecode(b"caf\xe9.tsv")
MARKUP = "o[/x][bold]:smile:"
TERMINALS = {
    "ascii": {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    "strict": {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "TERM": "dumb"},
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
COMMANDS = ["run", "inbox", "verify", "compare", "sample"]


def write_log(path: Path) -> Path:
    header, rows = generated_lines(300, 60, 5)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + "".join(rows) + EMPTY_QUERY, encoding="utf-8")
    return path


def test_text_is_printable_and_one_line() -> None:
    assert printable("flu → fever, café") == "flu → fever, café"
    assert printable("a\nb\tc\x1b\x00\u202e") == r"a\nb\tc\x1b\x00\u202e"
    assert printable(os.fsdecode(b"\xff")) == r"\udcff"


def test_a_name_cannot_begin_a_line_of_a_message() -> None:
    assert str(InputError("cannot read a\nlogveil: all is well")).splitlines() == [
        r"cannot read a\nlogveil: all is well"
    ]
    assert str(UsageError("one", "two")) == "one\ntwo"


@pytest.mark.parametrize("name", [FORGED, NOT_UTF8])
def test_a_file_of_an_odd_name_is_as_good_as_any(
    name: str, new_store: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run, audit and report: what is told of it is one line that can be read."""
    log, plain = write_log(tmp_path / "odd" / name), write_log(tmp_path / "plain" / "log.tsv")
    own = ["--bare", "--store", str(new_store())]
    assert run.main([str(log), "--out", str(tmp_path / "one"), *own]) == 0
    assert run.main([str(plain), "--out", str(tmp_path / "two"), *own]) == 0
    one, two = ((tmp_path / out / "release.tsv").read_bytes() for out in ("one", "two"))
    assert one == two
    audit = ["--audit", str(tmp_path / "audit.parquet"), *own[1:]]
    assert verify.main([str(tmp_path / "one"), *audit]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["append", "new"])
def test_files_of_odd_names_come_through_an_inbox(
    kind: str, new_store: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    incoming = tmp_path / "incoming"
    write_log(incoming / NOT_UTF8)
    (incoming / FORGED).write_bytes(b"\x1f\x8b damaged")
    options = ["--inbox", str(incoming), "--out", str(tmp_path / MARKUP), "--settle", "0"]
    options += ["--store", str(new_store()), "--bare", "--edition", kind]
    assert inbox.main([*options, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert len(told["released"]) == 1
    assert list(told["failed"]) == [FORGED]
    (reason,) = (incoming / "failed").glob("*.reason.txt")
    (line,) = reason.read_text(encoding="utf-8").splitlines()
    assert printable(FORGED) in line
    shutil.move(incoming / "failed" / FORGED, incoming / FORGED)
    assert inbox.main(options) == 3
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("file")][:-1]


@pytest.mark.parametrize("main", [run.main, compare.main])
def test_a_folder_may_look_like_markup(
    main: Callable[[list[str]], int],
    new_store: Callable[[], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("rapidfuzz")
    log = write_log(tmp_path / "log.tsv")
    out = str(tmp_path / MARKUP)
    assert main([str(log), "--out", out, "--store", str(new_store()), "--bare"]) == 0
    assert MARKUP in capsys.readouterr().out.replace("\n", "")


# Times


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:30:00-01:00"])
def test_times_that_the_calendar_lacks_stop_no_other_row(
    time: str, store: Path, tmp_path: Path
) -> None:
    moments = ["2006-03-01 10:00:00"] * 6 + [time] * 6
    rows = [f"u{place},lung cancer,{moment}\n" for place, moment in enumerate(moments)]
    (tmp_path / "log.csv").write_text("user,query,time\n" + "".join(rows))
    given = ["--bare", "--quiet", "--store", str(store), "--out", str(tmp_path / "out")]
    assert run.main([str(tmp_path / "log.csv"), *given]) == 0
    lines = (tmp_path / "out" / "release.tsv").read_text().splitlines()[1:]
    assert [line.split("\t")[2] for line in lines] == ["2006-03"] * 6


# Terminals


@pytest.mark.parametrize("terminal", TERMINALS)
def test_help_on_any_terminal(terminal: str, tmp_path: Path) -> None:
    for name in COMMANDS:
        done = command([f"flows.{name}", "--help"], tmp_path, TERMINALS[terminal])
        assert done.returncode == 0, done.stderr
        assert done.stdout
    done = command(["deployments.services", "--help"], tmp_path, TERMINALS[terminal])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("terminal", ["strict", "C", "cp1252"])
def test_errors_on_any_terminal(terminal: str, tmp_path: Path) -> None:
    done = command(["flows.run", "café→.tsv".encode()], tmp_path, TERMINALS[terminal])
    assert done.returncode == 3, done.stderr
    assert b"does not exist" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("terminal", ["strict", "C"])
def test_a_run_on_any_terminal(
    terminal: str, new_store: Callable[[], Path], tmp_path: Path
) -> None:
    log, own = write_log(tmp_path / "café.tsv"), str(new_store())
    given = [os.fsencode(log), b"--bare", b"--out", "ö→".encode(), b"--store", own.encode()]
    done = command(["flows.run", *given], tmp_path, TERMINALS[terminal])
    assert done.returncode == 0, done.stderr
    assert b"->" in done.stdout
    assert b"verified" in done.stdout
    assert (tmp_path / "ö→" / "release.tsv").exists()
    done = command(["flows.verify", "ö→".encode(), "--store", own], tmp_path, TERMINALS[terminal])
    assert done.returncode == 0, done.stderr
    plain = command(["flows.run", *given, "--json"], tmp_path, TERMINALS[terminal])
    assert json.loads(plain.stdout)["verified"] is True


def test_a_sample_is_utf8_whatever_the_terminal(tmp_path: Path) -> None:
    few = ["flows.sample", "--queries", "50", "--users", "9"]
    made = [command(few, tmp_path, TERMINALS[each]).stdout for each in ("ascii", "C")]
    assert made[0] == made[1] != b""


# Prefect


@pytest.mark.slow
@pytest.mark.prefect
def test_prefect_takes_names_that_are_not_utf8(
    new_store: Callable[[], Path], tmp_path: Path
) -> None:
    """Its database and artifacts hold text alone."""
    write_log(tmp_path / "incoming" / NOT_UTF8)
    home = tmp_path / "prefect"
    given = [b"--inbox", b"incoming", b"--out", b"\xff[/x]", b"--settle", b"0"]
    given += [b"--store", os.fsencode(new_store())]
    own = {"PREFECT_HOME": str(home), **TERMINALS["strict"]}
    done = command(["flows.inbox", *given], tmp_path, own)
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.glob("*/*/edition-0001/release-0001")
    assert os.fsencode(Path(*folder.parts[-4:-2])) == b"\xff[/x]"
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "prefect.db").stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(home / "prefect.db") as database:
        (parameters,) = database.execute("select parameters from flow_run").fetchone()
    assert r"\udcff" in json.loads(parameters)["settings"]["out"]
