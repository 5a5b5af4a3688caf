"""Where blocks were cut apart: clusters of different blocks exchange sets.

Whole clusters are put into other blocks, which cut across the first: those hold together what is
close by its first attribute, these by its last. Sets are held against centres here, never against
each other, so that what pairs of sets cost is asked for in the first blocks alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tasks.core.clustering import blocks
from tasks.core.clustering.blocks import joined
from tasks.core.clustering.cost_table import CostTable
from tasks.core.clustering.partition import Partition
from tasks.core.clustering.problem import Problem, renumbered
from tasks.core.clustering.rounds import STEPS, improved
from tasks.core.clustering.taxonomic_order import taxonomic_order
from tasks.core.records import Ints, Longs
from tasks.core.runs import Run

MOST_ROUNDS: Final = 3


def improved_across(problem: Problem, labels: Ints, run: Run) -> Ints:
    """Labels that cost no more, of sets that are all in clusters."""
    crossing = _blocks_of_clusters(problem, labels)
    parts = ((problem.part(block), renumbered(labels[block])) for block in crossing)
    return joined(problem, crossing, run(_improved, parts))


def _improved(block: Problem, labels: Ints) -> Ints:
    """Improve the clusters of a block, unless one of them makes it larger than can be searched."""
    if len(block) > 2 * blocks.LARGEST_BLOCK:
        return labels
    partition = Partition(block, CostTable(block), labels)
    return improved(partition, STEPS, MOST_ROUNDS).labels.astype(np.int32)


def _blocks_of_clusters(problem: Problem, labels: Ints) -> list[Longs]:
    """The sets of each block, ascending; a cluster stands where its most frequent set does."""
    ranks = np.argsort(taxonomic_order(problem, last_first=True)[0])
    by_label = np.lexsort((-problem.counts, labels))
    frequent = by_label[np.flatnonzero(np.diff(labels[by_label], prepend=-1))]
    order = np.argsort(ranks[frequent])
    sizes = np.bincount(labels)[order]
    count = -(-len(problem) // blocks.LARGEST_BLOCK)
    block_of = np.empty(len(order), dtype=np.int64)
    block_of[order] = (np.cumsum(sizes) - sizes) * count // len(problem)
    return [np.flatnonzero(block_of[labels] == block) for block in np.unique(block_of)]
