"""The methods of `flows.run --method`, and the paper's redaction as printed."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from tasks.core.arrays import group_by
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of, clusters_of_labels
from tasks.core.records import TIME_NONE, Clusters
from tasks.core.redaction.by_record import replacements
from tasks.core.rows.classes import classes_of
from tasks.core.rows.levels import VAGUEST, item_levels
from tasks.core.rows.problem import row_problem
from tasks.core.similarity.costs import SetCosts
from tasks.evaluation.method import (
    Material,
    Method,
    Outcome,
    published_alike,
    published_by_clusters,
)

PAPER: Final = (
    "Imran-Daud, Shaheen, Ahmed: Multivariate Microaggregation of Set-Valued Data, Algorithm 3"
)


def clusters_by(name: str, material: Material, k: int) -> Clusters:
    """The clusters that `--method` forms by this name; made once, for later methods use them."""
    key = (name, k)
    if key not in material.known:
        material.known[key] = _paper(material, k) if name == "paper" else _other(name, material, k)
    return material.known[key]


def _other(name: str, material: Material, k: int) -> Clusters:
    if name == "adaptive":
        return _adaptive(material, k)
    problem = material.problem(k)
    return clusters_of(material.table, CLUSTERINGS[name](problem, material.starmap, None), problem)


def _adaptive(material: Material, k: int) -> Clusters:
    """Who stands behind the same row; of its rows only the concepts are compared."""
    table = material.table
    levels = item_levels(table, material.taxonomy, vaguest=VAGUEST, fillers=True)
    problem, unit_of = row_problem(table, levels, k=k, l=1, precision=TIME_NONE)
    classes = classes_of(problem, material.starmap)[unit_of]
    return clusters_of_labels(table, classes, SetCosts.of(table.sets, material.distances))


def _paper(material: Material, k: int) -> Clusters:
    return cluster_as_printed(
        material.table, material.set_pairs, k=k, l=1, distance=material.distance
    )


def _alike(name: str, material: Material, k: int) -> Outcome:
    """All records of a cluster publish one set."""
    return published_by_clusters(material, clusters_by(name, material, k))


def _printed(material: Material, k: int) -> Outcome:
    """Lines 14–18: every record of a cluster publishes its own replacements."""
    table, clusters = material.table, clusters_by("paper", material, k)
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
    partial(_alike, "adaptive"),
    "this program's default: tasks/core/rows",
    "published as `--guarantee strict` does: one set for all records of a cluster",
)
MDAV: Final = Method(
    "mdav",
    "ours",
    True,
    partial(_alike, "mdav"),
    "J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through "
    "microaggregation, DMKD 11 (2005)",
    "distance: the graded cost; k counts people; centre: the medoid; published as adaptive's",
)
VMDAV: Final = Method(
    "vmdav",
    "ours",
    True,
    partial(_alike, "vmdav"),
    "A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable "
    "group size, COMPSTAT 2006",
    "as mdav; γ = 0.2, the authors' value for scattered data",
)
STRICT_PAPER: Final = Method(
    "paper",
    "paper",
    True,
    partial(_alike, "paper"),
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
