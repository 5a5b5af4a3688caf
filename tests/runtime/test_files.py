"""Files that only their owner may read, and the lock of a folder, which has one owner.

Also across processes, and never a dead one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tasks.errors import InputError
from tasks.runtime.files import (
    LOCK_NAME,
    SECRET_BYTES,
    locked,
    make_private,
    remove_asides,
    store_secret,
    write_private,
)

ROOT = Path(__file__).parent.parent.parent
HOLD_UNTIL_TOLD = """
import sys
from pathlib import Path
from tasks.runtime.files import locked
with locked(Path(sys.argv[1]), lambda: print("waiting", flush=True)):
    print("held", flush=True)
    sys.stdin.readline()
print("freed", flush=True)
"""
HOLD_WITH_A_CHILD = """
import subprocess, sys
from pathlib import Path
from tasks.runtime.files import locked
with locked(Path(sys.argv[1]), lambda: None):
    child = [sys.executable, "-c", "print('child runs', flush=True); input(); print('child ends')"]
    subprocess.run(child, close_fds=False)
"""


# Private files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """Whatever is made without care is open to all."""
    previous = os.umask(0)
    yield
    os.umask(previous)


@pytest.mark.usefixtures("open_to_all")
def test_a_file_and_the_folders_made_for_it_are_private(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    write_private(tmp_path / "shared" / "deep" / "store" / "file", b"content")
    assert (tmp_path / "shared" / "deep" / "store" / "file").read_bytes() == b"content"
    made = sorted((tmp_path / "shared").rglob("*"))
    assert [mode(path) for path in made] == [0o700, 0o700, 0o600]
    assert mode(tmp_path / "shared") == 0o777, "what was there stays as it is"


@pytest.mark.usefixtures("open_to_all")
def test_a_folder_that_is_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    make_private(tmp_path / "store")
    assert mode(tmp_path / "store") == 0o700


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_private(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match=r"cannot write to --store: .*No space left"):
        write_private(tmp_path / "file", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


def test_what_was_begun_is_removed_for_these_files_alone(tmp_path: Path) -> None:
    begun = (".aside-a-x1_", ".aside-a-b-x1_", ".aside-b-x1_")
    for half in begun:
        (tmp_path / half).write_bytes(b"con")
    remove_asides([tmp_path / "a-b", tmp_path / "b", tmp_path / "gone" / "c"])
    assert [path.name for path in tmp_path.iterdir()] == [".aside-a-x1_"]


# Secrets


def test_one_secret_per_store_also_for_many_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from tasks.runtime.files import store_secret;"
        "sys.stdout.write(store_secret(Path(sys.argv[1])).hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) for _ in range(6)]
    secrets = {run.communicate()[0] for run in runs}
    assert secrets == {store_secret(tmp_path / "store").hex().encode()}
    assert len(store_secret(tmp_path / "store")) == SECRET_BYTES
    assert store_secret(tmp_path / "other") != store_secret(tmp_path / "store")


@pytest.mark.usefixtures("open_to_all")
def test_a_secret_is_private(tmp_path: Path) -> None:
    store_secret(tmp_path / "store")
    assert mode(tmp_path / "store" / "secret") == 0o600


def test_a_damaged_secret_is_an_error(tmp_path: Path) -> None:
    store_secret(tmp_path)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        store_secret(tmp_path)


def test_an_unusable_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot use --store"):
        store_secret(tmp_path / "file" / "store")


# Locks


class Rival:
    """Another process that takes the lock and keeps it until told to let go."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def let_go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def rival_for(folder: Path, code: str = HOLD_UNTIL_TOLD) -> Iterator[Rival]:
    command = [sys.executable, "-c", code, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Rival(process)
        finally:
            process.kill()


def must_not_wait() -> None:
    pytest.fail("nobody holds the lock")


def test_a_free_folder_is_locked_at_once_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        with locked(tmp_path, must_not_wait):
            assert (tmp_path / LOCK_NAME).exists()
    assert list(tmp_path.iterdir()) == [], "nothing is left in a folder that is published"


def test_a_link_in_the_place_of_the_lock_makes_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LOCK_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="cannot lock"), locked(tmp_path / "out", must_not_wait):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_is_freed_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path, must_not_wait):
        _ = 1 / 0
    with locked(tmp_path, must_not_wait):
        pass


def test_the_folder_is_made_and_the_file_is_private(tmp_path: Path) -> None:
    folder, previous = tmp_path / "deep" / "inbox", os.umask(0)
    try:
        with locked(folder, must_not_wait):
            assert stat.S_IMODE((folder / LOCK_NAME).stat().st_mode) == 0o600
    finally:
        os.umask(previous)
    assert not folder.exists(), "nothing came of it"
    with locked(folder, must_not_wait):
        (folder / "made").touch()
    assert [path.name for path in folder.iterdir()] == ["made"]


def test_a_second_process_waits_says_so_once_and_then_gets_it(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with locked(tmp_path, must_not_wait):
            rival = stack.enter_context(rival_for(tmp_path))
            assert rival.says() == "waiting"
        assert rival.says() == "held"
        rival.let_go()
        assert rival.says() == "freed"


def test_of_many_only_one_is_in_the_folder_at_a_time(tmp_path: Path) -> None:
    """Each comes in again and again, while the others remove the file and the folder."""
    folder, witness = tmp_path / "contested", tmp_path / "witness"
    script = (
        "import os, sys; from pathlib import Path; from tasks.runtime.files import locked\n"
        "folder, witness = map(Path, sys.argv[1:])\n"
        "for _ in range(150):\n"
        "    with locked(folder, lambda: None):\n"
        "        os.close(os.open(witness, os.O_CREAT | os.O_EXCL))\n"
        "        witness.unlink()\n"
    )
    command = [sys.executable, "-c", script, str(folder), str(witness)]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    assert not any(tmp_path.rglob(LOCK_NAME))


def test_the_same_process_waits_too_when_it_locks_twice(tmp_path: Path) -> None:
    """Waiting for oneself would last for ever; raising ends it here."""

    def give_up() -> None:
        raise TimeoutError

    with (
        locked(tmp_path, must_not_wait),
        pytest.raises(TimeoutError),
        locked(tmp_path, give_up),
    ):
        pass


def test_the_lock_of_a_killed_owner_goes_to_the_one_who_waits(tmp_path: Path) -> None:
    with rival_for(tmp_path) as owner:
        assert owner.says() == "held"
        with rival_for(tmp_path) as heir:
            assert heir.says() == "waiting"
            owner.process.kill()
            assert heir.says() == "held"


def test_a_child_does_not_keep_the_lock_of_its_killed_parent(tmp_path: Path) -> None:
    with rival_for(tmp_path, HOLD_WITH_A_CHILD) as owner:
        assert owner.says() == "child runs"
        owner.process.kill()
        owner.process.wait()
        with rival_for(tmp_path) as heir:
            assert heir.says() == "held"
        owner.let_go()
        assert owner.says() == "child ends"


def test_a_child_that_is_just_being_started_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A fork that has not yet become the child's program shares every open file."""
    with locked(tmp_path, must_not_wait):
        told, tell = os.pipe()
        if (child := os.fork()) == 0:
            os.read(told, 1)
            os._exit(0)
    try:
        with locked(tmp_path, must_not_wait):
            pass
    finally:
        os.write(tell, b".")
        os.waitpid(child, 0)
        os.close(told)
        os.close(tell)


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"cannot lock .*file: File exists; check"),
        locked(tmp_path / "file", must_not_wait),
    ):
        pass


@pytest.mark.parametrize("beneath", ["", "folder"])
def test_what_is_no_folder_is_an_input_error_and_not_waited_for(
    tmp_path: Path, beneath: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("file", "dangling"):
        with (
            pytest.raises(InputError, match="cannot lock"),
            locked(tmp_path / name / beneath, must_not_wait),
        ):
            pass


def test_a_folder_that_vanishes_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run removes it after `mkdir` found it there and before it was looked at."""
    folder = tmp_path / "vanishing"
    folder.mkdir()
    looked_at = Path.is_dir

    def vanish(path: Path) -> bool:
        monkeypatch.setattr(Path, "is_dir", looked_at)
        folder.rmdir()
        return looked_at(path)

    monkeypatch.setattr(Path, "is_dir", vanish)
    with locked(folder, must_not_wait):
        assert folder.is_dir()


def test_a_disk_without_locks_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(InputError, match="No locks available"),
        locked(tmp_path, must_not_wait),
    ):
        pass
