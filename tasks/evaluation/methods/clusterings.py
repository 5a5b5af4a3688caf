"""The four methods of `flows.run --method`, and the paper's redaction as printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tasks.core.arrays import group_by
from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.blocks import Between
from tasks.core.clustering.mdav import mdav_labels, vmdav_labels
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import Problem, clusters_of
from tasks.core.records import Clusters, Ints
from tasks.core.redaction.paper import replacements
from tasks.core.starmap import Starmap
from tasks.evaluation.methods.interface import (
    Material,
    Method,
    Outcome,
    published_alike,
    published_by_clusters,
)

Labels = Callable[[Problem, Starmap, Sequence[Between] | None], Ints]
PAPER: Final = (
    "Imran-Daud, Shaheen, Ahmed: Multivariate Microaggregation of Set-Valued Data, Algorithm 3"
)


def clusters_by(labels: Labels, material: Material, k: int) -> Clusters:
    """The clusters of a method that works on distinct sets."""
    problem = material.problem(k)
    return clusters_of(material.table, labels(problem, material.run, None), problem)


def adaptive_clusters(material: Material, k: int) -> Clusters:
    """The clusters of `adaptive`, made once."""
    key = ("adaptive", k)
    if key not in material.known:
        material.known[key] = clusters_by(adaptive_labels, material, k)
    return material.known[key]


def _adaptive(material: Material, k: int) -> Outcome:
    return published_by_clusters(material, adaptive_clusters(material, k))


def _mdav(material: Material, k: int) -> Outcome:
    return published_by_clusters(material, clusters_by(mdav_labels, material, k))


def _vmdav(material: Material, k: int) -> Outcome:
    return published_by_clusters(material, clusters_by(vmdav_labels, material, k))


def _paper_clusters(material: Material, k: int) -> Clusters:
    key = ("paper", k)
    if key not in material.known:
        material.known[key] = cluster_as_printed(
            material.table, material.set_pairs, k=k, l=1, distance=material.distance
        )
    return material.known[key]


def _paper(material: Material, k: int) -> Outcome:
    return published_by_clusters(material, _paper_clusters(material, k))


def _printed(material: Material, k: int) -> Outcome:
    """Lines 14–18: every record of a cluster publishes its own replacements."""
    table, clusters = material.table, _paper_clusters(material, k)
    members = np.flatnonzero(clusters.labels >= 0)
    first, unit_of_member = group_by(table.set_of[members], clusters.labels[members])
    sets, labels = table.set_of[members[first]], clusters.labels[members[first]]
    centroid_sets = table.set_of[clusters.centroids[labels]]
    rows = [
        replacements(
            table.sets.row(own),
            table.sets.row(centroid),
            material.distances,
            material.taxonomy,
            material.threshold,
        )
        for own, centroid in zip(sets.tolist(), centroid_sets.tolist(), strict=True)
    ]
    unit_of = np.full(len(table), -1, dtype=np.int64)
    unit_of[members] = unit_of_member
    return published_alike(unit_of, rows)


ADAPTIVE: Final = Method(
    "adaptive",
    "ours",
    True,
    _adaptive,
    "this program's default: tasks/core/clustering/adaptive.py",
    "published as `--guarantee strict` does: one set for all records of a cluster",
)
MDAV: Final = Method(
    "mdav",
    "ours",
    True,
    _mdav,
    "J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through "
    "microaggregation, DMKD 11 (2005)",
    "distance: the graded cost; k counts people; centre: the medoid; published as adaptive's",
)
VMDAV: Final = Method(
    "vmdav",
    "ours",
    True,
    _vmdav,
    "A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable "
    "group size, COMPSTAT 2006",
    "as mdav; γ = 0.2, the authors' value for scattered data",
)
STRICT_PAPER: Final = Method(
    "paper",
    "paper",
    True,
    _paper,
    PAPER,
    "clusters of fewer than k people are withheld; published as adaptive's, so that it holds k",
)
PRINTED_PAPER: Final = Method(
    "paper-printed",
    "paper",
    False,
    _printed,
    f"{PAPER}, redaction by its lines 14–18",
    "the branch centre of an attribute is its parent; the paper itself says this is no k-anonymity",
)
