"""Several processes give the results of one, in its order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.core.clustering.blocks import cut_into_blocks
from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.records import Ints
from tasks.core.similarity.costs import Costs
from tasks.core.starmap import serial
from tasks.runtime.executor import READY_SECONDS, LocalExecutor, sharing
from tests.helpers.many_blocks import SETS_PER_BLOCK, problem_of_many_blocks

A_LOT = 1000.0
"""Seconds of work."""


def double(number: int, offset: int) -> Ints:
    return np.array([2 * number + offset], dtype=np.int32)


def who_works(number: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_order(workers: int) -> None:
    with LocalExecutor(workers).running(A_LOT) as run:
        found = [int(result[0]) for result in run(double, ((n, 1) for n in range(20)))]
    assert found == [2 * n + 1 for n in range(20)]


@pytest.mark.parametrize(
    ("executor", "seconds", "here"),
    [
        (LocalExecutor(1, ready_seconds=0), A_LOT, True),
        (LocalExecutor(2), 0.1, True),
        (LocalExecutor(2), READY_SECONDS, False),
        (LocalExecutor(2, ready_seconds=0), 0.0, False),
    ],
    ids=["alone", "little to do", "much to do", "ready at once"],
)
def test_others_are_asked_if_they_are_ready_sooner_than_the_work_is_done(
    executor: LocalExecutor, seconds: float, here: bool
) -> None:
    with executor.running(seconds) as run:
        assert ({*run(who_works, ((n,) for n in range(4)))} == {os.getpid()}) == here


def test_one_and_two_workers_find_the_same_clusters() -> None:
    """With small blocks: what is cut into blocks does not depend on who works on them."""
    problem = problem_of_many_blocks()
    labels = []
    for workers in (1, 2):
        with LocalExecutor(workers).running(A_LOT) as run:
            labels.append(mdav_labels(problem, run, sets_per_block=SETS_PER_BLOCK).tolist())
    assert labels[0] == labels[1]


@dataclass(frozen=True)
class KnownCosts:
    path: Path

    def __call__(self, block: Problem) -> Costs:
        return np.asarray(np.load(self.path), dtype=np.float32)


def test_workers_read_what_is_known_of_a_block(tmp_path: Path) -> None:
    problem = problem_of_many_blocks()
    sources = []
    for number, block in enumerate(cut_into_blocks(problem, sets_per_block=SETS_PER_BLOCK)):
        sources.append(KnownCosts(tmp_path / f"{number}.npy"))
        np.save(sources[-1].path, between_sets(problem.part(block)))
    with LocalExecutor(2).running(A_LOT) as run:
        labels = mdav_labels(problem, run, sources, sets_per_block=SETS_PER_BLOCK)
    expected = mdav_labels(problem, sets_per_block=SETS_PER_BLOCK)
    assert labels.tolist() == expected.tolist()


def make_of(number: int, offset: int) -> int:
    return number + offset


def test_a_part_that_is_alone_needs_no_worker() -> None:
    started = []

    def others() -> AbstractContextManager[Any]:
        started.append("")
        return nullcontext(serial)

    with sharing(others) as run:
        assert list(run(make_of, iter([]))) == []
        assert list(run(make_of, iter([(1, 2)]))) == [3]
        assert started == []
        assert list(run(make_of, ((n, 1) for n in range(3)))) == [1, 2, 3]
        assert list(run(make_of, ((n, 2) for n in range(3)))) == [2, 3, 4]
    assert len(started) == 1


def test_few_parts_are_prepared_ahead() -> None:
    """Of a large log not all parts lie in memory at once."""
    prepared = []

    def parts() -> Iterator[tuple[int, int]]:
        for number in range(50):
            prepared.append(number)
            yield number, 1

    with LocalExecutor(2).running(A_LOT) as run:
        results = run(make_of, parts())
        assert [next(results), next(results)] == [1, 2]
        assert len(prepared) < 10
        assert len(list(results)) == 48


IDLE = """\
import os, time
from tasks.runtime.executor import LocalExecutor
if __name__ == "__main__":
    with LocalExecutor(2).running(1000) as run:
        first, _ = run(os.getpid, [(), ()])
        print(first, flush=True)
        list(run(time.sleep, [(600,), (600,)]))
"""


def test_workers_end_with_the_process_they_work_for(tmp_path: Path) -> None:
    """Also if that is killed: nobody is left who holds texts in memory."""
    script = tmp_path / "idle.py"
    script.write_text(IDLE)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    owner = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    assert worker != owner.pid
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
