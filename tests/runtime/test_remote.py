"""Parts on other machines: the results of one process, and files that tell nobody anything."""

from __future__ import annotations

import gzip
import stat
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flows.dask_executor import SHOWN_AS, _Submit
from flows.run import main
from tasks.adapters.detection.text_reader import read_rows_of_part
from tasks.adapters.private_folders import private_folder_of
from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.part_sizes import PartSizes
from tasks.core.records import Floats
from tasks.core.rows.classes import classes_of_part
from tasks.errors import InputError, UsageError
from tasks.folders import private_folder
from tasks.phases.measure import loss_of_part
from tasks.runtime.codec import name_of, named, pack
from tasks.runtime.executor import ALWAYS_ELSEWHERE, Executor
from tasks.runtime.fingerprint import program_fingerprint
from tasks.runtime.remote import RemoteExecutor, SharedFiles, shares_of, work
from tasks.settings import SAMPLE_LOG, Settings
from tests.helpers.executors import Here, LastingFiles, small_parts
from tests.helpers.many_blocks import SETS_PER_BLOCK, problem_of_many_blocks
from tests.helpers.releases import released
from tests.test_privacy import assert_no_canary, canary_log, contents

A_LOT = 1000.0
"""Seconds of work."""


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_of_many_blocks()


def test_users_are_numbered_anew_in_each_part(problem: Problem) -> None:
    """Who holds all parts cannot tell which of their users are the same."""
    chosen = np.arange(10, 30)
    part = problem.part(chosen)
    assert sorted(set(part.users.tolist())) == list(range(int(part.users.max()) + 1))
    whole = [problem.users_of(index).tolist() for index in chosen.tolist()]
    ranks = {user: rank for rank, user in enumerate(sorted({u for own in whole for u in own}))}
    assert [part.users_of(place).tolist() for place in range(len(part))] == [
        [ranks[user] for user in own] for own in whole
    ]


# Files


@pytest.fixture(params=["folder", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> SharedFiles:
    """In a folder, and where there are no folders."""
    address = {"folder": str(tmp_path / "shared"), "memory": f"memory://{tmp_path.name}"}
    return SharedFiles(address[request.param])


def test_files_are_found_by_name(files: SharedFiles) -> None:
    assert files.get("results/a") is None
    assert not files.holds("results/a")
    files.put("results/a", b"content")
    files.put("results/b", b"")
    assert (files.get("results/a"), files.get("results/b")) == (b"content", b"")
    files.remove(["results/a", "results/c"])
    assert (files.holds("results/a"), files.holds("results/b")) == (False, True)


def test_a_damaged_file_is_gone(tmp_path: Path) -> None:
    files = SharedFiles(str(tmp_path))
    files.put("a", b"content")
    files.put("b", b"other")
    (tmp_path / "a").write_bytes((tmp_path / "b").read_bytes())
    assert files.get("a") is None
    assert not files.holds("a")


def test_files_in_a_folder_are_private(tmp_path: Path) -> None:
    SharedFiles(str(tmp_path / "shared")).put("results/a", b"content")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "shared").rglob("*")]
    assert modes == [0o700, 0o600]


def test_what_a_lost_worker_had_begun_to_write_is_removed_with_the_file(tmp_path: Path) -> None:
    files = SharedFiles(str(tmp_path))
    files.put("results/a", b"content")
    for half in (".aside-a-x1_", ".aside-b-x1_"):
        (tmp_path / "results" / half).write_bytes(b"con")
    files.remove(["results/a"])
    assert [path.name for path in (tmp_path / "results").iterdir()] == [".aside-b-x1_"]


def test_an_address_that_cannot_be_used_is_told() -> None:
    with pytest.raises(InputError, match="cannot use --store nothing://"):
        SharedFiles("nothing://bucket")


# Calls


def test_calls_elsewhere_find_the_clusters_of_one_process(tmp_path: Path, problem: Problem) -> None:
    engine = Here()
    executor = RemoteExecutor(SharedFiles(str(tmp_path)), engine, 1, tasks_per_worker=2)
    with executor.running(A_LOT) as run:
        found = mdav_labels(problem, run, sets_per_block=SETS_PER_BLOCK)
        assert engine.done == 2
        assert any(path.is_file() for path in tmp_path.rglob("*"))
    assert found.tolist() == mdav_labels(problem, sets_per_block=SETS_PER_BLOCK).tolist()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_what_was_exchanged_stays_if_a_run_fails(files: SharedFiles, problem: Problem) -> None:
    """The next run goes on from there."""
    engine = Here()
    executor = RemoteExecutor(files, engine, 1, ready_seconds=0)

    def fail_after_work() -> None:
        with executor.running(A_LOT) as run:
            list(run(between_sets, [(replace(problem, k=k),) for k in (2, 3, 4)]))
            raise ZeroDivisionError

    for calls in (3, 0):
        with pytest.raises(ZeroDivisionError):
            fail_after_work()
        figures = executor.take_figures()[name_of(between_sets)]
        assert (figures["calls"], figures["seconds"] > 0) == (3, calls > 0)


def test_little_work_stays_here(files: SharedFiles, problem: Problem) -> None:
    engine = Here()
    executor = RemoteExecutor(files, engine, 2, ready_seconds=1.0)
    for seconds, calls in ((0.5, 0), (1.0, 2), (ALWAYS_ELSEWHERE, 4)):
        with executor.running(seconds) as run:
            assert len(list(run(between_sets, [(problem,)] * 2))) == 2
        assert engine.done == calls


def test_a_call_that_is_alone_stays_here_unless_it_must_not(
    files: SharedFiles, problem: Problem
) -> None:
    engine = Here()
    executor = RemoteExecutor(files, engine, 2)
    for seconds, calls in ((A_LOT, 0), (ALWAYS_ELSEWHERE, 1)):
        with executor.running(seconds) as run:
            assert len(list(run(between_sets, [(problem,)]))) == 1
        assert engine.done == calls


def test_tasks_get_about_as_much_work_each() -> None:
    sizes = [5, 1, 9, 4, 4, 1]
    shares = shares_of(sizes, 3)
    assert sorted(place for share in shares for place in share) == list(range(6))
    assert [sum(sizes[place] for place in share) for share in shares] == [9, 7, 8]
    assert shares[0] == [2]
    assert shares_of(sizes[:2], 3) == [[0], [1]]
    assert shares_of([], 3) == []


def test_what_parts_take_is_counted(files: SharedFiles, problem: Problem) -> None:
    executor = RemoteExecutor(files, Here(), 1)
    with executor.running(A_LOT) as run:
        found = list(run(between_sets, [(problem,)] * 3))
    figures = executor.take_figures()["tasks.core.clustering.problem:between_sets"]
    assert figures["calls"] == 3
    assert figures["longest_seconds"] <= figures["seconds"]
    bytes_of_results = sum(map(len, map(pack, found)))
    assert figures["results_mb"] == pytest.approx(bytes_of_results / 2**20, abs=1e-3)
    assert figures["arguments_mb"] == pytest.approx(3 * len(pack((problem,))) / 2**20, abs=1e-3)
    assert executor.take_figures() == {}


def test_what_is_done_is_not_done_again(
    files: SharedFiles, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is repeated because its worker was lost goes on where that one ended."""
    calls: list[Any] = []
    name = f"arguments/{'0' * 32}"
    files.put(name, pack((problem,)))

    def call(*given: Any) -> Floats:
        calls.append(given)
        return np.zeros(1)

    monkeypatch.setattr("tasks.runtime.remote.named", lambda name: call)
    given = (files.address, program_fingerprint(), name_of(between_sets), [name])
    assert work(*given) > [0.0]
    assert work(*given) == [0.0]
    assert len(calls) == 1


def test_a_worker_with_other_code_is_refused(files: SharedFiles) -> None:
    with pytest.raises(UsageError, match="other code"):
        work(files.address, "of yesterday", name_of(between_sets), [])


def test_a_lost_file_is_told_by_name(files: SharedFiles) -> None:
    with pytest.raises(InputError, match="arguments/lost is missing"):
        work(files.address, program_fingerprint(), name_of(between_sets), ["arguments/lost"])


def test_the_task_around_a_part_is_not_sent_along() -> None:
    """Prefect's context of a phase holds the log."""
    around: ContextVar[str] = ContextVar("around", default="the flow's")
    seen = []
    submit = _Submit(SimpleNamespace(submit=lambda task, given: seen.append(around.get())))
    around.set("the phase's, with the whole log")
    submit("address", "code", "function", [])
    assert seen == ["the flow's"]


def test_functions_are_shown_by_what_they_do() -> None:
    shown = []
    submit = _Submit(SimpleNamespace(submit=lambda task, given: shown.append(task.task_run_name)))
    for function in SHOWN_AS:
        assert name_of(named(function)) == function
        submit("address", "code", function, [])
    submit("address", "code", "tasks.new:function", [])
    assert shown == [*SHOWN_AS.values(), "tasks.new:function"]


# Releases


def bytes_of(settings: Settings, sizes: PartSizes, executor: Executor | None = None) -> bytes:
    released(settings, executor, sizes)
    out = Path(settings.out)
    rejects = private_folder_of(Path(settings.store), out) / "rejects.tsv"
    return (out / "release.tsv").read_bytes() + rejects.read_bytes()


def test_the_same_bytes_with_other_machines(new_store: Callable[[], Path], tmp_path: Path) -> None:
    """Two files with the same texts, one of them packed, in another format."""
    rows = SAMPLE_LOG.read_text().splitlines(keepends=True)
    (tmp_path / "a.tsv").write_text("".join(rows[:700]) + "\n no row\n")
    other = "".join(
        ",".join(f'"{cell}"' for cell in row.strip().split("\t")[:3]) + "\n"
        for row in [rows[0], *rows[500:]]
        if '"' not in row
    )
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(other.encode()))
    logs = (str(tmp_path / "a.tsv"), str(tmp_path / "b.csv.gz"))
    plain = Settings(logs=logs, out=str(tmp_path / "plain"), store=str(new_store()), workers=1)
    shared = replace(
        plain, out=str(tmp_path / "shared"), store=str(new_store()), shared="", runner="dask"
    )
    engine, sizes = Here(), PartSizes(units_per_part=100)
    executor = RemoteExecutor(SharedFiles(shared.shared), engine, 1, ready_seconds=0)
    assert bytes_of(shared, sizes, executor) == bytes_of(plain, sizes)
    assert {name_of(read_rows_of_part), name_of(classes_of_part)} <= set(engine.functions)


def test_no_canary_in_what_machines_exchange(new_store: Callable[[], Path], tmp_path: Path) -> None:
    log = canary_log(tmp_path / "log.tsv")
    settings = Settings(
        logs=(str(log),), out=str(tmp_path / "out"), store=str(new_store()), runner="dask"
    )
    engine = Here()
    executor = RemoteExecutor(LastingFiles(settings.shared), engine, 1, ready_seconds=0)
    bytes_of(settings, small_parts(), executor)
    exchanged = list(contents(Path(settings.shared)))
    called = {read_rows_of_part, classes_of_part, loss_of_part}
    assert {*map(name_of, called)} < set(engine.functions)
    assert len(exchanged) > 40
    assert_no_canary(exchanged)


def test_what_parts_took_is_measured(new_store: Callable[[], Path], tmp_path: Path) -> None:
    """A release that is made here has no such figures."""
    settings = Settings(out=str(tmp_path / "out"), store=str(new_store()), runner="dask")
    executor = RemoteExecutor(SharedFiles(settings.shared), Here(), 1, ready_seconds=0)
    _, measures = released(settings, executor, small_parts())
    assert measures["shards"][name_of(loss_of_part)]["calls"] > 2
    again = replace(settings, store=str(new_store()), shared="", runner="local", workers=1)
    assert "shards" not in released(again)[1]


# Settings


def test_a_store_at_an_url_has_a_private_folder() -> None:
    settings = Settings(store="s3://bucket/logs", runner="dask")
    assert settings.shared == "s3://bucket/logs"
    assert settings.store == private_folder("s3://bucket/logs")
    assert "://" not in settings.store
    assert settings.store != private_folder("s3://bucket/other")
    again = replace(settings, k=7)
    assert (again.store, again.shared) == (settings.store, settings.shared)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"runner": "ray"}, "runner must be one of local, dask"),
        ({"dask_address": "tcp://127.0.0.1:8786"}, "dask_address is for runner dask alone"),
        ({"worker_memory": 0.1, "runner": "dask"}, "worker_memory must be at least"),
        ({"store": "s3://key:secret@bucket"}, "without any credentials"),
        ({"store": "s3://bucket"}, "an URL is for runner dask alone"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Settings(**wrong)


def test_bare_has_no_dask(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--bare", "--runner", "dask"]) == 2
    assert "leave out --bare" in capsys.readouterr().err


def test_where_work_is_done_is_not_published() -> None:
    near = Settings(workers=1)
    far = Settings(workers=9, runner="dask", dask_address="tcp://a:1", worker_memory=8.0)
    assert near.published() == replace(far, store=near.store, shared="").published()
