"""The folder of incoming files: none taken too early, none lost, none overwritten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.editions import inbox as module
from tasks.editions.inbox import (
    complete_files,
    done_files,
    done_name,
    find_done,
    move_to_done,
    move_to_failed,
    move_to_known,
)
from tasks.errors import InputError
from tasks.runtime.fingerprint import content_digest

OLD = 1_000_000_000
NOT_UTF_8 = os.fsdecode(b"caf\xe9.tsv")


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, in place of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def delivered(inbox: Path, name: str, content: str = "", mtime: float = OLD) -> Path:
    path = inbox / name
    path.write_text(content)
    os.utime(path, (mtime, mtime))
    return path


def during_the_nap(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: action())


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_old_files_are_complete_at_once_in_the_order_of_their_names(
    inbox: Path, naps: list[float]
) -> None:
    for name in ("b.tsv", "a.tsv", "C.tsv", NOT_UTF_8):
        delivered(inbox, name)
    complete, unfinished = complete_files(inbox, 5)
    assert (names(complete), unfinished) == (sorted(["C.tsv", "a.tsv", "b.tsv", NOT_UTF_8]), [])
    assert sum(naps) == 0


def test_an_empty_inbox_does_not_wait(inbox: Path, naps: list[float]) -> None:
    assert complete_files(inbox, 5) == ([], [])
    assert sum(naps) == 0


@pytest.mark.parametrize(
    "name", [".hidden", "a.part", "a.tmp", "a.partial", "a.CRDOWNLOAD", ".a.swp", "a.swp", "a.tsv~"]
)
def test_files_named_as_unfinished_are_not_looked_at(inbox: Path, name: str) -> None:
    delivered(inbox, name)
    assert complete_files(inbox, 5) == ([], [])


def test_only_regular_files_directly_in_the_folder_count(inbox: Path, tmp_path: Path) -> None:
    (inbox / "folder").mkdir()
    delivered(inbox / "folder", "inside.tsv")
    (inbox / "link.tsv").symlink_to(delivered(tmp_path, "elsewhere.tsv"))
    os.mkfifo(inbox / "pipe.tsv")
    assert complete_files(inbox, 5) == ([], [])


def test_young_files_are_watched_together_until_they_are_old_enough(
    inbox: Path, naps: list[float]
) -> None:
    now = time.time()
    for age in (1, 2, 3):
        delivered(inbox, f"{age}.tsv", mtime=now - age)
    complete, unfinished = complete_files(inbox, 5)
    assert (names(complete), unfinished) == (["1.tsv", "2.tsv", "3.tsv"], [])
    assert naps == [pytest.approx(4, abs=0.9)]


def test_a_file_from_the_future_is_watched_no_longer_than_others(
    inbox: Path, naps: list[float]
) -> None:
    path = delivered(inbox, "a.tsv", mtime=time.time() + 1e6)
    assert complete_files(inbox, 5) == ([path], [])
    assert naps == [5]


def grow(path: Path) -> None:
    status = path.stat()
    with path.open("a") as stream:
        stream.write("more")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_by_another(path: Path) -> None:
    status = path.stat()
    other = path.with_name(".other")
    other.write_text(path.read_text())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)


@pytest.mark.parametrize("change", [grow, os.utime, replace_by_another])
def test_a_file_that_changes_under_watch_is_unfinished(
    inbox: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    young = delivered(inbox, "a.tsv", mtime=time.time() - 1)
    old = delivered(inbox, "b.tsv")
    during_the_nap(monkeypatch, lambda: change(young))
    assert complete_files(inbox, 5) == ([old], [young])


def test_a_file_that_goes_under_watch_is_neither(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    young = delivered(inbox, "a.tsv", mtime=time.time())
    during_the_nap(monkeypatch, young.unlink)
    assert complete_files(inbox, 5) == ([], [])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes")
@pytest.mark.parametrize(("mode", "writes"), [("a", True), ("r+", True), ("r", False)])
def test_a_file_that_another_process_writes_is_unfinished(
    inbox: Path, mode: str, writes: bool
) -> None:
    path = delivered(inbox, "a.tsv")
    code = "import sys; f = open(*sys.argv[1:]); print(flush=True); input()"
    command = [sys.executable, "-c", code, str(path), mode]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = complete_files(inbox, 5)
        process.kill()
    assert found == (([], [path]) if writes else ([path], []))
    assert complete_files(inbox, 5) == ([path], [])


def test_a_system_that_does_not_tell_who_writes_is_no_obstacle(inbox: Path, tmp_path: Path) -> None:
    path = delivered(inbox, "a.tsv")
    with path.open("a"):
        assert complete_files(inbox, 5, tmp_path / "no-proc") == ([path], [])


def test_a_missing_inbox_is_an_input_error(tmp_path: Path) -> None:
    delivered(tmp_path, "file")
    for name in ("missing", "file"):
        with pytest.raises(InputError, match=f"the inbox .*{name} is no folder: make it"):
            complete_files(tmp_path / name, 5)


def test_an_inbox_that_cannot_be_written_to_is_an_input_error(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    with pytest.raises(InputError, match="allow this user to write there"):
        complete_files(inbox, 5)


def test_a_done_file_is_kept_and_found_by_its_content(inbox: Path) -> None:
    paths = [delivered(inbox, name, ascii(name)) for name in ("b.tsv", "a.tsv", NOT_UTF_8)]
    shas = [content_digest(path) for path in paths]
    for path, sha in zip(paths, shas, strict=True):
        target = move_to_done(inbox, path, sha)
        assert target == inbox / "done" / f"{sha[:12]}-{path.name}" == find_done(inbox, sha)
    assert complete_files(inbox, 5) == ([], [])
    assert done_files(inbox) == sorted((inbox / "done").iterdir())
    assert len(done_files(inbox)) == 3


def test_a_kept_file_that_was_changed_or_only_looks_alike_is_not_found(inbox: Path) -> None:
    path = delivered(inbox, "a.tsv", "content")
    sha = content_digest(path)
    assert find_done(inbox, sha) is None
    target = move_to_done(inbox, path, sha)
    assert target is not None
    target.write_text("changed")
    assert find_done(inbox, sha) is None
    delivered(inbox / "done", done_name(sha, "b.tsv"), "content")
    assert find_done(inbox, sha) == inbox / "done" / done_name(sha, "b.tsv")


def test_nothing_is_overwritten_in_known_and_failed(inbox: Path) -> None:
    for content in ("one", "two", "three"):
        move_to_known(inbox, delivered(inbox, "a.tsv", content))
        move_to_failed(inbox, delivered(inbox, "a.tsv", content), "reason")
    for shelf in ("known", "failed"):
        found = {path.name: path.read_text() for path in (inbox / shelf).glob("a*.tsv")}
        assert found == {"a.tsv": "one", "a-2.tsv": "two", "a-3.tsv": "three"}
    reasons = [path.read_text() for path in (inbox / "failed").glob("*.reason.txt")]
    assert reasons == ["reason\n"] * 3


def test_a_failed_file_is_not_overwritten_by_the_reason_of_another(inbox: Path) -> None:
    move_to_failed(inbox, delivered(inbox, "a.tsv.reason.txt", "content"), "first")
    assert move_to_failed(inbox, delivered(inbox, "a.tsv"), "second") == inbox / "failed/a-2.tsv"
    assert (inbox / "failed" / "a.tsv.reason.txt").read_text() == "content"


@pytest.mark.parametrize("written", ["", "the rea", "the reason\n"])
def test_a_failure_begun_by_a_killed_run_is_finished(inbox: Path, written: str) -> None:
    (inbox / "failed").mkdir()
    delivered(inbox / "failed", "a.tsv.reason.txt", written)
    move_to_failed(inbox, delivered(inbox, "a.tsv", "content"), "the reason")
    found = {path.name: path.read_text() for path in (inbox / "failed").iterdir()}
    assert found == {"a.tsv": "content", "a.tsv.reason.txt": "the reason\n"}


def test_a_file_that_was_moved_already_is_left_where_it_is(inbox: Path) -> None:
    path = inbox / "a.tsv"
    assert move_to_done(inbox, path, "ab" * 32) is None
    assert move_to_known(inbox, path) is None
    assert move_to_failed(inbox, path, "reason") is None
    assert [entry for entry in inbox.rglob("*") if not entry.is_dir()] == []


def test_moves_reach_the_disk(inbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(module, "sync_folder", synced.append)
    move_to_known(inbox, delivered(inbox, "a.tsv"))
    assert set(synced) == {inbox, inbox / "known"}


def test_the_longest_names_find_room_and_keep_their_end(inbox: Path) -> None:
    name = "x" * 248 + ".tsv.gz"
    assert len(name) == 255
    assert move_to_known(inbox, delivered(inbox, name)) is not None
    assert move_to_known(inbox, delivered(inbox, name)) is not None
    assert move_to_failed(inbox, delivered(inbox, name), "reason") is not None
    assert move_to_failed(inbox, delivered(inbox, name), "reason") is not None
    target = move_to_done(inbox, delivered(inbox, name), "ab" * 32)
    assert target is not None
    assert target.name.endswith("xxx.tsv.gz")


def test_a_reason_may_name_any_file(inbox: Path) -> None:
    target = move_to_failed(inbox, delivered(inbox, NOT_UTF_8), f"cannot read {NOT_UTF_8}")
    assert target is not None
    assert target.with_name(f"{target.name}.reason.txt").read_text() == (
        "cannot read caf\\udce9.tsv\n"
    )


def test_nobody_sees_more_of_moved_files_than_of_the_inbox(inbox: Path) -> None:
    inbox.chmod(0o700)
    previous = os.umask(0)
    try:
        move_to_done(inbox, delivered(inbox, "a.tsv"), "ab" * 32)
    finally:
        os.umask(previous)
    assert stat.S_IMODE((inbox / "done").stat().st_mode) == 0o700


def test_a_file_in_the_way_of_a_folder_is_an_input_error(inbox: Path) -> None:
    delivered(inbox, "done")
    with pytest.raises(InputError, match=r"cannot make .*done: File exists; check"):
        move_to_done(inbox, delivered(inbox, "a.tsv"), "ab" * 32)
    assert (inbox / "a.tsv").exists()


@pytest.mark.parametrize("name", ["done", "known", "failed"])
def test_a_link_in_the_place_of_a_folder_leads_nowhere(
    name: str, inbox: Path, tmp_path: Path
) -> None:
    """Whoever may put files into the inbox would have ours moved to a place of theirs to choose."""
    (tmp_path / "elsewhere").mkdir()
    (inbox / name).symlink_to(tmp_path / "elsewhere")
    path = inbox / "authorized_keys"
    path.write_text("theirs")
    with pytest.raises(InputError, match="is a link"):
        complete_files(inbox, 0)
    # Put there meanwhile, while the file was read.
    moves: dict[str, Callable[[], object]] = {
        "done": lambda: move_to_done(inbox, path, "ab" * 32),
        "known": lambda: move_to_known(inbox, path),
        "failed": lambda: move_to_failed(inbox, path, "no log"),
    }
    with pytest.raises(InputError, match="Not a directory"):
        moves[name]()
    assert path.exists()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_move_that_fails_leaves_the_file(inbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: str, *, dst_dir_fd: int) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"cannot move .*a\.tsv to .*known: Invalid cross-device"):
        move_to_known(inbox, delivered(inbox, "a.tsv"))
    assert (inbox / "a.tsv").exists()
