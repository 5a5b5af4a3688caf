"""The default method: clusters whose sizes adapt to the log (docs/decisions.md#adaptive).

Sets choose among clusters as customers among facilities, and a facility needs k people to be open
(lower-bounded facility location; Z. Svitkina, ACM TALG 6, 2010). Per block of sets:

1. `reverse_greedy`: every set opens a cluster, and those short of people close again.
2. Rounds of `improvements` (move sets, dissolve clusters), `exchanges` and `openings`, all with
   the set that a cluster would publish for its centre; no step makes the partition worse.
3. `crossover` with MDAV's clusters keeps whatever those do better.
4. More rounds, then shakes: scatter one cluster in sixteen, improve, keep the components that
   came out cheaper; and again.
5. Clusters are split wherever that costs nothing.

At last clusters of different blocks exchange sets (`seams`).

Symmetric loss at k = 5 in shares of fixed MDAV's, on a generated log in scope `sensitive`, in scope
`all`, and on random sets of nouns (10,000 records each, the last of 5,800 distinct sets): MDAV with
moves and dissolving, the prototype, 0.63, 0.74, 0.76; with exchanges and openings 0.50, 0.63, 0.67;
from the reverse greedy start 0.48, 0.62, 0.66; with shakes 0.47, 0.61, 0.66. Much longer searches
save 1-2 %.

Blocks, on a log of 24,000 queries (7,853 sets) in scope `all`: one block loses 13.43 %, three
blocks 13.47 %; on 100,000 queries (25,089 sets) nine blocks lose 7.64 %. Without the exchanges at
their seams, an eighth of the time, it was 13.59 % and 7.78 % (with three rounds after a shake).

A quarter fewer shakes than those figures were measured with cost, in shares of the loss, 0.1 % on
100,000 queries (7.65 %) and 0.2 % on 10,000 in scope `all`, nothing in `sensitive`; on a log that
the number was not chosen by 0.1 % and nothing.

Tried and left out: merging pairs of clusters (saves nothing), judging moves and exchanges with
centres recomputed for each (0.3-0.9 % for as much time again), ancestors among the centres of the
search (0.5 % in scope `all`, nothing in `sensitive`), parts of sets as centres of openings (worse).
"""

from __future__ import annotations

from collections.abc import Sequence

from tasks.core.clustering import blocks
from tasks.core.clustering.block_search import cluster_block
from tasks.core.clustering.blocks import Between, in_blocks
from tasks.core.clustering.boundaries import improved_across
from tasks.core.clustering.problem import Problem, renumbered
from tasks.core.records import Ints
from tasks.core.runs import Run, here


def adaptive_labels(
    problem: Problem, run: Run = here, sources: Sequence[Between] | None = None
) -> Ints:
    """Cluster of each set; every cluster holds at least k users and l sets."""
    labels = in_blocks(problem, cluster_block, run, sources)
    if problem.solvable and len(problem) > blocks.LARGEST_BLOCK:
        labels = improved_across(problem, labels, run)
    return renumbered(labels)
