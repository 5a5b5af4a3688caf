"""The clusterings of distinct sets, by the names that `--method` gives them.

The one registry: a release and a comparison of methods both read it. Algorithm 3 of the paper is
not among them, for it clusters records by their least distant pairs and not sets by their costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tasks.core.clustering.adaptive import adaptive_labels
from tasks.core.clustering.blocks import Between
from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import Problem
from tasks.core.clustering.vmdav import vmdav_labels
from tasks.core.records import Ints
from tasks.core.runs import Run

Clustering = Callable[[Problem, Run, Sequence[Between] | None], Ints]
"""Label of each set of a problem; its blocks run as told, their costs come from the sources."""
CLUSTERINGS: Final[Mapping[str, Clustering]] = {
    "adaptive": adaptive_labels,
    "mdav": mdav_labels,
    "vmdav": vmdav_labels,
}
