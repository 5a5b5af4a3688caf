"""What holds for a command's whole process: Ctrl-C, and what Prefect is told before its import.

Ctrl-C is heeded even where a library swallows it; with a Prefect server that is dying too, the
process leaves at once.
"""

from __future__ import annotations

import atexit
import codecs
import multiprocessing
import os
import re
import secrets
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.request
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

from tasks.errors import InputError
from tasks.runtime.files import create_once

if TYPE_CHECKING:
    from flows.display import Screen
    from tasks.runtime.store import Store

INTERRUPTED: Final = 130
REPORTS: Final = "LOGVEIL_REPORTS_URL"
"""Where the services let a browser read the reports of their releases."""
SOME_REJECTED: Final = "Completed, some rejected"
"""The state of an inbox's run that has rejected files; an automation alerts of it."""
PREFECT_DEFAULTS: Final = {
    # Where Prefect starts it itself: half a minute on a fresh home, and Prefect gives it 20 s.
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


LOOPBACK: Final = "127.0.0.1"
SERVER_END_SECONDS: Final = 5
SERVER_SETTINGS: Final = {
    # As Prefect does it: no page, and no services that only a server for many runs needs.
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
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
    # Python remembers an interrupt that came while text was being executed (as data classes are
    # made, on import), and would end by the signal whatever is returned. Executing some forgets it.
    exec("")
    return INTERRUPTED


def leave_at_once(folders: Sequence[Path], store: Path, remains: str) -> NoReturn:
    """End this process and all it has started; what it wrote aside in the folders is removed."""
    from tasks.adapters.release_files import discard_own_draft

    for folder in folders:
        discard_own_draft(folder, store)
    stop_server()
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(interrupted(remains))


def set_prefect_defaults() -> None:
    """Set what the user has not set."""
    for name, value in PREFECT_DEFAULTS.items():
        os.environ.setdefault(name, value)


def keep_database_private(content: Callable[[], bytes] = bytes) -> None:
    """Make the embedded server's database, which names files, for its owner alone.

    One that is there already is the user's; it is closed to others unless these may write to it.

    Args:
        content: what a new one begins with.
    """
    home = _home()
    # Whatever is wrong with that folder, Prefect says so.
    with suppress(OSError):
        if not home.exists():
            home.mkdir(mode=0o700, parents=True)
        database = home / "prefect.db"
        if not database.exists():
            with suppress(OSError):  # Some disks have no links: it begins with nothing then.
                create_once(database, content())
        # SQLite gives the files beside its database the same mode.
        database.touch(mode=0o600)
        if not stat.S_IMODE(database.stat().st_mode) & 0o022:
            database.chmod(0o600)


def _home() -> Path:
    return Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser()


class KeptDatabase:
    """Prefect's database after its migrations, kept in a store for the next new home.

    They are a third of what a run of the sample takes there (docs/decisions.md#prefect-start).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = f"prefect-database:{version('prefect')}"
        self._is_wanted = False

    def _store(self) -> closing[Store]:
        # A new home alone needs it.
        from tasks.runtime.store import Store

        return closing(Store(self._folder))

    def load(self) -> bytes:
        """What a new database begins with: nothing, if nothing is kept."""
        with self._store() as store:
            known = store.load(self._key, str)
        self._is_wanted = known is None
        return b64decode(known or "")

    def save(self) -> None:
        """Keep what Prefect has made of nothing, unless it holds somebody's runs already."""
        if not self._is_wanted:
            return
        made = closing(sqlite3.connect(_home() / "prefect.db"))
        with suppress(sqlite3.Error), made as database, self._store() as store:
            if not database.execute("SELECT count(*) FROM flow_run").fetchone()[0]:
                store.save(self._key, b64encode(database.serialize()).decode())


def prepare_prefect(
    on_interrupt: Callable[[], NoReturn], content: Callable[[], bytes] = bytes
) -> str:
    """Set defaults that the user has not set; returns what to tell the user.

    Args:
        on_interrupt: what to do on Ctrl-C with the embedded server. It gets the same signal and
            is gone, and Prefect would try for minutes to tell it what happened.
        content: what a new database begins with.
    """
    set_prefect_defaults()
    if os.environ.get("PREFECT_API_URL"):
        return "Prefect: using the server of PREFECT_API_URL"
    keep_database_private(content)
    signal.signal(signal.SIGINT, lambda number, frame: on_interrupt())
    return "Prefect: starting its embedded server (--bare goes without)"


def start_prefect(
    screen: Screen, on_interrupt: Callable[[], NoReturn], store: Path
) -> Callable[[], None]:
    """Prepare Prefect and have its server start; returns what waits until it answers.

    Prefect would start the same server itself, but only when a flow is called, and after importing
    the server's code into this process as well. Here it starts beside this process's own imports.
    """
    database = KeptDatabase(store)
    screen.say(prepare_prefect(on_interrupt, database.load))
    if os.environ.get("PREFECT_API_URL") or _names_a_server():
        return lambda: None
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    # For this process alone: other users of the machine are not answered.
    credential = f"logveil:{secrets.token_urlsafe(32)}"
    os.environ["PREFECT_API_URL"] = f"http://{LOOPBACK}:{port}/api"
    os.environ["PREFECT_API_AUTH_STRING"] = credential
    told = {**os.environ, **SERVER_SETTINGS, "PREFECT_SERVER_API_AUTH_STRING": credential}
    _Server.process = subprocess.Popen(
        # It ends with this process, however that ends.
        ["setpriv", "--pdeathsig", "TERM", sys.executable, "-m", "uvicorn", "--factory"]
        + ["prefect.server.api.server:create_app", "--host", LOOPBACK, "--port", str(port)]
        + ["--log-level", "critical", "--lifespan", "on"],
        env=told,
    )
    # Registered before Prefect's own, so it comes after them: they still have something to send.
    atexit.register(stop_server)

    def wait() -> None:
        _await_server(screen, f"http://{LOOPBACK}:{port}/api/health")
        database.save()

    return wait


class _Server:
    """The server that this process has started."""

    process: subprocess.Popen[bytes] | None = None


def _names_a_server() -> bool:
    """Whether somebody has told Prefect of a server otherwise than by the environment."""
    for path in (_home() / "profiles.toml", *map(Path, ("prefect.toml", "pyproject.toml", ".env"))):
        with suppress(OSError, ValueError):
            if re.search(
                r"(?im)prefect_api_url|^\[(tool\.prefect\.)?api\]", path.read_text("utf-8")
            ):
                return True
    return False


def _await_server(screen: Screen, address: str) -> None:
    server = _Server.process
    with screen.phase("prefect"):
        while server is not None:
            with suppress(OSError), urllib.request.urlopen(address, timeout=5):
                return
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise InputError(
        "Prefect's embedded server does not start: docs/operations.md, Troubleshooting, says more; "
        "--bare goes without"
    )


def stop_server() -> None:
    """Stop the server that this process has started."""
    server, _Server.process = _Server.process, None
    if server is None:
        return
    server.terminate()
    try:
        server.wait(timeout=SERVER_END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
