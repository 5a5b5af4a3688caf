"""A stack as people live with it: files come in, scheduled runs publish them, workers die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tasks.workbench import PHASES

from tests.generated import generated_lines
from tests.receiver import receiver
from tests.stacks import Stack, wait_for
from tests.test_privacy import CANARY_USER, CANARY_WORD, MOMENT, assert_no_canary, contents

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
def alerts() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with receiver() as running:
        yield running


@pytest.fixture(scope="module")
def stack(
    store: Path, alerts: tuple[str, list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    # All that Prefect can tell is searched for canaries afterwards.
    talkative = {"PREFECT_LOGGING_LEVEL": "DEBUG", "PREFECT_SERVER_LOGGING_LEVEL": "DEBUG"}
    told = {**talkative, "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "DEBUG"}
    made = Stack(tmp_path_factory.mktemp("stack"), {**told, "LOGVEIL_ALERT_URL": alerts[0]})
    made.prepare(store)
    made.up()
    try:
        yield made
    finally:
        made.run("down")


def test_scheduled_runs_publish_what_comes_in(stack: Stack) -> None:
    stack.drop("one.tsv", log(800, 70, 1))
    stack.drop("two.tsv", log(800, 70, 2))
    wait_for("two releases", lambda: stack.done() == ["one.tsv", "two.tsv"])
    assert stack.released() == ["release-0001", "release-0002"]
    published = wait_for("their run to end", stack.releasing_runs)
    assert all(run["auto_scheduled"] for run in published)
    assert published[0]["name"].startswith("inbox-append-k5-20")


def test_it_is_up_once(stack: Stack) -> None:
    before = stack.note()
    again = stack.run("up")
    assert (again.returncode, stack.note()) == (0, before)
    assert stack.url in stack.run("status").stdout


def test_a_run_shows_what_it_has_done(stack: Stack) -> None:
    run = stack.releasing_runs()[0]
    tasks = stack.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
    number = len(PHASES) + 1
    assert len(tasks) in (number, 2 * number)
    assert {task["name"].split()[0] for task in tasks} == {*PHASES, "publish"}
    shown = stack.artifacts(run)
    assert {"release", "measures", "phases", "analyse-progress", "cluster-progress"} <= set(shown)
    assert shown["release"]["data"].startswith("# Verified: strict, k = 5.")
    assert "report.html" in shown["release"]["data"]
    assert "data:image/svg+xml;base64," in shown["release"]["data"]
    assert shown["cluster-progress"]["data"] == 100.0


def test_a_killed_worker_and_its_run_are_made_good(
    stack: Stack, alerts: tuple[str, list[dict[str, Any]]]
) -> None:
    before = stack.note()
    stack.drop("three.tsv", log(20_000, 1500, 3))
    begun = wait_for("the third to begin", lambda: "'read 3'" in stack.log("worker"))
    assert begun
    os.kill(before["worker"], signal.SIGKILL)
    assert stack.kill_flow_runs() >= 1
    assert "three.tsv" not in stack.done()
    assert stack.released() == ["release-0001", "release-0002"]
    wait_for("the third release", lambda: "three.tsv" in stack.done())
    assert stack.released() == ["release-0001", "release-0002", "release-0003"]
    assert list(stack.out.glob("edition-*/.logveil-*")) == []
    assert stack.note()["worker"] != before["worker"]
    (crashed,) = stack.flow_runs("Crashed")
    assert crashed["state"]["message"].startswith("the worker and the run's process are gone")
    told = wait_for(
        "the alert", lambda: [each for each in alerts[1] if each["run"] == crashed["name"]]
    )
    assert told == [{"program": "logveil", "run": crashed["name"], "state": "Crashed"}]


def test_a_file_that_cannot_be_used_is_a_failed_run_and_an_alert(
    stack: Stack, alerts: tuple[str, list[dict[str, Any]]]
) -> None:
    stack.drop("bad.tsv", f"{CANARY_WORD} {CANARY_USER}\n" * 3)
    (failed,) = wait_for("the failed run", lambda: stack.flow_runs("Failed"))
    first_line = failed["state"]["message"].splitlines()[0]
    assert first_line.startswith("put aside: bad.tsv: no column of")
    told = wait_for("the alert", lambda: [each for each in alerts[1] if each["state"] == "Failed"])
    assert told == [
        {
            "program": "logveil",
            "flow": "logveil-inbox",
            "run": failed["name"],
            "state": "Failed",
            "files": {
                "released": 0,
                "known already": 0,
                "put aside": 1,
                "left for the next run": 0,
            },
            "exit_code": 3,
        }
    ]


def test_down_leaves_no_process_and_no_byte_of_the_log(stack: Stack) -> None:
    pids = stack.note()
    stack.down()
    assert stack.run("status").returncode == 1
    for name in ("keeper", "server", "worker"):
        wait_until_gone(name, pids[name])
    files = list(contents(stack.folder))
    held = {path.name for path, _ in files}
    assert {"prefect.db", "server.log", "worker.log", "ledger.sqlite3", "report.html"} <= held
    assert any("artifact" in path.parts for path, _ in files)
    assert_no_canary(files)
    assert not (stack.folder / "network.txt").exists()
