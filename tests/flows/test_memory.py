"""Logs larger than memory: the same bytes from files, a full disk, and what those files hold."""

from __future__ import annotations

import errno
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli import settings_from
from flows.run import main, parser
from tasks.core import columns
from tasks.runtime import columns as runtime_columns
from tasks.settings import Settings
from tests.helpers.stores import prepared_store
from tests.test_privacy import CANARIES, ROOT, canary_log


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> list[mmap.mmap]:
    """All columns lie in files, and few rows are looked at together; returns the files."""
    made: list[mmap.mmap] = []
    in_file = runtime_columns.ColumnFiles._in_file

    def kept(self: runtime_columns.ColumnFiles, size: int) -> mmap.mmap:
        made.append(in_file(self, size))
        return made[-1]

    monkeypatch.setattr(runtime_columns.ColumnFiles, "_in_file", kept)
    monkeypatch.setattr(runtime_columns, "LEAST_BYTES", 1)
    monkeypatch.setattr(runtime_columns, "IN_MEMORY", 0.0)
    monkeypatch.setattr(columns, "ROWS_AT_A_TIME", 501)
    return made


def released(store: Path, out: Path, *options: str | Path) -> int:
    said = ("--bare", "--quiet", "--store", store, "--out", out, *options)
    return main([str(each) for each in said])


@pytest.mark.parametrize(
    "options",
    [("--scope", "sensitive"), ("--scope", "all"), ("--scope", "all", "--guarantee", "terms")],
    ids=" ".join,
)
def test_bytes_do_not_depend_on_where_columns_lie(
    options: tuple[str, ...], store: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    first, second = (prepared_store(tmp_path / name, store) for name in ("one", "two"))
    assert released(first, tmp_path / "memory", *options) == 0
    files: list[mmap.mmap] = request.getfixturevalue("on_disk")
    assert released(second, tmp_path / "disk", *options, "--memory", "1GB", "--workers", "1") == 0
    assert files
    for name in ("release.tsv", "README.md"):
        assert (tmp_path / "memory" / name).read_bytes() == (tmp_path / "disk" / name).read_bytes()


def test_no_text_and_no_id_lies_on_the_disk(
    store: Path, tmp_path: Path, on_disk: list[mmap.mmap]
) -> None:
    log = canary_log(tmp_path / "log.tsv")
    own = prepared_store(tmp_path / "store", store)
    assert released(own, tmp_path / "out", log, "--scope", "all") == 0
    held = b"\0".join(mapped[:] for mapped in on_disk)
    assert len(held) > 100_000
    assert not [canary for canary in CANARIES if canary in held]


def test_a_full_disk_is_told_and_leaves_nothing(
    store: Path,
    tmp_path: Path,
    on_disk: list[mmap.mmap],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, temp = prepared_store(tmp_path / "store", store), tmp_path / "temp"

    taken = os.posix_fallocate

    def full(handle: int, start: int, size: int) -> None:
        if len(on_disk) >= 9:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken(handle, start, size)

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert released(own, tmp_path / "out", "--temp", temp) == 3
    said = capsys.readouterr().err
    assert f"{temp} has no room" in said
    assert "--temp DIR" in said
    assert "Traceback" not in said
    assert list(temp.iterdir()) == []
    assert not list((tmp_path / "out").glob("*"))


def test_a_killed_run_leaves_no_columns(store: Path, tmp_path: Path) -> None:
    own, temp = prepared_store(tmp_path / "store", store), tmp_path / "temp"
    killed = (
        "import os, signal; from tasks.runtime import columns as c;"
        "c.LEAST_BYTES, c.IN_MEMORY = 1, 0.0;"
        "import flows.release as r;"
        "r.cluster = lambda *a: os.kill(os.getpid(), signal.SIGKILL);"
        "from flows.run import main; import sys; main(sys.argv[1:])"
    )
    said = ("--bare", "--store", own, "--out", tmp_path / "out", "--temp", temp)
    done = subprocess.run([sys.executable, "-c", killed, *map(str, said)], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert list(temp.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "500MB"), "memory must be a number, not"),
        (("--memory", "0.5GB"), "memory must be at least 1 GB, not 0.5"),
        (("--temp", "out/columns"), "must be apart"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told(
    options: tuple[str, ...],
    said: str,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert released(store, Path("out"), *options) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("memory", "workers", "expected"),
    [(1.0, 4, 1), (2.0, 4, 1), (2.5, 4, 2), (8.0, 4, 4), (8.0, 1, 1)],
)
def test_as_many_processes_as_there_is_room_for(memory: float, workers: int, expected: int) -> None:
    assert Settings(memory=memory, workers=workers).processes == expected


def test_memory_is_told_with_and_without_its_unit() -> None:
    told = []
    for said in ("8GB", "8 gb", "8"):
        options = parser().parse_args(["--memory", said])
        options.in_file = {}
        told.append(settings_from(options).memory)
    assert told == [8.0, 8.0, 8.0]
