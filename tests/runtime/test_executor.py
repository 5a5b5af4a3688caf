"""Several processes give the results of one, in its order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from traceback import format_exception
from typing import Any

import numpy as np
import pytest
from tasks.reading import Manner, read_in_shards
from tasks.runtime.workers import running_blocks

from tasks import reading
from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.blocks import cut_into_blocks
from tasks.core.clustering.problem import Problem, between_sets, problem_of
from tasks.core.errors import UnexpectedError, UsageError
from tasks.core.records import Ints
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import Costs
from tasks.core.taxonomy import build_taxonomy
from tasks.runtime.progress import silent
from tests.random_logs import table_of


def double(number: int, offset: int) -> Ints:
    return np.array([2 * number + offset], dtype=np.int32)


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_order(workers: int) -> None:
    with running_blocks(workers) as run:
        found = [int(result[0]) for result in run(double, ((n, 1) for n in range(20)))]
    assert found == [2 * n + 1 for n in range(20)]


def test_one_and_two_workers_find_the_same_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small blocks: what is cut into blocks does not depend on who works on them."""
    problem = problem_of_many_blocks()
    labels = []
    for workers in (1, 2):
        with running_blocks(workers) as run:
            labels.append(adaptive_labels(problem, run, sets_per_block=20).tolist())
    assert labels[0] == labels[1]


def test_workers_read_what_is_known_of_a_block(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem = problem_of_many_blocks()
    sources = []
    for number, block in enumerate(cut_into_blocks(problem, sets_per_block=20)):
        sources.append(KnownCosts(tmp_path / f"{number}.npy"))
        np.save(sources[-1].path, between_sets(problem.part(block)))
    with running_blocks(2) as run:
        labels = adaptive_labels(problem, run, sources, sets_per_block=20)
    assert labels.tolist() == adaptive_labels(problem, sets_per_block=20).tolist()


IDLE = """\
import os, time
from tasks.runtime.workers import running_blocks
if __name__ == "__main__":
    with running_blocks(2) as run:
        (first,) = run(os.getpid, [()])
        print(first, flush=True)
        list(run(time.sleep, [(600,), (600,)]))
"""


def test_workers_end_with_the_process_they_work_for(tmp_path: Path) -> None:
    """Also if that is killed: nobody is left who holds texts in memory."""
    script = tmp_path / "idle.py"
    script.write_text(IDLE)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    owner = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    assert is_alive(worker)
    owner.kill()
    owner.wait()
    wait_until(lambda: not is_alive(worker))


def is_alive(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state not in "ZX"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


TEXTS = ["lung cancer cure", "john smith springfield", "", "call 212-736-5000", "used cars", "flu"]


def test_one_and_two_workers_read_the_same(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SHARD", 2)
    manner = Manner(str(store), None, "sensitive", None)
    found, steps = [], []
    for workers in (1, 2):
        with running_blocks(workers) as run:
            told: list[tuple[int, int]] = []
            readings = read_in_shards(manner, TEXTS, run, lambda *step: told.append(step))  # noqa: B023
        found.append({f.name: getattr(readings, f.name).tolist() for f in fields(readings)})
        steps.append(told)
    assert found[0] == found[1]
    assert len(readings) == len(TEXTS)
    assert steps == [[(2, 6), (4, 6), (6, 6)]] * 2


@pytest.mark.parametrize("workers", [1, 2])
def test_no_text_comes_out_of_a_worker_that_fails(store: Path, workers: int) -> None:
    manner = Manner(str(store), None, "sensitive", None)
    texts: list[Any] = ["zyxwvcanary", b"zyxwvcanary"]
    with running_blocks(workers) as run, pytest.raises(UnexpectedError) as caught:
        read_in_shards(manner, texts, run, silent)
    assert "zyxwvcanary" not in "".join(format_exception(caught.value))


@pytest.mark.parametrize("workers", [1, 2])
def test_our_own_errors_keep_their_kind(store: Path, workers: int) -> None:
    manner = Manner(str(store), None, "sensitive", "en_no_such_model")
    with running_blocks(workers) as run, pytest.raises(UsageError, match="not installed"):
        read_in_shards(manner, TEXTS, run, silent)


@dataclass(frozen=True)
class KnownCosts:
    path: Path

    def __call__(self, block: Problem) -> Costs:
        return np.asarray(np.load(self.path), dtype=np.float32)


def problem_of_many_blocks() -> Problem:
    names = [f"c{n}.n.01" for n in range(60)]
    parents = [[]] + [[(n - 1) // 3] for n in range(1, 60)]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="")
    rows = [(u, [1 + u % 59, 1 + (u * 7) % 59], [], 0) for u in range(200)]
    table = table_of(taxonomy, [(u, list(dict.fromkeys(c)), w, t) for u, c, w, t in rows])
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    problem = problem_of(table, distances, taxonomy, k=3, l=1)
    assert len(cut_into_blocks(problem, sets_per_block=20)) > 2
    return problem
