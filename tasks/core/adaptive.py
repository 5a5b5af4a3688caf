"""The default method: clusters whose sizes adapt to the log (SPEC §3.2)."""

from __future__ import annotations

import numpy as np

from tasks.core.block_search import cluster_block, recluster_block
from tasks.core.blocks import LARGEST_BLOCK, in_blocks, taxonomic_order
from tasks.core.problem import Problem, medoids, renumbered
from tasks.core.records import Ints, Longs


def adaptive_labels(problem: Problem) -> Ints:
    """Cluster of each set; every cluster holds at least k users and l sets."""
    labels = in_blocks(problem, cluster_block)
    return renumbered(_reclustered(problem, labels)) if problem.solvable else labels


def _reclustered(problem: Problem, labels: Ints) -> Ints:
    """Improve the clusters in blocks of whole clusters, which cut across the first blocks."""
    improved = labels.copy()
    next_label = 0
    for block in _blocks_of_clusters(problem, labels):
        local = renumbered(labels[block])
        if len(block) <= 2 * LARGEST_BLOCK:
            local = recluster_block(problem.part(block), local)
        improved[block] = local + next_label
        next_label += int(local.max()) + 1
    return improved


def _blocks_of_clusters(problem: Problem, labels: Ints) -> list[Longs]:
    """The sets of each block, ascending; clusters in the order of their medoids.

    The first blocks hold what is close by its first attribute; these, by its last.
    """
    ranks = np.empty(len(problem), dtype=np.int64)
    ranks[taxonomic_order(problem, last_first=True)] = np.arange(len(problem))
    order = np.argsort(ranks[medoids(problem, labels)])
    sizes = np.bincount(labels)[order]
    count = -(-len(problem) // LARGEST_BLOCK)
    block_of = np.empty(len(order), dtype=np.int64)
    block_of[order] = (np.cumsum(sizes) - sizes) * count // len(problem)
    return [np.flatnonzero(block_of[labels] == block) for block in np.unique(block_of)]
