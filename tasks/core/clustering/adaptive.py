"""The default method: clusters whose sizes adapt to the log (docs/decisions.md#adaptive).

Sets choose among clusters as customers among facilities, and a facility needs k people to be open
(lower-bounded facility location; Z. Svitkina, ACM TALG 6, 2010). Per block of sets:

1. `reverse_greedy`: every set opens a cluster, and those short of people close again.
2. Rounds of `moves` (move sets, dissolve clusters, exchange sets, open new clusters), all with
   the set that a cluster would publish for its centre; no step makes the partition worse.
3. `better_parts` keeps whatever MDAV's clusters do better.
4. More rounds, then shakes: scatter one cluster in sixteen, improve, keep the components that
   came out cheaper; and again.
5. Clusters are split wherever that costs nothing.

At last clusters of different blocks exchange sets (`blocks.refine_boundaries`).

Symmetric loss at k = 5 in shares of fixed MDAV's, on a generated log in scope `sensitive`, in scope
`all`, and on random sets of nouns (10,000 records each, the last of 5,800 distinct sets): MDAV with
moves and dissolving, the prototype, 0.63, 0.74, 0.76; with exchanges and new clusters 0.50, 0.63,
0.67; from the reverse greedy start 0.48, 0.62, 0.66; with shakes 0.47, 0.61, 0.66. Much longer
searches save 1-2 %.

Blocks, on a log of 24,000 queries (7,853 sets) in scope `all`: one block loses 13.43 %, three
blocks 13.47 %; on 100,000 queries (25,089 sets) nine blocks lose 7.64 %. Without the exchanges at
their boundaries, an eighth of the time, it was 13.59 % and 7.78 % (three rounds after a shake).

A quarter fewer shakes than those figures were measured with cost, in shares of the loss, 0.1 % on
100,000 queries (7.65 %) and 0.2 % on 10,000 in scope `all`, nothing in `sensitive`; on a log that
the number was not chosen by 0.1 % and nothing.

Tried and left out: merging pairs of clusters (saves nothing), judging moves and exchanges with
centres recomputed for each (0.3-0.9 % for as much time again), ancestors among the centres of the
search (0.5 % in scope `all`, nothing in `sensitive`), parts of sets as centres of new ones (worse).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tasks.core.arrays import sums_by
from tasks.core.clustering.blocks import Between, in_blocks, refine_boundaries
from tasks.core.clustering.mdav import SetSpace, mdav
from tasks.core.clustering.moves import STEPS, NewClusters, improved, scatter_clusters
from tasks.core.clustering.partition import CostTable, Partition
from tasks.core.clustering.problem import Problem, UserSizes, nearest_sets, renumbered
from tasks.core.clustering.reverse_greedy import reverse_greedy_labels
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import Ints, Longs
from tasks.core.similarity.costs import Costs
from tasks.core.starmap import Starmap, serial

LEAST_NEAR: Final = 64
NEAR_PER_USER: Final = 4
"""A new cluster of k people takes from the 64 or 4k sets nearest to its centre."""
SHAKEN: Final = 16
"""A shake scatters one cluster in so many."""
SHAKE_WORK: Final = 9_000_000
CLUSTERS_AT_LEAST: Final = 450
"""A shake's time goes with sets times clusters, few clusters being no faster than some; together
they stay within SHAKE_WORK."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long a block is searched.

    Attributes:
        first_rounds: rounds of steps before MDAV's clusters are looked at.
        most_rounds: rounds after that.
        shakes: shakes at the most.
        rounds_after_shake: rounds after each of them.
    """

    first_rounds: int = 4
    most_rounds: int = 12
    shakes: int = 24
    rounds_after_shake: int = 5


EFFORT: Final = Effort()
Start = Callable[[Problem, Costs, Longs], Ints]
"""The labels a search begins with, as `reverse_greedy_labels`."""


def adaptive_labels(
    problem: Problem,
    starmap: Starmap = serial,
    sources: Sequence[Between] | None = None,
    *,
    sets_per_block: int = PART_SIZES.sets_per_block,
) -> Ints:
    """Cluster of each set; every cluster holds at least k users and l sets."""
    labels = in_blocks(problem, cluster_block, starmap, sources, sets_per_block=sets_per_block)
    if problem.solvable and len(problem) > sets_per_block:
        labels = refine_boundaries(problem, labels, starmap, sets_per_block=sets_per_block)
    return renumbered(labels)


def cluster_block(
    problem: Problem,
    between: Between,
    *,
    start: Start = reverse_greedy_labels,
    effort: Effort = EFFORT,
) -> Ints:
    """Cluster of each set of a solvable block. Pure; blocks know nothing of each other."""
    search = _BlockSearch(problem, between(problem), effort)
    labels = start(problem, search.between, search.near)
    found = search.improved(Partition(problem, search.table, labels), effort.first_rounds)
    fixed = mdav(SetSpace(problem, search.between), UserSizes(problem), len(problem))
    # With the better parts of MDAV's clusters the result is never worse than those.
    found = better_parts(found, Partition(problem, search.table, fixed))
    found = search.shaken(search.improved(found, effort.most_rounds))
    search.new_clusters.open_for_free(found)
    return found.labels.astype(np.int32)


class _BlockSearch:
    """The steps of the search, with what they need to know of the block."""

    def __init__(self, problem: Problem, between: Costs, effort: Effort) -> None:
        self._effort = effort
        self.table = CostTable(problem)
        self.between = between
        count = min(len(problem), max(LEAST_NEAR, NEAR_PER_USER * problem.k))
        self.near = nearest_sets(self.between, count)
        self.new_clusters = NewClusters(problem, self.between, self.near)

    def improved(self, partition: Partition, most_rounds: int) -> Partition:
        """The partition after rounds of all steps."""
        return improved(partition, (*STEPS, self.new_clusters.open_clusters), most_rounds)

    def shaken(self, partition: Partition) -> Partition:
        """Scatter some clusters, improve again, keep what has become better; and again."""
        clusters = len(partition.sizes)
        affordable = SHAKE_WORK // (len(partition.labels) * max(clusters, CLUSTERS_AT_LEAST))
        rounds = self._effort.rounds_after_shake
        for turn in range(min(self._effort.shakes, affordable, clusters - 1)):
            other = partition.copy()
            scatter_clusters(other, range(turn % SHAKEN, len(other.sizes), SHAKEN))
            partition = better_parts(partition, self.improved(other, rounds))
        return partition


def better_parts(old: Partition, new: Partition) -> Partition:
    """The better parts of two partitions of the same sets, the old one in doubt.

    Clusters of both that share sets hang together; each such component is a union of whole
    clusters of either partition, so the cheaper version of each can be taken independently of the
    others. The idea is the partition crossover of R. Tinós, D. Whitley, G. Ochoa: Generalized
    asymmetric partition crossover for the asymmetric TSP, GECCO 2014.
    """
    component = _components(old, new)
    more = sums_by(component, new.own_costs.astype(np.float64) - old.own_costs, len(component))
    better = more < 0
    if not better.any():
        return old
    return old.with_parts_of(new, better[component])


def _components(old: Partition, new: Partition) -> Longs:
    """Component of each set."""
    count = len(old.sizes) + len(new.sizes)
    edges = (np.ones(len(old.labels)), (old.labels, new.labels + len(old.sizes)))
    _, of_cluster = connected_components(
        sparse.coo_matrix(edges, shape=(count, count)), directed=False
    )
    return np.asarray(of_cluster[old.labels], dtype=np.int64)
