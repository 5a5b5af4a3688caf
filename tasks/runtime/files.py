"""Files that only their owner may read, never seen half written; and folders for one run at a time.

The kernel holds a folder's lock for the open file, so it goes with a process that is killed. The
file itself stays: whoever deleted it would let a second run lock a new file of the same name.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tasks.errors import InputError

SECRET_BYTES: Final = 32
ASIDE: Final = ".aside-"
LOCK_NAME: Final = ".logveil.lock"


def make_private(folder: Path) -> None:
    """Make a folder that nobody else may enter, nor any folder that must be made above it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)


def write_private(path: Path, content: bytes) -> None:
    """Write aside, then rename; nobody else may enter the folder."""
    try:
        make_private(path.parent)
        _replace(path, content)
    except OSError as fault:
        raise InputError(f"cannot write to --store: {path}: {fault.strerror}") from None


def write_for_owner(path: Path, content: bytes) -> None:
    """The same in a folder of the user's, which stays as it is."""
    try:
        _replace(path, content)
    except OSError as fault:
        raise InputError(f"cannot write {path}: {fault.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    with _written_aside(path, content) as aside:
        os.replace(aside, path)


def remove_asides(paths: Iterable[Path]) -> None:
    """Remove what processes that were killed meanwhile had begun to write to these paths."""
    paths = set(paths)
    for folder in {path.parent for path in paths}:
        for aside in folder.glob(f"{ASIDE}*"):
            if folder / aside.name.removeprefix(ASIDE).rpartition("-")[0] in paths:
                aside.unlink(missing_ok=True)


def store_secret(store: Path) -> bytes:
    """The secret of a store, with which texts and user ids are hashed; made on first use."""
    path = store / "secret"
    try:
        make_private(store)
        if not path.exists():
            _create_once(path, secrets.token_bytes(SECRET_BYTES))
        secret = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None
    if len(secret) != SECRET_BYTES:
        raise InputError(f"{path} is damaged: restore it, or delete it to start with a new one")
    return secret


def _create_once(path: Path, content: bytes) -> None:
    """Of several processes at once one makes the file, whole; the others take that one."""
    with suppress(FileExistsError), _written_aside(path, content) as aside:
        os.link(aside, path)


@contextmanager
def _written_aside(path: Path, content: bytes) -> Iterator[Path]:
    """The content in a file beside the path, on the disk; gone afterwards, if it was not moved."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{ASIDE}{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder have reached the disk: a crash must not undo them."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Keep every other run out of a folder, which is made if need be.

    Args:
        waiting: called once if another run has the folder, before waiting for it.

    Raises:
        InputError: the folder cannot be made or locked.
    """
    with os.fdopen(_open_lock(folder)) as file:
        _acquire(file.fileno(), folder, waiting)
        try:
            yield
        finally:
            # Closing alone would leave the lock to a child that is just being started.
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def _open_lock(folder: Path) -> int:
    """Python closes the file in every program it starts, so no child can outlive us with it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as fault:
        raise _cannot_lock(folder, fault) from None


def _acquire(handle: int, folder: Path, waiting: Callable[[], None]) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    except BlockingIOError:
        pass
    except OSError as fault:
        raise _cannot_lock(folder, fault) from None
    waiting()
    fcntl.flock(handle, fcntl.LOCK_EX)


def _cannot_lock(folder: Path, fault: OSError) -> InputError:
    return InputError(
        f"cannot lock {folder}: {fault.strerror}; check that it is a folder you may write to"
    )
