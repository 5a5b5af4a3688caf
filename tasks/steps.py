"""Prefect tasks: each phase, the publication and remote parts, wrapped and nothing else.

Privacy-critical: raw text passes through these calls. So all that Prefect is given to keep is the
fingerprint of a result, under a key that is that fingerprint (its own results are pickles in
world-readable files, its own keys miss changes of code and files); log lines hold counts only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from prefect import State, get_run_logger, task
from prefect.cache_policies import NO_CACHE

from tasks.errors import DiskTrouble, LogveilError
from tasks.runtime import remote
from tasks.runtime.results import Result

T = TypeVar("T")
# Whatever else fails would fail again.
PAUSES: Final[dict[str, list[float]]] = {"read": [2, 20], "write": [2, 20], "verify": [2, 20]}
"""Seconds before phases that wait for a disk are tried again."""


def told_plainly(record: logging.LogRecord) -> bool:
    """Of a fault of ours Prefect's log gets the sentence, not the exception and its traceback."""
    fault = record.exc_info[1] if record.exc_info else None
    plain = {"msg": str(fault), "args": (), "exc_info": None}
    record.__dict__.update(plain if isinstance(fault, LogveilError) else {})
    # Prefect says it a second time, as the state of the task, in more words.
    return "Task run encountered an exception" not in record.getMessage()


logging.getLogger("prefect.task_runs").addFilter(told_plainly)


def _may_pass(step: Any, run: Any, state: State[Any]) -> bool:
    return isinstance(state.result(raise_on_failure=False), DiskTrouble)


@task(
    name="phase",
    cache_key_fn=lambda context, arguments: arguments["result"].fingerprint,
    persist_result=True,
    result_serializer="json",
    log_prints=False,
    retry_condition_fn=_may_pass,
)
def phase(result: Result[Any]) -> str:
    """Make the result of a phase, unless it is known."""
    result.ensure()
    get_run_logger().info("%s: %s", result.phase, result.told)
    return result.fingerprint


def run_phase(result: Result[T], label: str, after: Sequence[str]) -> str:
    """Run a phase as a task; Prefect shows it as cached if its result is known.

    Args:
        after: what this has returned for the phases before it: Prefect knows these very strings,
            and draws the run as a graph.
    """
    pauses = PAUSES.get(result.phase, [])
    run = phase.with_options(
        name=result.phase,
        task_run_name=f"{result.phase}{label}",
        refresh_cache=not result.is_known,
        retries=len(pauses),
        retry_delay_seconds=pauses,
    )
    return run(result, wait_for=after)


@task(name="publish", persist_result=False, log_prints=False)
def publish(put_in_place: Callable[[], None]) -> None:
    put_in_place()


@task(
    name="part",
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
    retries=2,
    retry_delay_seconds=[2, 20],
    retry_condition_fn=_may_pass,
)
def part(address: str, code: str, function: str, names: list[str]) -> list[float]:
    """Some calls of a phase; its arguments are names of files, its results lie in others."""
    seconds = remote.work(address, code, function, names)
    get_run_logger().info("%d calls, %.1f s", len(seconds), sum(seconds))
    return seconds
