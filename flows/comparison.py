"""The Prefect flow of a comparison."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from prefect import flow

from flows.compare import compare_all
from flows.display import Screen
from tasks.evaluation.steps import run_part
from tasks.settings import Settings

# Not a parameter of the flow: Prefect would store it with the run.
_SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)
# The same: names that Prefect may not be able to store.
_GIVEN: ContextVar[Settings | None] = ContextVar("given", default=None)


@flow(
    name="logveil-compare",
    flow_run_name="compare-{settings.scope}-k{settings.k}",
    persist_result=False,
    log_prints=False,
)
def compare_methods(settings: Settings) -> dict[str, Any]:
    """All methods on one log; the parameters that Prefect stores are paths and numbers."""
    screen = _SCREEN.get() or Screen(quiet=True, stderr=True)
    return compare_all(_GIVEN.get() or settings, screen, run_part)


def compare_on(screen: Screen, settings: Settings) -> dict[str, Any]:
    """Run the flow and show its progress."""
    shown, given = _SCREEN.set(screen), _GIVEN.set(settings)
    try:
        return compare_methods(settings.in_utf8())
    finally:
        _SCREEN.reset(shown)
        _GIVEN.reset(given)
