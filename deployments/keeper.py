"""The keeper: starts the server, the deployments and the worker, and restarts what ends.

It runs in the foreground, as systemd wants it; `stack up` runs it in the background. Its children
die with it, however it dies.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

import yaml

from deployments.site import HOST, ROOT, Site
from tasks.core.errors import InputError, UsageError
from tasks.runtime.files import write_private

START_SECONDS: Final = 180
"""So long a server may take to answer first; on a fresh home it makes its database."""
END_SECONDS: Final = 20
"""So long a process may take to end when it is told to."""
LONGEST_PAUSE: Final = 60
LARGEST_LOG: Final = 10_000_000
LOOK_SECONDS: Final = 0.5
DIE_WITH_PARENT: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


@dataclass
class Child:
    """A process that is started again when it ends, each time after a longer pause."""

    name: str
    command: Sequence[str]
    site: Site
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process and self.process.poll() is None else None

    def keep(self) -> bool:
        """Start it if it does not run and has paused; whether it was started."""
        if self.pid is not None:
            return False
        now = time.monotonic()
        recent = [start for start in self.starts if now - start < 10 * LONGEST_PAUSE]
        pause = min(LONGEST_PAUSE, 2 ** len(recent) / 2) if recent else 0
        if recent and now - recent[-1] < pause:
            return False
        self.starts = [*recent, now]
        self.process = started(self.command, self.site, self.name)
        return True

    def end(self) -> None:
        """End it and all it has started."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def started(command: Sequence[str], site: Site, name: str) -> subprocess.Popen[bytes]:
    """A process with a group of its own that is ended when this one is."""
    with open_log(site, name) as log:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=site.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            process_group=0,
            preexec_fn=_die_with_parent,
        )


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGTERM)


@contextmanager
def open_log(site: Site, name: str) -> Iterator[Any]:
    """The log of a process, to append to; a large one is put aside first."""
    path = site.folder / f"{name}.log"
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_suffix(".log.1"))
    handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "ab") as log:
        yield log


class Keeper:
    """Keeps one stack running until it is told to end."""

    def __init__(self, site: Site) -> None:
        self._site = site
        port = site.settings["LOGVEIL_PORT"]
        server = ("prefect", "server", "start", "--host", HOST, "--port", port)
        self.server = Child("server", server, site)
        self.worker = Child("worker", ("deployments.pool", "work"), site)
        self._asked_to_end = False

    def run(self) -> None:
        """Start everything, and go on until SIGTERM or SIGINT.

        Raises:
            InputError: the stack runs already, or does not start.
        """
        # Also so that children do not inherit signals that a shell had ignored.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        with _lock(self._site):
            try:
                self._note()
                self._start()
                while not self._asked_to_end:
                    self._look()
                    time.sleep(LOOK_SECONDS)
            finally:
                self.worker.end()
                self.server.end()
                (self._site.folder / "stack.json").unlink(missing_ok=True)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._asked_to_end = True

    def _start(self) -> None:
        refuse_used_port(int(self._site.settings["LOGVEIL_PORT"]))
        make_inboxes(self._site.deployments)
        self.server.keep()
        self._await_server()
        for command in (
            ("deployments.pool", "make"),
            ("prefect", "--no-prompt", "deploy", "--all")
            + ("--prefect-file", str(self._site.deployments)),
        ):
            if not self._asked_to_end and started(command, self._site, "keeper").wait():
                raise InputError(f"{' '.join(command)} failed: see {self._site.folder}/keeper.log")

    def _await_server(self) -> None:
        for _ in range(int(START_SECONDS / LOOK_SECONDS)):
            if self._asked_to_end or answers(self._site):
                return
            if self.server.pid is None:
                break
            time.sleep(LOOK_SECONDS)
        raise InputError(f"the server does not start: see {self._site.folder}/server.log")

    def _look(self) -> None:
        """Restart what has ended; say what runs."""
        children = (self.server, self.worker)
        begun = [child.name for child in children if child.keep()]
        if begun:
            self._note(**{child.name: child.pid for child in children}, url=self._site.url)

    def _note(self, **told: int | str | None) -> None:
        note = json.dumps({"keeper": os.getpid(), **told})
        write_private(self._site.folder / "stack.json", note.encode())


def refuse_used_port(port: int) -> None:
    """Whoever else answers there would be taken for our server."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            raise InputError(
                f"port {port} cannot be used ({fault.strerror}): choose another LOGVEIL_PORT"
            ) from None


def answers(site: Site) -> bool:
    """Whether a server answers at the site's address."""
    try:
        with urllib.request.urlopen(f"{site.url}/api/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def make_inboxes(deployments: Path) -> None:
    """Make the folders that deployed flows look into, as private as what comes in."""
    try:
        told = yaml.safe_load(deployments.read_text(encoding="utf-8"))
        parameters = [each.get("parameters") or {} for each in told["deployments"]]
    except OSError as fault:
        raise UsageError(f"LOGVEIL_DEPLOYMENTS: {deployments}: {fault.strerror}") from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise UsageError(f"LOGVEIL_DEPLOYMENTS: {deployments} lists no deployments") from None
    for inbox in (given["inbox"] for given in parameters if "inbox" in given):
        (ROOT / inbox).mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def _lock(site: Site) -> Iterator[None]:
    """Let one keeper work at a site; the lock ends with its process."""
    with (site.folder / "stack.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("the stack runs already") from None
        yield


def is_kept(site: Site) -> bool:
    """Whether a keeper works at a site."""
    try:
        with _lock(site):
            return False
    except InputError:
        return True
