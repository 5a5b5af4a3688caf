"""Ctrl-C: that it is heeded, what is said, and how to leave while a Prefect server is dying."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

INTERRUPTED: Final = 130


class _Asked:
    """Whether somebody has pressed Ctrl-C in this process."""

    yet = False


@contextmanager
def noting_interrupts() -> Iterator[None]:
    """Remember Ctrl-C: a library that is just being imported, say, may swallow the exception."""

    def note(number: int, frame: FrameType | None) -> None:
        _Asked.yet = True
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        _Asked.yet = False


def heed_interrupts() -> None:
    """Raise what was swallowed."""
    if _Asked.yet:
        raise KeyboardInterrupt


def interrupted(kept: str) -> int:
    """Say so, and what is kept; returns the exit code."""
    print(f"logveil: interrupted; {kept}", file=sys.stderr, flush=True)
    return INTERRUPTED


def leave_at_once(folders: Sequence[Path], kept: str) -> NoReturn:
    """End this process and all it has started; what it wrote aside in the folders is removed."""
    from flows.anonymise import stop_embedded_servers
    from tasks.adapters.release_files import discard_own_draft

    for folder in folders:
        discard_own_draft(folder)
    stop_embedded_servers()
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(interrupted(kept))
