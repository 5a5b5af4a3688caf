"""Files that only their owner may read, never seen half written; and folders for one run at a time.

The kernel holds a folder's lock for the open file, so it goes with a process that is killed. The
owner removes the file before it frees it: whoever has waited looks whether it is still there.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Final

from tasks.errors import InputError

SECRET_BYTES: Final = 32
LEDGER_NAME: Final = "ledger.sqlite3"
RELEASES: Final = "releases"
"""The folder of what is kept beside each release, who stands behind it above all."""
BEGIN_ANEW: Final = (
    "restore it from a backup; without it people of later files cannot be matched with those of "
    "earlier ones, so all else you can do is begin anew, with another --store and another --out"
)
ASIDE: Final = ".aside-"
LOCK_NAME: Final = ".logveil.lock"
NOT_FOR_ALL: Final = 0o775
"""Mode of folders for what is published, under any umask: not everybody may put things there."""


def make_private(folder: Path) -> None:
    """Make a folder that nobody else may enter, nor any folder that must be made above it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)


Content = bytes | Callable[[BinaryIO], None]
"""What is to be written, or who writes it."""


def write_private(path: Path, content: Content) -> None:
    """Write aside, then rename; nobody else may enter the folder."""
    try:
        make_private(path.parent)
        _replace(path, content)
    except OSError as fault:
        raise InputError(f"cannot write to --store: {path}: {fault.strerror}") from None


def write_for_owner(path: Path, content: Content) -> None:
    """The same in a folder of the user's, which stays as it is."""
    try:
        _replace(path, content)
    except OSError as fault:
        raise InputError(f"cannot write {path}: {fault.strerror}") from None


def _replace(path: Path, content: Content) -> None:
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
    """The secret of a store, with which texts and user ids are hashed; made on first use.

    Raises:
        InputError: it is damaged, or gone from a store that was released with.
    """
    path = store / "secret"
    try:
        make_private(store)
        if not path.exists():
            refuse_lost_secret(store)
            create_once(path, secrets.token_bytes(SECRET_BYTES))
        secret = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None
    if len(secret) != SECRET_BYTES:
        raise InputError(f"{path} is damaged: {BEGIN_ANEW}")
    return secret


def refuse_lost_secret(store: Path) -> None:
    """A new secret would not know the people of earlier releases again.

    The secret is made before anything that would be worth nothing without it.

    Raises:
        InputError: the store has a ledger or provenance, but no secret.
    """
    path = store / "secret"
    if path.exists():
        return
    # A draft that a killed run left is worth nothing without its run.
    kept = [store / LEDGER_NAME, *(store / RELEASES).glob("[!.]*")]
    left = next((each for each in kept if each.exists()), None)
    if left is not None:
        raise InputError(f"{path} is gone, but {left} is there: {BEGIN_ANEW}")


def try_folder(folder: Path) -> None:
    """See that a folder can be made and written to, before any work goes into what it is for.

    One that was not there is gone again afterwards.

    Raises:
        InputError: it cannot.
    """
    made = not folder.exists()
    try:
        _write_something(folder)
    except OSError as fault:
        raise InputError(
            f"cannot write to --out {folder}: {fault.strerror}; check the disk and who may write "
            "there, or name another folder"
        ) from None
    if made:
        with suppress(OSError):
            folder.rmdir()


def _write_something(folder: Path) -> None:
    while True:
        folder.mkdir(NOT_FOR_ALL, parents=True, exist_ok=True)
        # Another run that tries the same may just be removing the folder.
        with suppress(FileNotFoundError), tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(b"?")
            return


def create_once(path: Path, content: bytes) -> None:
    """Of several processes at once one makes the file, whole; the others take that one."""
    with suppress(FileExistsError), _written_aside(path, content) as aside:
        os.link(aside, path)


@contextmanager
def _written_aside(path: Path, content: Content) -> Iterator[Path]:
    """The content in a file beside the path, on the disk; gone afterwards, if it was not moved."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{ASIDE}{path.name}-")
    try:
        with os.fdopen(handle, "w+b") as stream:
            if isinstance(content, bytes):
                stream.write(content)
            else:
                content(stream)
            stream.flush()
            os.fsync(stream.fileno())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def process_lives(pid: str) -> bool:
    """Whether there is a process of this number, which what it writes aside is named after."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder have reached the disk: a crash must not undo them."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Keep every other run out of a folder, which is made if need be, and goes if it stays empty.

    Args:
        waiting: called once if another run has the folder, before waiting for it.

    Raises:
        InputError: the folder cannot be made or locked.
    """
    made = not folder.exists()
    with _locked_file(folder, waiting) as file:
        try:
            yield
        finally:
            with suppress(OSError):
                (folder / LOCK_NAME).unlink()
                if made:
                    folder.rmdir()
            # Closing alone would leave the lock to a child that is just being started.
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def _locked_file(folder: Path, waiting: Callable[[], None]) -> IO[str]:
    """The file that is locked now; one that its last owner has removed is no longer anybody's."""
    while True:
        file = os.fdopen(_open_lock(folder))
        try:
            if not _lock_at_once(file.fileno(), folder):
                waiting()
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            if _is_still_there(file.fileno(), folder / LOCK_NAME):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def _open_lock(folder: Path) -> int:
    """Python closes the file in every program it starts, so no child can outlive us with it."""
    try:
        while True:
            # Whoever was there before may be removing the folder between any two of these steps.
            with suppress(FileNotFoundError):
                _make_folder(folder)
                # A link that somebody put there must not make a file elsewhere.
                how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
                return os.open(folder / LOCK_NAME, how, 0o600)
    except OSError as fault:
        raise _cannot_lock(folder, fault) from None


def _make_folder(folder: Path) -> None:
    """As `mkdir` with `exist_ok`, which takes a folder that is gone again for a file in the way."""
    try:
        folder.mkdir(NOT_FOR_ALL, parents=True, exist_ok=True)
    except FileExistsError as fault:
        if not stat.S_ISDIR(os.lstat(fault.filename).st_mode):
            raise


def _lock_at_once(handle: int, folder: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as fault:
        raise _cannot_lock(folder, fault) from None
    return True


def _is_still_there(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _cannot_lock(folder: Path, fault: OSError) -> InputError:
    return InputError(
        f"cannot lock {folder}: {fault.strerror}; check that it is a folder you may write to"
    )
