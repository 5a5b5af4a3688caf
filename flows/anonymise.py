"""The Prefect flows: releases whose phases are the tasks of `tasks.steps`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from prefect import State, flow, tags
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from flows.batches import SETTLE_SECONDS, FilesPutAside, Growth, InboxRun, Order, Outcome
from flows.dask_executor import executor_of
from flows.display import Screen
from flows.process import SOME_REJECTED
from flows.release import Phases, release_into_folder
from flows.run_page import RunPage, tag_run
from tasks import steps
from tasks.errors import BadLog, LogveilError, StillChanging, VerificationFailed, printable
from tasks.phases.job import Job
from tasks.phases.made import MadeRelease, Publication
from tasks.runtime.results import Result
from tasks.schema import FinalMeasures
from tasks.settings import Settings

T = TypeVar("T")
DAY: Final = 86_400
NOTHING_NEW: Final = "Nothing new"
_STATES: Final = {BadLog: "Rejected", VerificationFailed: "Refused", StillChanging: "Left"}
# Not a parameter of the flow: Prefect would store it with the run.
_SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)
_STARTED: ContextVar[float | None] = ContextVar("started", default=None)
# The same: settings and inbox under their own names, which Prefect may not be able to store.
_GIVEN: ContextVar[tuple[Settings, str] | None] = ContextVar("given", default=None)
# The same: the work of one file.
_WORK: ContextVar[Callable[[], FinalMeasures]] = ContextVar("work")


def run_name() -> str:
    """Which log it is, and what is promised."""
    chosen = flow_run.parameters["settings"]
    first, *others = (Path(log).name for log in chosen.logs)
    more = f"-and-{len(others)}-more" if others else ""
    return f"{printable(first)}{more}-{chosen.guarantee}-k{chosen.k}"


def inbox_run_name() -> str:
    """Many runs look into one inbox: the time tells them apart."""
    told = flow_run.parameters
    name = printable(Path(told["inbox"]).name)
    moment = f"{datetime.now():%Y-%m-%d-%H:%M:%S}"
    return f"{name}-{told['edition']}-k{told['settings'].k}-{moment}"


HOUSE_RULES: dict[str, Any] = {
    "persist_result": False,
    "log_prints": False,
    # A run that hangs would keep the inbox's only slot for ever.
    "timeout_seconds": float(os.environ.get("LOGVEIL_TIMEOUT_SECONDS", DAY)),
}


@flow(name="logveil-release", flow_run_name=run_name, **HOUSE_RULES)
def anonymise(settings: Settings) -> FinalMeasures:
    """One release; the parameters that Prefect stores are paths and numbers."""
    page, (settings, _) = _page(), _given(settings)
    try:
        with tags(*tag_run(settings)), executor_of(settings) as executor:
            job = Job.of(settings, executor, page.progress)
            return release_into_folder(job, _tasks(page))
    except LogveilError as fault:
        page.refused(fault, settings.out)
        return cast("FinalMeasures", _failed(fault))


@flow(name="logveil-inbox", flow_run_name=inbox_run_name, **HOUSE_RULES)
def anonymise_inbox(
    settings: Settings,
    inbox: str,
    edition: Growth = "append",
    settle: float = SETTLE_SECONDS,
    fail_if_rejected: bool = False,
) -> dict[str, Any]:
    """Release the complete files of an inbox."""
    page, (settings, inbox) = _page(), _given(settings, inbox)
    try:
        with tags(*tag_run(settings)), executor_of(settings) as executor:
            order = Order(settings, Path(inbox), edition, settle)
            outcome = InboxRun(order, executor, lambda: Tasks(page), _as_subflow).run()
    except LogveilError as fault:
        return cast("dict[str, Any]", _failed(fault))
    page.rejected(outcome.failed)
    rejected = outcome.failed or outcome.skipped
    if rejected and (fail_if_rejected or not outcome.only_rejects):
        return cast("dict[str, Any]", _failed(FilesPutAside(outcome)))
    return _completed(outcome)


@flow(
    name="logveil-file", flow_run_name="{file} → {release}", persist_result=False, log_prints=False
)
def release_file(file: str, release: str) -> FinalMeasures:
    """One file of an inbox; what it is made of is not among what Prefect stores."""
    try:
        return _work()
    except LogveilError as fault:
        _page().refused(fault, file)
        return cast("FinalMeasures", _failed(fault, _STATES.get(type(fault), "Failed")))


def _as_subflow(make: Callable[[], FinalMeasures], file: str, release: str) -> FinalMeasures:
    token = _WORK.set(make)
    try:
        return release_file(printable(file), release)
    finally:
        _WORK.reset(token)


# These three are not in the flows: Dask is sent their code, and a context variable cannot be sent.
def _page() -> RunPage:
    return RunPage(_SCREEN.get() or Screen(quiet=True, stderr=True))


def _tasks(page: RunPage) -> Tasks:
    return Tasks(page, _STARTED.get())


def _work() -> FinalMeasures:
    return _WORK.get()()


def _given(settings: Settings, inbox: str = "") -> tuple[Settings, str]:
    """What a command of this process was given, or else what Prefect has stored."""
    return _GIVEN.get() or (settings, inbox)


# Prefect takes a state that a flow returns for the run's, and gives or raises what it holds.
def _completed(outcome: Outcome) -> dict[str, Any]:
    name = SOME_REJECTED if outcome.failed else "Completed" if outcome.seen else NOTHING_NEW
    state: State[Any] = Completed(name=name, message=outcome.told(), data=outcome.as_dict())
    return cast("dict[str, Any]", state)


def _failed(fault: LogveilError, name: str = "Failed") -> Any:
    """A failed run whose first line says why, without Prefect's words before it."""
    return Failed(name=name, message=str(fault), data=fault)


class Tasks(Phases):
    """Runs phases as Prefect tasks, and shows what they have made."""

    def __init__(self, page: RunPage, started: float | None = None) -> None:
        super().__init__(page, self._run_as_task, started)
        self._page = page
        self._handles: dict[str, str] = {}

    def _run_as_task(self, result: Result[Any], label: str, after: Sequence[Result[Any]]) -> None:
        before = [self._handles[each.phase] for each in after]
        self._handles[result.phase] = steps.run_phase(result, label, before)

    def publish(self, publication: Publication, made: MadeRelease, measures: FinalMeasures) -> None:
        put_in_place = partial(super().publish, publication, made, measures)
        run = steps.publish.with_options(task_run_name=f"publish{publication.label}")
        run(put_in_place, wait_for=[self._handles["measure"], self._handles["verify"]])
        if measures["records"]["published"]:
            self._page.released(measures, publication.folder)
        self._page.waits(measures, publication.folder)


@contextmanager
def shown_on(screen: Screen) -> Iterator[None]:
    """Let flows of this process show their progress."""
    token, began = _SCREEN.set(screen), _STARTED.set(screen.started)
    try:
        yield
    finally:
        _SCREEN.reset(token)
        _STARTED.reset(began)


@contextmanager
def told_to_prefect(settings: Settings, inbox: str = "") -> Iterator[tuple[Settings, str]]:
    """What a flow of this process is called with; it works with what is given here."""
    token = _GIVEN.set((settings, inbox))
    try:
        yield settings.in_utf8(), printable(inbox)
    finally:
        _GIVEN.reset(token)
