"""From log to release: every phase once, in order, timed."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flows.screen import Screen
from tasks.settings import Settings


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


def make_release(settings: Settings, phases: Any, screen: Screen) -> dict[str, Any]:
    """Run the phases and return the measures of the published release.

    Args:
        phases: `tasks.phases`, or `tasks.steps` with the same names as Prefect tasks.
    """
    clock = Clock()

    @contextmanager
    def phase(name: str) -> Iterator[None]:
        with screen.phase(name), clock.timing(name):
            yield

    with phase("read"):
        log = phases.read(settings, screen.progress)
    with phase("analyse"):
        table = phases.analyse(settings, log, screen.progress)
    with phase("compare"):
        comparison = phases.compare(settings, table)
    with phase("cluster"):
        clusters = phases.cluster(settings, table, comparison)
    with phase("redact"):
        release = phases.redact(settings, table, comparison, clusters)
    with phase("measure"):
        measures = phases.measure(settings, log, table, comparison, clusters, release)
    with phase("write"):
        draft = phases.write(settings, log, table, release)
    with phase("verify"):
        phases.verify(settings, draft)
    final = {
        "verified": True,
        **measures,
        "seconds": clock.total(),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    phases.publish(settings, draft, final)
    return final
