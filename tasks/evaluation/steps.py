"""Prefect tasks of a comparison: one for each part, so that every method shows in the UI.

Prefect is given nothing to keep: no result, no parameter but settings, log lines of counts only.
"""

from __future__ import annotations

from prefect import get_run_logger, task

from tasks.evaluation.comparison import MethodComparison


@task(name="compare-part", persist_result=False, log_prints=False)
def _part(comparison: MethodComparison, part: str) -> None:
    get_run_logger().info("%s: %s", part, comparison.make(part))


def run_part(comparison: MethodComparison, part: str) -> None:
    """Run one part as a task."""
    _part.with_options(task_run_name=part)(comparison, part)
