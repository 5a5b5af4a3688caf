"""The better parts of two partitions of the same sets.

Clusters of both that share sets hang together; each such component is a union of whole clusters
of either partition, so the cheaper version of each can be taken independently of the others. The
idea is the partition crossover of R. Tinós, D. Whitley, G. Ochoa: Generalized asymmetric partition
crossover for the asymmetric TSP, GECCO 2014.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tasks.core.clustering.partition import Partition
from tasks.core.generalisation.sums import sums_by
from tasks.core.records import Longs


def better_parts(old: Partition, new: Partition) -> Partition:
    """Of each component the cheaper version, the old one in doubt."""
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
