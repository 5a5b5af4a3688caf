"""Shards give the results of one process, whoever runs them, and exchange nothing that tells."""

from __future__ import annotations

import gzip
import io
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flows.dask_engine import SHOWN_AS, _Submit
from tasks.core.clustering.between import between_sets
from tasks.measuring import cost_of_permutation
from tasks.reading import (
    Manner,
    Place,
    get_ready,
    manner_of,
    places_of,
    read_place,
    reading_pipeline,
    texts_per_shard,
)
from tasks.redacting import redact_shard
from tasks.runtime.code import code_digest
from tasks.runtime.memory import way_of_reading
from tasks.runtime.shard_figures import counted_shards, counting_shards
from tasks.runtime.shards import SharedRun, Submit, shares_of, work
from tasks.runtime.workers import blocks_run
from tasks.workbench import Workbench

from flows.display import Screen
from flows.release import BareRunner, make_release
from flows.run import main
from tasks.adapters.logs.reader import read_logs, texts_at
from tasks.adapters.resources import knowledge_in
from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.errors import InputError, UsageError
from tasks.core.similarity.costs import SetCosts
from tasks.core.starmap import Starmap
from tasks.runtime import shards
from tasks.runtime.codec import name_of, named, pack, unpack
from tasks.runtime.remote import SharedFiles
from tasks.settings import SAMPLE_LOG, Settings, private_folder
from tests.small_shards import small
from tests.test_privacy import assert_no_canary, canary_log, contents
from tests.test_workers import problem_of_many_blocks


@dataclass
class Here:
    """An engine that does the work at once, in this process.

    Attributes:
        functions: the names of those that were called, for each task.
    """

    functions: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return len(self.functions)

    def __call__(self, address: str, code: str, function: str, names: list[str]) -> SimpleNamespace:
        seconds = work(address, code, function, names)
        self.functions.append(function)
        return SimpleNamespace(result=lambda: seconds)


@contextmanager
def sharing(files: SharedFiles, submit: Submit) -> Iterator[Starmap]:
    """As the Dask engine does it, but what was exchanged stays."""
    yield SharedRun(files, submit, 2)


def released(settings: Settings, submit: Submit | None = None) -> bytes:
    """The bytes of a release, made in one process or with the files of shards."""
    screen = Screen(quiet=True, stderr=True)
    if submit is None:
        make_release(Workbench(settings), BareRunner(), screen)
    else:
        with blocks_run(lambda: sharing(SharedFiles(settings.shared), submit)):
            make_release(Workbench(settings), BareRunner(), screen)
    out = Path(settings.out)
    return (out / "release.tsv").read_bytes() + (out / "rejects.tsv").read_bytes()


# Values as bytes


def same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, Problem | SetCosts):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    return type(left) is type(right) and bool(left == right)


@pytest.fixture
def problem() -> Problem:
    return problem_of_many_blocks()


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, "text", 2.5, True, [None, ("a",)], {"user": "1"}),
        between_sets,
        Manner("store", None, "all", None),
        np.array([b"\x00key"], dtype="S16"),
    ],
    ids=["none", "plain", "function", "dataclass", "array"],
)
def test_what_was_packed_comes_out(value: Any) -> None:
    assert same(unpack(pack(value)), value)


def test_a_problem_comes_out_and_has_one_name(problem: Problem) -> None:
    content = pack((problem, between_sets))
    assert same(unpack(content)[0], problem)
    assert pack((problem, between_sets)) == content


@pytest.mark.parametrize("value", [lambda: None, object(), SharedFiles, Path("/")])
def test_what_another_process_could_not_read_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        pack(value)


@pytest.mark.parametrize(
    "tree",
    [
        b'{"function": "shutil:rmtree"}',
        b'{"function": "tasks.runtime.shards:SharedRun"}',
        b'{"function": "tasks.runtime.shards:work.__globals__"}',
        b'{"object": "subprocess:Popen", "fields": ["true"]}',
    ],
)
def test_what_was_planted_is_not_called(tree: bytes) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.frombuffer(tree, dtype=np.uint8))
    with pytest.raises(TypeError):
        unpack(buffer.getvalue())


def test_a_pickle_is_not_read() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.array([{"planted": 1}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        unpack(buffer.getvalue())


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


def test_calls_elsewhere_find_the_clusters_of_one_process(
    tmp_path: Path, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "TASKS_PER_WORKER", 2)
    engine = Here()
    run = SharedRun(SharedFiles(str(tmp_path)), engine, 1)
    found = adaptive_labels(problem, run, sets_per_block=20)
    assert found.tolist() == adaptive_labels(problem, sets_per_block=20).tolist()
    # Two tasks for the blocks, two for their boundaries.
    assert engine.done == 4
    assert any(path.is_file() for path in tmp_path.rglob("*"))
    run.forget()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_tasks_get_about_as_much_work_each() -> None:
    sizes = [5, 1, 9, 4, 4, 1]
    shares = shares_of(sizes, 3)
    assert sorted(place for share in shares for place in share) == list(range(6))
    assert [sum(sizes[place] for place in share) for share in shares] == [9, 7, 8]
    assert shares[0] == [2]
    assert shares_of(sizes[:2], 3) == [[0], [1]]
    assert shares_of([], 3) == []


def test_what_shards_take_is_counted(files: SharedFiles, problem: Problem) -> None:
    run = SharedRun(files, Here(), 1)
    with counting_shards():
        found = list(run(between_sets, [(problem,)] * 3))
        figures = counted_shards()["shards"]["tasks.core.clustering.problem:between_sets"]
    assert figures["calls"] == 3
    assert figures["longest_seconds"] <= figures["seconds"]
    bytes_of_results = sum(map(len, map(pack, found)))
    assert figures["results_mb"] == pytest.approx(bytes_of_results / 2**20, abs=1e-3)
    assert figures["arguments_mb"] == pytest.approx(3 * len(pack((problem,))) / 2**20, abs=1e-3)
    assert counted_shards() == {}


def test_what_is_done_is_not_done_again(
    files: SharedFiles, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is repeated because its worker was lost goes on where that one ended."""
    calls: list[Any] = []
    name = f"arguments/{'0' * 32}"
    files.put(name, pack((problem,)))
    monkeypatch.setattr(
        "tasks.runtime.shards.named", lambda name: lambda *given: calls.append(given) or np.zeros(1)
    )
    given = (files.address, code_digest(), name_of(between_sets), [name])
    assert work(*given) > [0.0]
    assert work(*given) == [0.0]
    assert len(calls) == 1


def test_a_worker_with_other_code_is_refused(files: SharedFiles) -> None:
    with pytest.raises(UsageError, match="other code"):
        work(files.address, "of yesterday", name_of(between_sets), [])


def test_a_lost_file_is_told_by_name(files: SharedFiles) -> None:
    with pytest.raises(InputError, match="arguments/lost is missing"):
        work(files.address, code_digest(), name_of(between_sets), ["arguments/lost"])


def test_the_task_around_a_shard_is_not_sent_along() -> None:
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


# Texts where they stand


@pytest.fixture
def small_redactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small log is redacted in some shards, too."""
    monkeypatch.setattr("tasks.core.redaction.parts.MOST_RECORDS", 100)


@pytest.mark.usefixtures("small_redactions")
def test_the_same_bytes_with_shards(new_store: Callable[[], Path], tmp_path: Path) -> None:
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
    engine = Here()
    assert released(shared, engine) == released(plain)
    assert {name_of(read_place), name_of(redact_shard)} < set(engine.functions)


@pytest.mark.usefixtures("small_redactions")
def test_no_canary_in_what_shards_exchange(
    new_store: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    log = canary_log(tmp_path / "log.tsv")
    settings = Settings(
        logs=(str(log),), out=str(tmp_path / "out"), store=str(new_store()), runner="dask"
    )
    engine = Here()
    released(settings, engine)
    exchanged = list(contents(Path(settings.shared)))
    assert {name_of(redact_shard), name_of(cost_of_permutation)} < set(engine.functions)
    assert len(exchanged) > 40
    assert_no_canary(exchanged)


def test_texts_are_found_where_they_stand(tmp_path: Path) -> None:
    log = read_logs([SAMPLE_LOG])
    records = np.arange(0, len(log.texts), 7)
    places = places_of(log, records[::-1], 10, format="auto", columns={})
    found = [
        text
        for place in places
        for text in texts_at(place.file, place.rows.tolist(), format="auto", columns={})
    ]
    assert found == log.texts[records].tolist()
    assert max(len(place.rows) for place in places) == 10


def test_a_row_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not what it was"):
        texts_at(str(SAMPLE_LOG), [2, 10**9], format="auto", columns={})


def test_a_worker_that_reads_in_another_way_is_refused(store: Path) -> None:
    manner = Manner(str(store), None, "sensitive", None)
    place = Place(str(SAMPLE_LOG), "auto", {}, np.array([2]))
    with pytest.raises(UsageError, match="another way"):
        read_place(manner, "of yesterday", place)


def test_a_worker_gets_ready_for_what_it_will_be_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pipeline that it loads ahead is the one with which it reads."""
    monkeypatch.chdir(store.parent)
    settings = Settings(logs=(str(SAMPLE_LOG),), store=store.name, runner="dask")
    reading_pipeline.cache_clear()
    get_ready(manner_of(settings).from_anywhere)
    place = Place(str(SAMPLE_LOG), "auto", {}, np.array([2]))
    assert len(read_place(manner_of(settings).from_anywhere, way_of_reading(settings), place)) == 1
    assert (reading_pipeline.cache_info().misses, reading_pipeline.cache_info().hits) == (1, 1)


def test_a_worker_that_knows_other_things_is_refused(store: Path) -> None:
    known = knowledge_in(str(store), None)
    assert len(known.taxonomy) > 80_000
    assert "health" in known.topic_map.names
    other = replace(known, content="of yesterday")
    with pytest.raises(UsageError, match="other things"):
        _ = other.taxonomy


def test_shards_follow_from_the_memory_of_a_worker() -> None:
    many = 10**9
    assert texts_per_shard(2.0, many, 2) < texts_per_shard(4.0, many, 2) < many
    assert texts_per_shard(64.0, 80_000, 2) == 20_000
    assert texts_per_shard(1.0, 10, 2) >= 10


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
