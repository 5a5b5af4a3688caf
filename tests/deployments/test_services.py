"""The services as people live with them: files come in, runs publish them, workers die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deployments.automations import NO_HEARTBEAT
from flows.verify import main as verify
from tests.helpers.generated import generated_lines
from tests.helpers.receiver import Alerts
from tests.helpers.services import ROOT, Services, wait_for
from tests.test_privacy import CANARY_USER, CANARY_WORD, MOMENT, assert_no_canary, contents

PHASES = ("read", "analyse", "compare", "cluster", "redact", "measure", "write", "verify")
pytestmark = [pytest.mark.slow, pytest.mark.prefect]
CANARIES = f"{CANARY_USER}\t{CANARY_WORD} lung cancer\t{MOMENT}\n{CANARY_USER}\t{CANARY_WORD}\n"


def wait_until_gone(name: str, pid: int) -> None:
    wait_for(f"the {name} to be gone", lambda: not lives(pid))


def lives(pid: int) -> bool:
    """Whether a process works; one that has ended may not have been noticed by its parent yet."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def log(queries: int, users: int, seed: int) -> str:
    header, rows = generated_lines(queries, users, seed)
    return header + "".join(rows) + CANARIES


@pytest.fixture(scope="module")
def services(
    store: Path, alerts: Alerts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Services]:
    # All that Prefect can tell is searched for canaries afterwards.
    talkative = {"PREFECT_LOGGING_LEVEL": "DEBUG", "PREFECT_SERVER_LOGGING_LEVEL": "DEBUG"}
    told = {**talkative, "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "DEBUG"}
    told |= {"LOGVEIL_ALERT_URL": alerts[0], "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30"}
    made = Services(tmp_path_factory.mktemp("services"), told)
    made.prepare(store)
    made.up()
    try:
        yield made
    finally:
        made.run("down")


def test_scheduled_runs_publish_what_comes_in_two_files_at_a_time(services: Services) -> None:
    one, two = log(800, 70, 1), log(800, 70, 2)
    services.drop("one.tsv", one)
    services.drop("two.tsv", two)
    wait_for("two releases", lambda: services.done() == ["one.tsv", "two.tsv"])
    assert services.released() == ["release-0001", "release-0002"]
    of_files = [services.file_run(f"{name}.tsv", "Completed")["name"] for name in ("one", "two")]
    assert {name.rpartition("/")[2] for name in of_files} == {"release-0001", "release-0002"}
    store = str(services.folder / "store")
    assert verify([str(services.out / "edition-0001"), "--store", store]) == 0
    published = wait_for("their run to end", services.releasing_runs)
    assert all(run["auto_scheduled"] for run in published)
    assert published[0]["name"].startswith(f"{services.inbox.name}-append-k5-20")


def test_they_are_up_once(services: Services) -> None:
    before = services.processes()
    again = services.run("up")
    assert (again.returncode, services.processes()) == (0, before)
    told = services.run("status").stdout
    assert services.url in told
    assert str(services.state / "credential") in told
    assert services.credential not in told


def test_a_run_shows_what_it_has_done(services: Services) -> None:
    run = services.file_run("one.tsv", "Completed")
    tasks = services.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
    assert len(tasks) == len(PHASES) + 1
    assert {task["name"].split()[0] for task in tasks} == {*PHASES, "publish"}
    shown = services.artifacts(run)
    assert {"release", "measures", "phases", "analyse-progress", "cluster-progress"} <= set(shown)
    assert shown["release"]["data"].startswith("# Verified: strict, k = 5 people (column AnonID).")
    assert "report.html" in shown["release"]["data"]
    assert "data:image/svg+xml;base64," in shown["release"]["data"]
    assert shown["cluster-progress"]["data"] == 100.0


def test_a_killed_worker_and_its_run_are_made_good(services: Services, alerts: Alerts) -> None:
    before = services.processes()
    services.drop("three.tsv", log(20_000, 1500, 3))
    begun = wait_for("the third to begin", lambda: "'read 3'" in services.log("worker"))
    assert begun
    os.kill(before["worker"], signal.SIGKILL)
    assert services.kill_flow_runs() >= 1
    assert "three.tsv" not in services.done()
    assert services.released() == ["release-0001", "release-0002"]
    wait_for("the third release", lambda: "three.tsv" in services.done())
    assert services.released() == ["release-0001", "release-0002", "release-0003"]
    assert list(services.out.glob("edition-*/.logveil-*")) == []
    assert services.processes()["worker"] != before["worker"]
    (crashed,) = services.flow_runs("Crashed")
    assert crashed["state"]["message"].startswith("the worker and the run's process are gone")
    # It may come twice: a server whose SQLite is locked tries again, all of it.
    told, *_ = wait_for(
        "the alert", lambda: [each for each in alerts[1] if each["run"] == crashed["name"]]
    )
    page = f"{services.url}/runs/flow-run/{crashed['id']}"
    reason = crashed["state"]["message"]
    text = f"logveil: {crashed['name']}: Crashed: {reason} {page}"
    named = {"run": crashed["name"], "state": "Crashed", "reason": reason, "url": page}
    assert told == {"program": "logveil", "text": text, **named}
    assert services.file_run("three.tsv", "Crashed")


def test_a_file_that_cannot_be_used_is_a_failed_run_and_an_alert(
    services: Services, alerts: Alerts
) -> None:
    services.drop("bad.tsv", f"{CANARY_WORD} {CANARY_USER}\n" * 3)
    (failed,) = wait_for("the failed run", lambda: services.flow_runs("Failed"))
    first_line = failed["state"]["message"].splitlines()[0]
    assert first_line.startswith("put aside: bad.tsv: no column of")
    page = f"{services.url}/runs/flow-run/{failed['id']}"
    told, *_ = wait_for(
        "the alert", lambda: [each for each in alerts[1] if each["state"] == "Failed"]
    )
    assert told == {
        "program": "logveil",
        "text": f"logveil: {failed['name']}: Failed: {first_line} {page}",
        "run": failed["name"],
        "state": "Failed",
        "reason": f"{first_line}\nfiles: 1 put aside",
        "url": page,
    }


def test_a_killed_run_of_a_shell_is_ended(services: Services, tmp_path: Path) -> None:
    """No worker looks after what a shell has started; Prefect's automation does."""
    (tmp_path / "shell.tsv").write_text(log(20_000, 1500, 6))
    command = [sys.executable, "-m", "flows.run", str(tmp_path / "shell.tsv"), "--quiet"]
    command += ["--out", str(tmp_path / "out"), "--store", str(services.folder / "store")]
    shell = subprocess.Popen(
        command,
        cwd=ROOT,
        env={
            **services.environment(),
            "PREFECT_API_URL": f"{services.url}/api",
            "PREFECT_API_AUTH_STRING": services.credential,
        },
    )
    try:
        asked = {"filter": {"event": {"name": ["prefect.flow-run.heartbeat"]}}}

        def beats() -> list[str]:
            found = services.ask("events/filter", asked)["events"]
            names = (each["resource"]["prefect.resource.name"] for each in found)
            return [name for name in names if name.startswith("shell.tsv")]

        (name, *_) = wait_for("its first heartbeat", beats)
    finally:
        shell.kill()
        shell.wait()

    def ended() -> list[dict[str, Any]]:
        return [run for run in services.flow_runs("Crashed") if run["name"] == name]

    (run,) = wait_for("its end", ended)
    assert run["state"]["message"] == NO_HEARTBEAT


def test_a_server_that_cannot_start_ends_everything(store: Path, tmp_path: Path) -> None:
    nowhere = f"sqlite+aiosqlite:///{tmp_path}/missing/prefect.db"
    services = Services(tmp_path, {"PREFECT_SERVER_DATABASE_CONNECTION_URL": nowhere})
    services.prepare(store)
    told = services.run("up")
    assert told.returncode == 3
    assert f"the server does not start: see {services.state}/server.log" in told.stderr
    assert services.run("status").returncode == 1


def test_a_killed_server_is_started_again(services: Services) -> None:
    before = services.processes()
    os.kill(before["server"], signal.SIGKILL)
    wait_for("another server", lambda: services.processes().get("server", 0) != before["server"])
    wait_for("its answer", services.answers)
    assert services.processes()["worker"] == before["worker"]
    services.drop("four.tsv", log(800, 70, 4))
    wait_for("the fourth release", lambda: "four.tsv" in services.done())


def test_a_killed_supervisor_takes_all_with_it(services: Services) -> None:
    before = services.processes()
    os.kill(before["supervisor"], signal.SIGKILL)
    for name in ("server", "worker"):
        wait_until_gone(name, before[name])
    assert services.run("status").returncode == 1
    services.up()
    services.drop("five.tsv", log(800, 70, 5))
    wait_for("the fifth release", lambda: "five.tsv" in services.done())


def test_down_leaves_no_process_and_no_byte_of_the_log(services: Services) -> None:
    pids = services.processes()
    credential = services.credential.encode()
    services.down()
    assert services.run("status").returncode == 1
    for name in ("supervisor", "server", "worker"):
        wait_until_gone(name, pids[name])
    files = list(contents(services.folder))
    held = {path.name for path, _ in files}
    assert {"prefect.db", "server.log", "worker.log", "ledger.sqlite3", "report.html"} <= held
    assert any("artifact" in path.parts for path, _ in files)
    assert_no_canary(files)
    assert [path.name for path, content in files if credential in content] == ["credential"]
    assert [path.name for path, content in files if b"token=secret" in content] == []
    assert not (services.folder / "network.txt").exists()
