"""One run at a time in a folder.

The kernel holds the lock for the open file, so it goes with a process that is killed. The file
itself stays: whoever deleted it would let a second run lock a new file of the same name.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tasks.core.errors import InputError

LOCK_NAME: Final = ".logveil.lock"


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
