"""What holds for a command's whole process: Ctrl-C, and what Prefect is told before its import.

Ctrl-C is heeded even where a library swallows it; with a Prefect server that is dying too, the
process leaves at once.
"""

from __future__ import annotations

import codecs
import multiprocessing
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

INTERRUPTED: Final = 130
REPORTS: Final = "LOGVEIL_REPORTS_URL"
"""Where the services let a browser read the reports of their releases."""
PREFECT_DEFAULTS: Final = {
    # The embedded server needs up to half a minute on a fresh home; Prefect gives it 20 s.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # No telemetry: a tool for private logs talks to nobody.
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    # Our own display shows the run; Prefect's log goes to its database (counts only).
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # Never write results (pickles of raw records) because of a setting in somebody's profile.
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
}


IN_ASCII: Final = {"→": "->", "…": "...", "−": "-", "–": "-", "×": "x", "≥": ">=", "≤": "<="}
"""What is said in place of characters of ours that a terminal does not have."""


def speak_to_any_terminal() -> None:
    """Let no character stop a command: one that a terminal does not have is put in other words."""
    codecs.register_error("logveil", _in_other_words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="logveil")


def _in_other_words(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    said = (
        IN_ASCII.get(each, each.encode("ascii", "backslashreplace").decode())
        for each in fault.object[fault.start : fault.end]
    )
    return "".join(said), fault.end


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


def interrupted(remains: str) -> int:
    """Say so, and what remains of the run; returns the exit code."""
    print(f"logveil: interrupted; {remains}", file=sys.stderr, flush=True)
    return INTERRUPTED


def leave_at_once(folders: Sequence[Path], store: Path, remains: str) -> NoReturn:
    """End this process and all it has started; what it wrote aside in the folders is removed."""
    from flows.anonymise import stop_embedded_servers
    from tasks.adapters.release_files import discard_own_draft

    for folder in folders:
        discard_own_draft(folder, store)
    stop_embedded_servers()
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(interrupted(remains))


def set_prefect_defaults() -> None:
    """Set what the user has not set."""
    for name, value in PREFECT_DEFAULTS.items():
        os.environ.setdefault(name, value)


def keep_database_private() -> None:
    """Make the embedded server's database, which names files, for its owner alone.

    One that is there already is the user's; it is closed to others unless these may write to it.
    """
    home = Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    # Whatever is wrong with that folder, Prefect says so.
    with suppress(OSError):
        if not home.exists():
            home.mkdir(mode=0o700, parents=True)
        database = home / "prefect.db"
        # SQLite gives the files beside its database the same mode.
        database.touch(mode=0o600)
        if not stat.S_IMODE(database.stat().st_mode) & 0o022:
            database.chmod(0o600)


def prepare_prefect(on_interrupt: Callable[[], NoReturn]) -> str:
    """Set defaults that the user has not set; returns what to tell the user.

    Args:
        on_interrupt: what to do on Ctrl-C with the embedded server. It gets the same signal and
            is gone, and Prefect would try for minutes to tell it what happened.
    """
    set_prefect_defaults()
    if os.environ.get("PREFECT_API_URL"):
        return "Prefect: using the server of PREFECT_API_URL"
    keep_database_private()
    signal.signal(signal.SIGINT, lambda number, frame: on_interrupt())
    return "Prefect: starting its embedded server (some 20 s; --bare goes without)"
