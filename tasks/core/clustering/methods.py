"""The clusterings of distinct sets, by the names that `--method` gives them.

The one registry: a release and a comparison of methods both read it. Two are not among them:
Algorithm 3 of the paper clusters records by their least distant pairs and not sets by their costs;
*adaptive*, the default, chooses rows and not clusters of sets (`tasks/core/rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from tasks.core.clustering.blocks import Between
from tasks.core.clustering.mdav import mdav_labels, vmdav_labels
from tasks.core.clustering.problem import Problem
from tasks.core.records import Ints
from tasks.core.starmap import Starmap


class ClusteringMethod(Protocol):
    """Label of each set of a problem; its blocks are done by the starmap, their costs come from
    the sources."""

    def __call__(
        self,
        problem: Problem,
        starmap: Starmap = ...,
        sources: Sequence[Between] | None = ...,
        *,
        sets_per_block: int = ...,
    ) -> Ints: ...


CLUSTERINGS: Final[Mapping[str, ClusteringMethod]] = {
    "mdav": mdav_labels,
    "vmdav": vmdav_labels,
}
