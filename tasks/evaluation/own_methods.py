"""The methods of `flows.run --method`, and the paper's redaction as printed."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from tasks.core.arrays import group_by
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of
from tasks.core.records import Clusters
from tasks.core.redaction.by_record import replacements
from tasks.evaluation.method import (
    Material,
    Method,
    Outcome,
    chosen_rows,
    published_alike,
    published_by_clusters,
    published_by_rows,
)

PAPER: Final = (
    "Imran-Daud, Shaheen, Ahmed: Multivariate Microaggregation of Set-Valued Data, Algorithm 3"
)


def outcome_by(name: str, material: Material, k: int) -> Outcome:
    """What `--method` publishes by this name; made once, for later methods start from it."""
    key = (name, k)
    if key not in material.known:
        material.known[key] = _outcome(name, material, k)
    return material.known[key]


def _outcome(name: str, material: Material, k: int) -> Outcome:
    if name == "adaptive":
        return published_by_rows(material, chosen_rows(material, material.levels, k))
    if name == "paper":
        return published_by_clusters(material, _paper(material, k), k)
    problem = material.problem(k)
    labels = CLUSTERINGS[name](problem, material.starmap, None)
    return published_by_clusters(material, clusters_of(material.table, labels, problem), k)


def _paper(material: Material, k: int) -> Clusters:
    return cluster_as_printed(
        material.table, material.set_pairs, k=k, l=1, distance=material.distance
    )


def _printed(material: Material, k: int) -> Outcome:
    """Lines 14–18: every record of a cluster publishes its own replacements."""
    table, clusters = material.table, _paper(material, k)
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
    partial(outcome_by, "adaptive"),
    "this program's default: tasks/core/rows",
    "as `--guarantee strict`, without times; a group is all records told the same of attributes",
)
MDAV: Final = Method(
    "mdav",
    "ours",
    True,
    partial(outcome_by, "mdav"),
    "J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through "
    "microaggregation, DMKD 11 (2005)",
    "distance: the graded cost; k counts people; centre: the medoid; rows chosen within clusters",
)
VMDAV: Final = Method(
    "vmdav",
    "ours",
    True,
    partial(outcome_by, "vmdav"),
    "A. Solanas, A. Martínez-Ballesté: V-MDAV: a multivariate microaggregation with variable "
    "group size, COMPSTAT 2006",
    "as mdav; γ = 0.2, the authors' value for scattered data",
)
STRICT_PAPER: Final = Method(
    "paper",
    "paper",
    True,
    partial(outcome_by, "paper"),
    PAPER,
    "rows are chosen within its clusters, so that it holds k; those of fewer tell words alone",
)
PRINTED_PAPER: Final = Method(
    "paper-printed",
    "paper",
    False,
    _printed,
    f"{PAPER}, redaction by its lines 14–18",
    "the branch centre of an attribute is its parent; the paper itself says this is no k-anonymity",
)
