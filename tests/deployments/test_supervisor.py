"""What the shipped `supervisord.conf` promises, tried with small programs in place of Prefect's."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deployments.config import read_config
from deployments.services import PRIVATE, SUPERVISOR, processes
from tests.helpers.services import PATIENCE, wait_for

STAND_IN = """#!/bin/sh
echo "$2 $(date +%s) $(umask)" >> "$LOGVEIL_STATE/starts"
echo "told: $2"
if [ "$2" = deployments.server ]; then exit 1; fi
exec sleep 600
"""
"""In Python's place: the server ends at once, what deploys does not end."""


@dataclass(frozen=True)
class Supervised:
    """A supervisor, and the folder it works in."""

    state: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes]

    def starts(self, program: str) -> list[list[str]]:
        """When a program was started, and with which umask."""
        path = self.state / "starts"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split()[1:] for line in lines if line.split()[0] == program]


def supervise(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [*SUPERVISOR, "--nodaemon"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, umask=PRIVATE, stdout=quiet, stderr=quiet)


@pytest.fixture
def supervised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervised]:
    monkeypatch.setenv("LOGVEIL_STATE", str(tmp_path / "state"))
    stand_in = tmp_path / "python with a space"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o700)
    # A credential with what means something to the supervisor's configuration.
    told = {"LOGVEIL_PYTHON": str(stand_in), "PREFECT_API_AUTH_STRING": "a:%(b)s;%"}
    environment = {
        **read_config().environment(),
        **told,
    }
    made = Supervised(tmp_path / "state", environment, supervise(environment))
    wait_for("something to be deployed", lambda: made.starts("deployments.pool"))
    yield made
    made.process.terminate()
    made.process.wait()


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_ends_is_started_again_after_longer_and_longer_pauses(supervised: Supervised) -> None:
    wait_for("four starts", lambda: len(supervised.starts("deployments.server")) >= 4)
    moments = [int(start[0]) for start in supervised.starts("deployments.server")]
    assert moments[3] - moments[0] >= 5
    assert len(supervised.starts("deployments.pool")) == 1


def test_the_worker_waits_for_the_deployments(supervised: Supervised) -> None:
    assert set(processes(read_config()) or {}) <= {"server", "deploy"}


def test_logs_and_whatever_programs_write_are_private(supervised: Supervised) -> None:
    wait_for("a word", lambda: "told" in (supervised.state / "server.log").read_text())
    for name in ("supervisor", "server", "deploy"):
        assert (supervised.state / f"{name}.log").stat().st_mode & 0o077 == 0
    assert (supervised.state / "supervisor.sock").stat().st_mode & 0o077 == 0
    assert {start[1] for start in supervised.starts("deployments.server")} == {"0077"}


def test_a_folder_has_one_supervisor(supervised: Supervised) -> None:
    assert supervise(supervised.environment).wait(PATIENCE) != 0
    assert len(supervised.starts("deployments.pool")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_all_ends_with_the_supervisor(supervised: Supervised, number: int) -> None:
    deploying = (processes(read_config()) or {})["deploy"]
    supervised.process.send_signal(number)
    supervised.process.wait(PATIENCE)
    wait_for("its programs to end", lambda: not lives(deploying))
    assert processes(read_config()) is None
