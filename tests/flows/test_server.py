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
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.generated import write_parts

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
    assert runs(home)["sample_log.tsv-strict-k5"] == "COMPLETED"
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
    assert runs(home)["sample_log.tsv-strict-k9999"] == "FAILED"


PATCHED = """
import errno, sys
from tasks.phases import read, verify
from flows.run import main

def broken(*arguments, **options):
    return ["rows shared by k people: broken, row 3 stands for 2", "another"]

def troubled(*arguments, **options):
    read.read_logs = read_logs
    raise OSError(errno.EIO, "Input/output error")

read_logs = read.read_logs
if sys.argv[1] == "broken":
    verify.verify_file = broken
else:
    read.read_logs = troubled
sys.exit(main(sys.argv[2:]))
"""


def patched_run(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of a program in which something goes wrong."""
    return subprocess.run(
        [sys.executable, "-c", PATCHED, *arguments, "--out", str(folder / "out")],
        cwd=ROOT,
        env={**os.environ, "PREFECT_API_URL": url, "PREFECT_HOME": str(folder / "client")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_failed_verification_is_a_failed_run_whose_first_line_says_why(
    server: tuple[str, Path], store: Path, tmp_path: Path
) -> None:
    url, home = server
    done = patched_run(url, tmp_path, "broken", "--store", str(store), "--k", "6")
    assert done.returncode == 5, done.stderr
    assert list((tmp_path / "out").glob("*")) == []
    assert runs(home)["sample_log.tsv-strict-k6"] == "FAILED"
    with sqlite3.connect(home / "prefect.db") as connection:
        query = "select message from flow_run_state where type = 'FAILED' order by timestamp"
        *_, (message,) = connection.execute(query)
    assert message.splitlines() == [
        "verification failed, nothing published: "
        "rows shared by k people: broken, row 3 stands for 2",
        "another",
    ]


def test_a_disk_that_answers_late_is_read_again(
    server: tuple[str, Path], new_store: Callable[[], Path], tmp_path: Path
) -> None:
    url, home = server
    # One that has read the log before would not read it.
    options = ("--store", str(new_store()), "--k", "7")
    done = patched_run(url, tmp_path, "troubled", *options)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(home / "prefect.db") as connection:
        query = (
            "select task_run.run_count from task_run join flow_run on flow_run.id = flow_run_id "
            "where flow_run.name = 'sample_log.tsv-strict-k7' and task_run.name = 'read'"
        )
        assert connection.execute(query).fetchall() == [(2,)]


def test_a_run_that_takes_too_long_is_ended_and_leaves_nothing(
    server: tuple[str, Path], new_store: Callable[[], Path], tmp_path: Path
) -> None:
    url, home = server
    (log,) = write_parts(tmp_path / "log", 1, queries=20_000, users=900, seed=4)
    told = {"PREFECT_API_URL": url, "PREFECT_HOME": str(tmp_path / "client")}
    done = subprocess.run(
        [sys.executable, "-m", "flows.run", str(log), "--k", "8"]
        + ["--out", str(tmp_path / "out"), "--store", str(new_store())],
        cwd=ROOT,
        env={**os.environ, **told, "LOGVEIL_TIMEOUT_SECONDS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("logveil: the run took longer than LOGVEIL_TIMEOUT_SECONDS")
    assert not (tmp_path / "out" / "release.tsv").exists()
    with sqlite3.connect(home / "prefect.db") as connection:
        query = "select state_name from flow_run where name like '%-strict-k8'"
        assert connection.execute(query).fetchall() == [("TimedOut",)]
