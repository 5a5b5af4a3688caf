"""A run against a Prefect server that is already there."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.prefect]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The API address of a fresh server, and its home."""
    port, home = free_port(), tmp_path_factory.mktemp("server")
    environment = {**os.environ, "PREFECT_HOME": str(home), "DO_NOT_TRACK": "1"}
    environment["PREFECT_SERVER_ANALYTICS_ENABLED"] = "false"
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/api"
    try:
        for _ in range(240):
            if healthy(url):
                break
            time.sleep(0.5)
        assert healthy(url)
        yield url, home
    finally:
        process.terminate()
        process.wait()


def runs(home: Path) -> dict[str, str]:
    """Names and states of the flow runs that a server knows."""
    with sqlite3.connect(home / "prefect.db") as connection:
        return dict(connection.execute("select name, state_type from flow_run").fetchall())


def test_the_run_is_recorded_by_the_server_that_is_named(
    server: tuple[str, Path], store: Path, tmp_path: Path
) -> None:
    url, home = server
    own_home = tmp_path / "client"
    done = subprocess.run(
        [sys.executable, "-m", "flows.run", "--out", tmp_path / "out", "--store", store],
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": url, "PREFECT_HOME": str(own_home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "using the server of PREFECT_API_URL" in done.stdout
    assert runs(home)["adaptive-strict-k5"] == "COMPLETED"
    assert not (own_home / "prefect.db").exists()


def test_a_failed_release_is_a_failed_run_with_the_right_exit_code(
    server: tuple[str, Path], store: Path, tmp_path: Path
) -> None:
    url, home = server
    done = subprocess.run(
        [sys.executable, "-m", "flows.run", "--k", "9999"]
        + ["--store", str(store), "--out", str(tmp_path / "out")],
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": url, "PREFECT_HOME": str(tmp_path / "client")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.startswith("logveil: nothing can be released")
    assert "Traceback" not in done.stderr
    assert runs(home)["adaptive-strict-k9999"] == "FAILED"
