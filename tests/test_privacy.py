"""One real run under Prefect, watched: nothing leaks, nobody is called, the bytes are the same."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tasks.settings import SAMPLE_LOG

ROOT = Path(__file__).parent.parent
CANARY_WORD = "zyxwvcanary"
CANARY_USER = "918273645546372819"
MOMENT = "2006-03-01 10:00:00"


@dataclass(frozen=True)
class Watched:
    """What a run left behind."""

    folder: Path
    done: subprocess.CompletedProcess[bytes]

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
    own_store = folder / "store"
    shutil.copytree(store / "wordnet", own_store / "wordnet")
    environment = {
        **{name: value for name, value in os.environ.items() if "PREFECT" not in name},
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "guard"), str(ROOT)]),
        "LOGVEIL_NETWORK_NOTES": str(folder / "network.txt"),
        "PREFECT_HOME": str(folder / "prefect"),
        "HOME": str(folder / "home"),
    }
    command = [sys.executable, "-m", "flows.run", str(log), *options]
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


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The bytes of every file, archives unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        raw = path.read_bytes()
        yield path, raw
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    yield path / name, archive.read(name)
        elif raw[:2] == b"\x1f\x8b":
            yield path, gzip.decompress(raw)


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
    for name in ("release.tsv", "rejects.tsv"):
        written = [
            (watched.folder / "out" / name).read_bytes() for watched in (under_prefect, bare)
        ]
        assert written[0] == written[1]


@pytest.mark.prefect
@pytest.mark.slow
def test_no_canary_in_any_byte_a_run_leaves(under_prefect: Watched, bare: Watched) -> None:
    for watched in (under_prefect, bare):
        files = dict(contents(watched.folder))
        assert watched.folder / "out" / "release.tsv" in files
        files[Path("stdout")] = watched.done.stdout
        files[Path("stderr")] = watched.done.stderr
        for canary in (CANARY_WORD.encode(), CANARY_USER.encode()):
            assert [path for path, content in files.items() if canary in content] == []


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
    from tasks.core.errors import UnexpectedError
    from tasks.phases import contained

    @contained
    def analyse() -> None:
        raise ValueError(CANARY_WORD)

    with pytest.raises(UnexpectedError) as caught:
        analyse()
    assert CANARY_WORD not in str(caught.value)
    assert "ValueError at test_privacy.py" in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
