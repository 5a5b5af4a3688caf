"""The default method: clusters whose sizes adapt to the log (SPEC §3.2)."""

from __future__ import annotations

from tasks.core.mdav import mdav_labels
from tasks.core.problem import Problem
from tasks.core.records import Ints


def adaptive_labels(problem: Problem) -> Ints:
    """Cluster of each set; every cluster holds at least k users and l sets."""
    return mdav_labels(problem)
