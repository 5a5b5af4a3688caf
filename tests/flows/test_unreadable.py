"""A file that cannot be read, and a fault of the program: the other files go on, none is lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows import batches, inbox
from tasks.errors import DiskTrouble
from tasks.runtime.fingerprint import content_digest
from tests.helpers.commands import command
from tests.helpers.generated import write_parts

KINDS = ["append", "new"]


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    """Two files; what is put beside them comes before, between or after."""
    first, second = write_parts(tmp_path / "incoming", 2, queries=600, users=60, seed=5)
    first.rename(first.with_name("b.tsv"))
    second.rename(second.with_name("d.tsv"))
    return tmp_path / "incoming"


@pytest.fixture
def options(new_store: Callable[[], Path], tmp_path: Path, incoming: Path) -> list[str]:
    folders = ["--inbox", str(incoming), "--out", str(tmp_path / "out")]
    return [*folders, "--store", str(new_store()), "--settle", "0", "--bare", "--json"]


def told_by(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def lie_there(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_may_not_be_read_are_put_aside(
    kind: str, incoming: Path, options: list[str], tmp_path: Path
) -> None:
    for name in ("a.tsv", "c.tsv"):
        shutil.copy(incoming / "b.tsv", incoming / name)
        with (incoming / name).open("a") as stream:
            stream.write(f"7\t{name}\t2006-03-01 10:00:00\n")
        (incoming / name).chmod(0)
    given = ["flows.inbox", *options, "--edition", kind]
    done = command(given, tmp_path, unprivileged=True)
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert set(told["failed"]) == {"a.tsv", "c.tsv"}
    assert all("Permission denied" in reason for reason in told["failed"].values())
    assert told["released"]
    assert (tmp_path / "out/edition-0001/release-0001/release.tsv").exists()
    assert lie_there(incoming) == {"done", "failed"}
    # Once only: the next run has nothing to complain of, and one that is put back is taken.
    assert command(given, tmp_path, unprivileged=True).returncode == 0
    (incoming / "failed" / "a.tsv").chmod(0o600)
    (incoming / "failed" / "a.tsv").rename(incoming / "a.tsv")
    again = command(given, tmp_path, unprivileged=True)
    assert again.returncode == 0, again.stderr
    # Its events came with another file too: whether they are released again is not asked here.
    assert [path for path in (incoming / "done").iterdir() if path.name.endswith("-a.tsv")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_can_neither_be_read_nor_moved_is_skipped(
    kind: str, incoming: Path, options: list[str], tmp_path: Path
) -> None:
    (incoming / "a.tsv").touch()
    (incoming / "a.tsv").chmod(0)
    (incoming / "failed").mkdir()
    (incoming / "failed").chmod(0o500)
    done = command(["flows.inbox", *options, "--edition", kind], tmp_path, unprivileged=True)
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert list(told["skipped"]) == ["a.tsv"]
    assert told["released"]
    assert lie_there(incoming) == {"a.tsv", "done", "failed"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_does_not_answer_for_one_file_is_asked_again_later(
    kind: str,
    incoming: Path,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answers(path: Path) -> str:
        if path.name == "b.tsv":
            raise DiskTrouble(f"cannot read {path}: {os.strerror(errno.EIO)}")
        return content_digest(path)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "content_digest", answers)
        assert inbox.main([*options, "--edition", kind]) == 3
    told = told_by(capsys)
    assert "Input/output error" in told["skipped"]["b.tsv"]
    assert told["released"]
    assert lie_there(incoming) == {"b.tsv", "done"}
    assert inbox.main([*options, "--edition", kind]) == 0
    assert lie_there(incoming) == {"done"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_done_and_cannot_be_read_any_more_stops_nobody(
    kind: str, incoming: Path, options: list[str], tmp_path: Path
) -> None:
    later = shutil.move(incoming / "d.tsv", tmp_path / "d.tsv")
    given = ["flows.inbox", *options, "--edition", kind]
    assert command(given, tmp_path, unprivileged=True).returncode == 0
    (done,) = (incoming / "done").iterdir()
    done.chmod(0)
    shutil.move(later, incoming / "d.tsv")
    second = command(given, tmp_path, unprivileged=True)
    assert second.returncode == (0 if kind == "append" else 3), second.stderr
    assert json.loads(second.stdout)["released"]
    assert b"put it back" in second.stderr if kind == "append" else b"skipped" in second.stderr
    assert done.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_odd_things_in_an_inbox_stop_nobody(
    kind: str, incoming: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (incoming / "a-folder.tsv").mkdir()
    (incoming / "a-folder.tsv" / "x").touch()
    (incoming / "a-dangling.tsv").symlink_to("nowhere")
    (incoming / "a-loop.tsv").symlink_to("a-loop.tsv")
    os.mkfifo(incoming / "a-pipe.tsv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(incoming / "s"))
        assert inbox.main([*options, "--edition", kind]) == 0
    assert told_by(capsys)["released"]
    odd = {"a-folder.tsv", "a-dangling.tsv", "a-loop.tsv", "a-pipe.tsv", "s"}
    assert lie_there(incoming) == {*odd, "done"}


def test_a_fault_of_the_program_puts_no_file_aside(
    incoming: Path,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They stay, each is tried, and the exit code says whose fault it is."""
    (incoming / "a.gz").write_bytes(b"\x1f\x8b damaged")
    with monkeypatch.context() as patch:
        patch.setattr("tasks.adapters.release_files.write_rows", lambda *given: 1 / 0)
        assert inbox.main(options) == 1
    told = told_by(capsys)
    assert set(told["skipped"]) == {"b.tsv", "d.tsv"}
    assert all("please report this" in reason for reason in told["skipped"].values())
    assert set(told["failed"]) == {"a.gz"}
    assert inbox.main(options) == 0
    assert lie_there(incoming) == {"done", "failed"}
    assert len(told_by(capsys)["released"]) == 2
