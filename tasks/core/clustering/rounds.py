"""Rounds of steps that improve a partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tasks.core.clustering.exchanges import exchange_sets
from tasks.core.clustering.improvements import dissolve_clusters, move_sets
from tasks.core.clustering.partition import Partition

Step = Callable[[Partition], None]
STEPS: Final[Sequence[Step]] = (move_sets, dissolve_clusters, exchange_sets)
"""The steps that need to know what sets cost at centres, and nothing else."""
WORTHWHILE: Final = 1e-3
"""Rounds end when one saves less than this share."""


def improved(partition: Partition, steps: Sequence[Step], most_rounds: int) -> Partition:
    """The partition after rounds of the steps, while they are worth it."""
    for _ in range(most_rounds):
        before = partition.total
        for step in steps:
            step(partition)
        if before - partition.total <= WORTHWHILE * before:
            break
    return partition
