"""Prefect tasks: each phase of `tasks.phases`, wrapped and nothing else.

Privacy-critical: raw text passes through these calls. So nothing is cached or persisted by
Prefect (its results are pickles in world-readable files), and a log line holds counts only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE

from tasks import phases


def _step(phase: Callable[..., Any], say: Callable[[Any], str]) -> Any:
    @wraps(phase)
    def run_phase(*args: Any) -> Any:
        result = phase(*args)
        get_run_logger().info("%s: %s", phase.__name__, say(result))
        return result

    wrap = task(
        name=phase.__name__,
        task_run_name=phase.__name__,
        persist_result=False,
        cache_policy=NO_CACHE,
        log_prints=False,
    )
    return wrap(run_phase)


read = _step(
    phases.read,
    lambda log: f"{log.rows_read} rows, {len(log.reject_rows)} set aside, {log.user_count} users",
)
analyse = _step(
    phases.analyse,
    lambda table: f"{len(table)} records, {len(table.sets)} distinct attribute sets",
)
compare = _step(phases.compare, lambda found: f"{len(found.distances.concepts)} concepts")
cluster = _step(phases.cluster, lambda clusters: f"{clusters.count} clusters")
redact = _step(phases.redact, lambda release: f"{int(release.published.sum())} records published")
measure = _step(
    phases.measure, lambda m: f"information loss {m['information_loss']['percent']:.1f} %"
)
write = _step(phases.write, lambda draft: "written aside")
verify = _step(phases.verify, lambda proven: f"{proven} rows proven")
publish = _step(phases.publish, lambda nothing: "published")
