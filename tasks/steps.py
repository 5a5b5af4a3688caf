"""Prefect tasks: each phase of a workbench, wrapped and nothing else.

Privacy-critical: raw text passes through these calls. So all that Prefect is given to keep is the
handle of a result, under a key that is that handle (its own results are pickles in world-readable
files, its own keys miss changes of code and files), and a log line holds counts only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefect import State, get_run_logger, task
from prefect.cache_policies import NO_CACHE

from tasks.core.errors import DiskTrouble
from tasks.runtime import shards
from tasks.workbench import PHASES, Workbench

SAY: dict[str, Callable[[Any], str]] = {
    "read": lambda log: (
        f"{log.rows_read} rows, {len(log.reject_rows)} set aside, {log.user_count} users"
    ),
    "analyse": lambda table: f"{len(table)} records, {len(table.sets)} distinct attribute sets",
    "compare": lambda found: f"{len(found.distances.concepts)} concepts",
    "cluster": lambda clusters: f"{clusters.count} clusters",
    "redact": lambda release: f"{int(release.published.sum())} records published",
    "measure": lambda measures: f"{measures['information_loss']['percent']:.1f} % lost",
    "write": lambda draft: "written aside",
    "verify": lambda rows: f"{rows} rows proven",
}


# Whatever else fails would fail again.
PAUSES: dict[str, list[float]] = {"read": [2, 20], "write": [2, 20], "verify": [2, 20]}
"""Seconds before phases that wait for a disk are tried again."""


def _may_pass(step: Any, run: Any, state: State[Any]) -> bool:
    return isinstance(state.result(raise_on_failure=False), DiskTrouble)


def _step(phase: str) -> Any:
    def run_phase(bench: Workbench) -> str:
        handle = bench.make(phase)
        made = bench.is_at_hand(phase)
        said = SAY[phase](bench.result(phase)) if made else "known already"
        get_run_logger().info("%s: %s", phase, said)
        return handle

    wrap = task(
        name=phase,
        task_run_name=phase,
        cache_key_fn=lambda context, arguments: arguments["bench"].handle(phase),
        persist_result=True,
        result_serializer="json",
        log_prints=False,
        retries=len(PAUSES.get(phase, [])),
        retry_delay_seconds=PAUSES.get(phase, 0),
        retry_condition_fn=_may_pass,
    )
    return wrap(run_phase)


STEPS = {phase: _step(phase) for phase in PHASES}


def run_step(bench: Workbench, phase: str) -> None:
    """Run a phase as a task; Prefect shows it as cached if its result is known."""
    step = STEPS[phase].with_options(
        refresh_cache=not bench.is_known(phase), task_run_name=f"{phase}{bench.label}"
    )
    step(bench)


@task(name="publish", task_run_name="publish", persist_result=False, log_prints=False)
def publish(bench: Workbench, measures: dict[str, Any]) -> None:
    bench.publish(measures)


@task(
    name="shard",
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
    retries=2,
    retry_delay_seconds=[2, 20],
    retry_condition_fn=_may_pass,
)
def shard(address: str, code: str, function: str, names: list[str]) -> list[float]:
    """Some calls of a phase; its arguments are names of files, its results lie in others."""
    seconds = shards.work(address, code, function, names)
    get_run_logger().info("%d calls, %.1f s", len(seconds), sum(seconds))
    return seconds
