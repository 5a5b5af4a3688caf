"""The search for clusters in one block (what each part is for, and what it brought: `adaptive`)."""

from __future__ import annotations

from typing import Final

import numpy as np

from tasks.core.clustering.between import nearest_sets
from tasks.core.clustering.blocks import Between
from tasks.core.clustering.cost_table import CostTable
from tasks.core.clustering.crossover import better_parts
from tasks.core.clustering.improvements import scatter_clusters
from tasks.core.clustering.mdav import mdav
from tasks.core.clustering.openings import Openings
from tasks.core.clustering.partition import Partition
from tasks.core.clustering.problem import Problem
from tasks.core.clustering.reverse_greedy import reverse_greedy_labels
from tasks.core.clustering.rounds import STEPS, improved
from tasks.core.clustering.spaces import SetSpace, UserSizes
from tasks.core.records import Ints
from tasks.core.similarity.costs import Costs

LEAST_NEAR: Final = 64
NEAR_PER_USER: Final = 4
"""A new cluster of k people takes from the 64 or 4k sets nearest to its centre."""
FIRST_ROUNDS, MOST_ROUNDS, ROUNDS_AFTER_SHAKE = 4, 12, 5
SHAKEN: Final = 16
"""A shake scatters one cluster in so many."""
MOST_SHAKES: Final = 24
SHAKE_WORK: Final = 9_000_000
CLUSTERS_AT_LEAST: Final = 450
"""A shake's time goes with sets times clusters, few clusters being no faster than some; together
they stay within SHAKE_WORK."""


def cluster_block(problem: Problem, between: Between) -> Ints:
    """Cluster of each set of a solvable block. Pure; blocks know nothing of each other."""
    search = _BlockSearch(problem, between(problem))
    labels = reverse_greedy_labels(problem, search.between, search.near)
    found = search.improved(Partition(problem, search.table, labels), FIRST_ROUNDS)
    fixed = mdav(SetSpace(problem, search.between), UserSizes(problem), len(problem))
    # With the better parts of MDAV's clusters the result is never worse than those.
    found = better_parts(found, Partition(problem, search.table, fixed))
    found = search.shaken(search.improved(found, MOST_ROUNDS))
    search.openings.open_for_free(found)
    return found.labels.astype(np.int32)


class _BlockSearch:
    """The steps of the search, with what they need to know of the block."""

    def __init__(self, problem: Problem, between: Costs) -> None:
        self.table = CostTable(problem)
        self.between = between
        count = min(len(problem), max(LEAST_NEAR, NEAR_PER_USER * problem.k))
        self.near = nearest_sets(self.between, count)
        self.openings = Openings(problem, self.between, self.near)

    def improved(self, partition: Partition, most_rounds: int) -> Partition:
        """The partition after rounds of all steps."""
        return improved(partition, (*STEPS, self.openings.open_clusters), most_rounds)

    def shaken(self, partition: Partition) -> Partition:
        """Scatter some clusters, improve again, keep what has become better; and again."""
        clusters = len(partition.sizes)
        affordable = SHAKE_WORK // (len(partition.labels) * max(clusters, CLUSTERS_AT_LEAST))
        for turn in range(min(MOST_SHAKES, affordable, clusters - 1)):
            other = partition.copy()
            scatter_clusters(other, range(turn % SHAKEN, len(other.sizes), SHAKEN))
            partition = better_parts(partition, self.improved(other, ROUNDS_AFTER_SHAKE))
        return partition
