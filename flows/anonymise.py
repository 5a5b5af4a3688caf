"""The Prefect flows: releases made by the tasks of `tasks.steps`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from prefect import flow

from flows.batches import SETTLE_SECONDS, Growth, InboxRun, Order
from flows.dask_engine import engine_of
from flows.release import make_release
from flows.screen import Screen
from tasks import steps
from tasks.settings import Settings
from tasks.workbench import Workbench

# Not a parameter of the flow: Prefect would store it with the run.
_SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)


def _shown() -> Screen:
    """The screen of this process; Dask is sent the flows, whose code must not name the variable."""
    return _SCREEN.get() or Screen(quiet=True, stderr=True)


@flow(
    name="logveil-release",
    flow_run_name="{settings.method}-{settings.guarantee}-k{settings.k}",
    persist_result=False,
    log_prints=False,
)
def anonymise(settings: Settings) -> dict[str, Any]:
    """One release; the parameters that Prefect stores are paths and numbers."""
    screen = _shown()
    with engine_of(settings) as settings:
        return make_release(Workbench(settings, screen.progress), TaskRunner(), screen)


class TaskRunner:
    """Runs phases as Prefect tasks."""

    def run(self, bench: Workbench, phase: str) -> None:
        steps.run_step(bench, phase)

    def publish(self, bench: Workbench, measures: dict[str, Any]) -> None:
        steps.publish(bench, measures)


@flow(
    name="logveil-inbox",
    flow_run_name="inbox-{edition}-k{settings.k}",
    persist_result=False,
    log_prints=False,
)
def anonymise_inbox(
    settings: Settings, inbox: str, edition: Growth = "append", settle: float = SETTLE_SECONDS
) -> dict[str, Any]:
    """Release the complete files of an inbox."""
    screen = _shown()
    with engine_of(settings) as settings:
        order = Order(settings, Path(inbox), edition, settle)
        return InboxRun(order, TaskRunner(), screen).run().as_dict()


def stop_embedded_servers() -> None:
    """Stop what Prefect started in this process; it does so itself only on a quiet exit."""
    # The server's code takes seconds to import, and a run against another server needs none.
    from prefect.server.api.server import SubprocessASGIServer

    for server in list(SubprocessASGIServer._instances.values()):
        server.stop()


@contextmanager
def shown_on(screen: Screen) -> Iterator[None]:
    """Let flows of this process show their progress."""
    token = _SCREEN.set(screen)
    try:
        yield
    finally:
        _SCREEN.reset(token)
