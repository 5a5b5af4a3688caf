"""Real services for tests: server, pool and worker on loopback, in a folder of their own."""

from __future__ import annotations

import base64
import http
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from deployments.config import Config
from deployments.pool import RUN_ID
from deployments.services import processes
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parents[2]
SECONDS_BETWEEN_RUNS = 15
PATIENCE = 300
"""Seconds after which something that should happen is taken not to; machines may be slow."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: str, happened: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What happened, once it has."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = happened()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


@dataclass(frozen=True)
class Services:
    """Services that run, or can be started."""

    folder: Path
    extra: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    @property
    def inbox(self) -> Path:
        return self.folder.parent / f"{self.folder.name}-incoming"

    @property
    def out(self) -> Path:
        return self.folder / "published"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def prepare(self, compiled: Path, *, by_hand: bool = False, on_arrival: bool = False) -> None:
        """Everything the shipped deployments say, but for paths and the schedule.

        Args:
            by_hand: nothing is scheduled, and a run need not wait for the one before to be gone.
            on_arrival: runs start when files come, not every few seconds.
        """
        prepared_store(self.folder / "store", compiled)
        told = yaml.safe_load((ROOT / "deployments" / "prefect.yaml").read_text())
        adhoc, inbox = told["deployments"]
        store = str(self.folder / "store")
        adhoc["parameters"]["settings"] = {
            "logs": [str(self.folder / "logs")],
            "out": str(self.folder / "released"),
            "store": store,
        }
        inbox["parameters"] = {
            "inbox": str(self.inbox),
            "settle": 0,
            "settings": {"out": str(self.out), "store": store},
        }
        if not on_arrival:
            del inbox["triggers"]
            inbox["schedules"] = [] if by_hand else [{"interval": SECONDS_BETWEEN_RUNS}]
        if by_hand:
            del adhoc["concurrency_limit"]
        (self.folder / "prefect.yaml").write_text(yaml.safe_dump(told))

    def environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if "PREFECT" not in name},
            "HOME": str(self.folder / "home"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "guard"), str(ROOT)]),
            "LOGVEIL_NETWORK_NOTES": str(self.folder / "network.txt"),
            "LOGVEIL_STATE": str(self.state),
            "LOGVEIL_PORT": str(self.port),
            "LOGVEIL_DEPLOYMENTS": str(self.folder / "prefect.yaml"),
            **self.extra,
        }

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "deployments.services", command],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def up(self) -> None:
        done = self.run("up")
        assert done.returncode == 0, done.stdout + done.stderr + self.log("deploy")

    def down(self) -> None:
        done = self.run("down")
        assert done.returncode == 0, done.stdout + done.stderr

    def log(self, name: str) -> str:
        path = self.state / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def processes(self) -> dict[str, int]:
        """The process ids of what runs, the supervisor's among them."""
        found = processes(Config(self.state, {})) or {}
        return {**found, "supervisor": int((self.state / "supervisor.pid").read_text())}

    @property
    def credential(self) -> str:
        return (self.state / "credential").read_text().strip()

    def ask(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        credential: str | None = None,
        method: str | None = None,
    ) -> Any:
        """The API's answer to a POST, or to a GET if there is nothing to send."""
        token = base64.b64encode((credential or self.credential).encode()).decode()
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Basic {token}"},
            method=method,
        )
        while True:
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    told = answer.read()
                    return json.loads(told) if told else None
            except urllib.error.HTTPError as fault:
                # SQLite is locked: Prefect's own clients try again, too.
                if fault.code != http.HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                time.sleep(1)

    def answers(self) -> bool:
        """Whether the server is there."""
        with suppress(OSError):
            return bool(self.ask("health"))
        return False

    def flow_runs(self, *names: str, of_files: bool = False) -> list[dict[str, Any]]:
        """The runs in these states, the latest first; or those of single files within them."""
        states = {"flow_runs": {"state": {"name": {"any_": list(names)}}}}
        found = self.ask("flow_runs/filter", {**states, "sort": "START_TIME_DESC"})
        return [run for run in found if (run["parent_task_run_id"] is not None) == of_files]

    def file_run(self, file: str, state: str) -> dict[str, Any]:
        """The run of a file, within that of its inbox, once it is in that state."""

        def found() -> list[dict[str, Any]]:
            runs = self.flow_runs(state, of_files=True)
            return [run for run in runs if run["name"].startswith(f"{file} → ")]

        (run,) = wait_for(f"{file} to be {state}", found)
        assert isinstance(run, dict)
        return run

    def artifacts(self, run: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The artifacts of a run by key."""
        of_run = {"flow_runs": {"id": {"any_": [run["id"]]}}}
        return {each["key"]: each for each in self.ask("artifacts/filter", of_run)}

    def drop(self, name: str, content: str) -> None:
        """Put a file into the inbox, whole."""
        (self.inbox / f"{name}.part").write_text(content)
        (self.inbox / f"{name}.part").rename(self.inbox / name)

    def released(self) -> list[str]:
        return sorted(path.parent.name for path in self.out.glob("edition-*/release-*/release.tsv"))

    def done(self) -> list[str]:
        return sorted(path.name[13:] for path in (self.inbox / "done").glob("*"))

    def releasing_runs(self) -> list[dict[str, Any]]:
        """The runs that have released something and have ended well."""
        ended = self.flow_runs("Completed")
        return [run for run in ended if "released" in (run["state"]["message"] or "")]

    def kill_flow_runs(self, run: str = "") -> int:
        """SIGKILL every process of these services that works on a flow run, or on this one."""
        killed, mark = 0, f"LOGVEIL_STATE={self.state}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                told = path.read_bytes()
                found = RUN_ID.search(told)
                if mark in told.split(b"\0") and found and run.encode() in found.group():
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    killed += 1
        return killed
