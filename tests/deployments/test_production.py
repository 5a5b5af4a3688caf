"""The production page of the docs, command by command, on a machine that is fresh but for packages.

PostgreSQL is behind the server and the API asks for a credential. Folders and ports are the
test's, and runs come each quarter of a minute; nothing else differs from the page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.postgres import postgres
from tests.helpers.services import ROOT, Services, free_port, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.prefect]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PAGE = OPERATIONS[OPERATIONS.index("## In production") : OPERATIONS.index("## Exit codes")]
TYPED = (
    "PostgreSQL behind the server",
    "What is deployed: a copy",
    "Give it a log",
    "Back up what cannot be made again",
    "A new secret for the store",
)


def commands(about: str) -> str:
    """The commands after the paragraph that holds some words."""
    (block,) = re.findall(rf"{re.escape(about)}[^\n]*\n(?:\S[^\n]*\n)*\n((?:(?:    .*)?\n)+)", PAGE)
    return "\n".join(line.strip() for line in block.splitlines() if line.strip())


@dataclass(frozen=True)
class Machine:
    """A clone, a home and a place for data."""

    folder: Path
    services: Services
    environment: dict[str, str]

    @property
    def data(self) -> Path:
        return self.folder / "srv"

    def type(self, about: str) -> str:
        """Run a block of the page as it stands, but for folders."""
        script = commands(about).replace("/srv/logveil", str(self.data))
        script = script.replace("/var/run/postgresql", self.environment["PGHOST"])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder / "clone",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def releases(self) -> list[Path]:
        return sorted(self.data.glob("published/edition-*/release-*/release.tsv"))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    clone = folder / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    (clone / ".venv").symlink_to(sys.prefix)
    home = folder / "home"
    home.mkdir()
    with postgres() as database:
        services = Services(folder, port=free_port())
        environment = {
            **{name: text for name, text in os.environ.items() if "PREFECT" not in name},
            **database,
            "HOME": str(home),
            "LOGVEIL_PORT": str(services.port),
        }
        environment = {n: t for n, t in environment.items() if not n.startswith("XDG_")}
        made = Machine(folder, services, environment)
        try:
            yield made
        finally:
            stop = [sys.executable, "-m", "deployments.services", "down"]
            subprocess.run(stop, cwd=clone, env=environment, check=False)


def credential(machine: Machine) -> str:
    told = (machine.folder / "home/.local/state/logveil/stack.env").read_text()
    (found,) = re.findall("PREFECT_SERVER_API_AUTH_STRING=(admin:[0-9a-f]{48})", told)
    assert isinstance(found, str)
    return found


def test_a_log_is_released_when_it_arrives(machine: Machine) -> None:
    machine.type(TYPED[0])
    told = machine.type(TYPED[1])
    assert machine.services.url in told
    machine.type(TYPED[2])
    wait_for("the release", machine.releases)
    assert [path.parent.name for path in machine.releases()] == ["release-0001"]


def test_the_api_asks_for_the_credential(machine: Machine) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        machine.services.ask("flow_runs/filter", {}, "admin:wrong")
    assert refused.value.code == 401

    def completed() -> list[dict[str, Any]]:
        runs = machine.services.ask("flow_runs/filter", {}, credential(machine))
        ended = [run for run in runs if run["state_name"] == "Completed"]
        return [run for run in ended if run["parent_task_run_id"] is None]

    # The file started it by arriving.
    (run,) = wait_for("the run to end", completed)
    assert run["created_by"]["type"] == "AUTOMATION"


def test_no_command_line_tells_the_credential(machine: Machine) -> None:
    secret, lines = credential(machine).encode(), []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:
            continue
    assert any(b"deployments.server" in line for line in lines)
    assert not any(secret in line for line in lines)


def test_the_database_is_postgresql(machine: Machine) -> None:
    home = machine.folder / "home" / ".local" / "state" / "logveil"
    assert not list(home.rglob("prefect.db"))
    counted = subprocess.run(
        ["psql", "-tA", "-U", "logveil", "logveil", "-c", "select count(*) from flow_run"],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(counted.stdout) > 0


def test_no_query_is_in_the_database(machine: Machine) -> None:
    dumped = subprocess.run(
        ["pg_dump", "-U", "logveil", "logveil"],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Verified: strict, k = 10 people (column AnonID)." in dumped
    (log,) = (machine.data / "incoming" / "done").iterdir()
    queries = {line.split("\t")[1] for line in log.read_text().splitlines()[1:]}
    telling = {query for query in queries if len(query.split()) > 2}
    assert len(telling) > 1000
    assert [query for query in telling if query in dumped] == []


def test_what_cannot_be_made_again_is_backed_up(machine: Machine) -> None:
    told = machine.type(TYPED[3])
    assert "verified" in told
    backup = machine.data / "backup"
    assert {path.name for path in backup.iterdir()} == {"ledger.sqlite3", "secret", "releases"}
    assert backup.stat().st_mode & 0o077 == 0


def test_a_new_secret_releases_everything_anew(machine: Machine) -> None:
    machine.type(TYPED[4])
    wait_for("the release anew", machine.releases)
    secrets = [machine.data / store / "secret" for store in ("store", "store-before")]
    assert secrets[0].read_bytes() != secrets[1].read_bytes()


def test_every_command_of_the_page_is_typed() -> None:
    on_the_page = [line.strip() for line in PAGE.splitlines() if line.startswith("    ")]
    assert on_the_page == [line for about in TYPED for line in commands(about).splitlines()]


def test_the_unit_starts_what_was_tested() -> None:
    unit = (ROOT / "deployments" / "logveil.service").read_text()
    assert "ExecStart=%h/logveil/.venv/bin/python -m deployments.services run\n" in unit
