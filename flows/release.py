"""From log to release: every phase once, in order, timed."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from flows.display import Shown
from flows.process import heed_interrupts
from tasks.adapters.release_files import discard_own_draft
from tasks.runtime.shard_figures import counted_shards, counting_shards
from tasks.workbench import PHASES, Workbench


class Runner(Protocol):
    """How phases are run: as they are, or as Prefect tasks."""

    def run(self, bench: Workbench, phase: str) -> None: ...

    def publish(self, bench: Workbench, measures: dict[str, Any]) -> None: ...


class BareRunner:
    """Runs phases in this process, without Prefect."""

    def run(self, bench: Workbench, phase: str) -> None:
        bench.make(phase)

    def publish(self, bench: Workbench, measures: dict[str, Any]) -> None:
        bench.publish(measures)


class Clock:
    """Seconds of each phase and in total."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def total(self) -> dict[str, float]:
        return {**self.seconds, "total": round(time.perf_counter() - self.started, 3)}


def make_release(bench: Workbench, runner: Runner, screen: Shown) -> dict[str, Any]:
    """Run the phases and return the measures of the published release."""
    try:
        return _made_release(bench, runner, screen)
    except BaseException:
        # Also when the run is cancelled: nothing half-done is left.
        discard_own_draft(Path(bench.settings.out))
        raise


def _made_release(bench: Workbench, runner: Runner, screen: Shown) -> dict[str, Any]:
    clock = Clock()
    with counting_shards():
        for name in PHASES:
            with screen.phase(name) as shown, clock.timing(name):
                heed_interrupts()
                shown.cached = bench.is_known(name)
                runner.run(bench, name)
        shards = counted_shards()
    heed_interrupts()
    final = {
        "verified": True,
        **bench.result("measure"),
        **bench.facts(),
        **shards,
        "seconds": clock.total(),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    runner.publish(bench, final)
    if bench.memory.cache.unwritten:
        screen.say("the store has no room: what was computed is not kept for the next run")
    return final
