"""One real run under Prefect, watched: nothing leaks, nobody is called, the bytes are the same."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tasks.settings import SAMPLE_LOG
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parent.parent
CANARY_WORD = "zyxwvcanary"
CANARY_USER = "918273645546372819"
CANARIES = [
    # An array of strings says each letter in four bytes.
    canary.encode(encoding)
    for canary in (CANARY_WORD, CANARY_USER)
    for encoding in ("utf-8", "utf-16-le", "utf-32-le")
]
MOMENT = "2006-03-01 10:00:00"
PHASES = ("read", "analyse", "compare", "cluster", "redact", "measure", "write", "verify")


@dataclass(frozen=True)
class Watched:
    """What a run left behind."""

    folder: Path
    done: subprocess.CompletedProcess[bytes]
    before: subprocess.CompletedProcess[bytes] | None = None

    @property
    def network_notes(self) -> str:
        notes = self.folder / "network.txt"
        return notes.read_text() if notes.exists() else ""


def canary_log(path: Path) -> Path:
    """The sample log, and rows with words and users that must be found nowhere afterwards."""
    rows = [
        f"{CANARY_USER}\t{CANARY_WORD} lung cancer\t{MOMENT}\n",
        f"{CANARY_USER}\t{CANARY_WORD}@example.org\t{MOMENT}\n",
        f"{CANARY_USER}\t{CANARY_WORD}\tno time at all {CANARY_WORD}\n",
        f"{CANARY_USER}\t{CANARY_WORD} without a tab\n",
    ]
    path.write_text(SAMPLE_LOG.read_text() + "".join(rows))
    return path


def watched_run(folder: Path, log: Path, store: Path, *options: str) -> Watched:
    return watched(folder, store, ["flows.run", str(log), *options])


def watched(folder: Path, store: Path, arguments: list[str]) -> Watched:
    """Run a command; what it leaves lies in the folder."""
    own_store = folder / "store"
    if not own_store.exists():
        prepared_store(own_store, store)
    environment = {
        **{name: value for name, value in os.environ.items() if "PREFECT" not in name},
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "guard"), str(ROOT)]),
        "LOGVEIL_NETWORK_NOTES": str(folder / "network.txt"),
        "PREFECT_HOME": str(folder / "prefect"),
        "HOME": str(folder / "home"),
    }
    command = [sys.executable, "-m", *arguments]
    command += ["--out", str(folder / "out"), "--store", str(own_store)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    return Watched(folder, done)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return canary_log(tmp_path_factory.mktemp("input") / "log.tsv")


@pytest.fixture(scope="module")
def under_prefect(log: Path, store: Path, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return watched_run(tmp_path_factory.mktemp("prefect"), log, store)


@pytest.fixture(scope="module")
def bare(log: Path, store: Path, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return watched_run(tmp_path_factory.mktemp("bare"), log, store, "--bare")


@pytest.fixture(scope="module")
def inbox_under_prefect(
    log: Path, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Watched:
    """An inbox with a file full of canaries and one that cannot be read, worked on twice."""
    folder = tmp_path_factory.mktemp("inbox")
    inbox = folder.parent / f"{folder.name}-incoming"
    inbox.mkdir()
    shutil.copy(log, inbox / "log.tsv")
    (inbox / "bad.tsv").write_text(f"{CANARY_WORD} {CANARY_USER}\n" * 3)
    arguments = ["flows.inbox", "--inbox", str(inbox), "--settle", "0"]
    first = watched(folder, store, arguments)
    shutil.copy(log, inbox / "again.tsv")
    return Watched(folder, watched(folder, store, arguments).done, first.done)


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The bytes of every file, archives unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        raw = path.read_bytes()
        yield path, raw
        if raw.startswith(b"SQLite format 3"):
            yield from values(path)
        else:
            yield from unpacked(path, raw)


def unpacked(path: Path, raw: bytes) -> Iterator[tuple[Path, bytes]]:
    """What a packed file, or one that a checksum stands before, holds."""
    if zipfile.is_zipfile(io.BytesIO(raw)):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for name in archive.namelist():
                yield path / name, archive.read(name)
    elif raw[:2] == b"\x1f\x8b":
        yield path / "unpacked", gzip.decompress(raw)


def values(database: Path) -> Iterator[tuple[Path, bytes]]:
    """Every value in every table: on the disk a long one may lie in pieces."""
    with sqlite3.connect(database) as connection:
        connection.text_factory = bytes
        tables = connection.execute("select name from sqlite_master where type = 'table'")
        for (table,) in tables.fetchall():
            name = table.decode()
            for row in connection.execute(f'select * from "{name}"'):
                for place, value in enumerate(row):
                    if isinstance(value, bytes):
                        yield database / name / str(place), value
                        yield from unpacked(database / name / str(place), value)


@pytest.mark.prefect
@pytest.mark.slow
def test_a_run_under_prefect_succeeds_and_is_recorded(under_prefect: Watched) -> None:
    assert under_prefect.done.returncode == 0, under_prefect.done.stderr.decode()
    (database,) = (under_prefect.folder / "prefect").glob("prefect.db")
    with sqlite3.connect(database) as connection:
        states = connection.execute("select state_type from flow_run").fetchall()
        tasks = {name for (name,) in connection.execute("select name from task_run")}
    assert states == [("COMPLETED",)]
    assert {"read", "analyse", "compare", "cluster", "redact", "verify"} <= tasks


@pytest.mark.prefect
@pytest.mark.slow
def test_bare_and_prefect_write_the_same_bytes(under_prefect: Watched, bare: Watched) -> None:
    assert bare.done.returncode == 0, bare.done.stderr.decode()
    written = [
        (watched.folder / "out" / "release.tsv").read_bytes() for watched in (under_prefect, bare)
    ]
    assert written[0] == written[1]


@pytest.mark.prefect
@pytest.mark.slow
def test_no_canary_in_any_byte_a_run_leaves(under_prefect: Watched, bare: Watched) -> None:
    for watched in (under_prefect, bare):
        files = list(contents(watched.folder))
        assert watched.folder / "out" / "release.tsv" in dict(files)
        files += [(Path("stdout"), watched.done.stdout), (Path("stderr"), watched.done.stderr)]
        assert_no_canary(files)


def assert_no_canary(files: list[tuple[Path, bytes]]) -> None:
    for canary in CANARIES:
        assert [path for path, content in files if canary in content] == []


def test_the_search_finds_what_is_hidden(tmp_path: Path) -> None:
    """The search proves nothing if it does not look inside."""
    packed = io.BytesIO()
    np.savez_compressed(packed, word=np.frombuffer(CANARY_WORD.encode() * 50, dtype=np.uint8))
    (tmp_path / "blob").write_bytes(b"0123456789abcdef" + packed.getvalue())
    with sqlite3.connect(tmp_path / "base") as connection:
        connection.execute("create table t (v)")
        connection.execute("insert into t values (?)", (packed.getvalue(),))
    found = [path for path, content in contents(tmp_path) if CANARY_WORD.encode() in content]
    assert len(found) == 2


@pytest.mark.prefect
@pytest.mark.slow
def test_no_canary_in_any_byte_an_inbox_leaves(inbox_under_prefect: Watched) -> None:
    first, again = inbox_under_prefect.before, inbox_under_prefect.done
    assert first is not None
    assert (first.returncode, again.returncode) == (3, 0), first.stderr.decode()
    files = list(contents(inbox_under_prefect.folder))
    assert any(path.name == "ledger.sqlite3" for path, _ in files)
    assert any("release-0001" in path.parts for path, _ in files)
    for done in (first, again):
        files += [(Path("stdout"), done.stdout), (Path("stderr"), done.stderr)]
    assert_no_canary(files)
    assert inbox_under_prefect.network_notes == ""


@pytest.mark.prefect
@pytest.mark.slow
def test_a_repeated_run_shows_its_phases_as_cached(
    under_prefect: Watched, log: Path, store: Path
) -> None:
    """Last of the runs in this home: nothing but handles is persisted."""
    again = watched_run(under_prefect.folder, log, store)
    assert again.done.returncode == 0, again.done.stderr.decode()
    (database,) = (under_prefect.folder / "prefect").glob("prefect.db")
    with sqlite3.connect(database) as connection:
        rows = connection.execute("select name, state_name from task_run order by created")
        states = list(rows)
    assert states[9:] == [*((phase, "Cached") for phase in PHASES), ("publish", "Completed")]
    assert [state for _, state in states[:9]] == ["Completed"] * 9
    for path in (under_prefect.folder / "prefect" / "storage").iterdir():
        kept = json.loads(path.read_text())["result"]
        assert re.fullmatch('"[0-9a-f]{32}"', kept), path


@pytest.mark.prefect
@pytest.mark.slow
def test_no_run_calls_anybody(under_prefect: Watched, bare: Watched) -> None:
    assert (under_prefect.network_notes, bare.network_notes) == ("", "")


def test_the_guard_guards(tmp_path: Path) -> None:
    """The watched runs prove nothing if the guard sleeps."""
    notes = tmp_path / "notes"
    code = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=1)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "tests" / "guard"),
            "LOGVEIL_NETWORK_NOTES": str(notes),
        },
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0
    assert "192.0.2.1" in notes.read_text()


def test_unexpected_errors_tell_the_place_but_not_the_data() -> None:
    from tasks.errors import UnexpectedError
    from tasks.runtime.redacted_errors import redacted_errors

    @redacted_errors
    def analyse() -> None:
        raise ValueError(CANARY_WORD)

    with pytest.raises(UnexpectedError) as caught:
        analyse()
    assert CANARY_WORD not in str(caught.value)
    assert "ValueError at test_privacy.py" in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
