"""The middle of a cluster of a release."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.append.centroids import with_centroids
from tasks.core.clustering.between import costs_between
from tasks.core.records import Clusters, RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import SetCosts
from tasks.core.taxonomy import Taxonomy
from tests.random_logs import tables


@given(tables(), st.integers(0, 2**32 - 1))
def test_the_centroid_costs_least_in_place_of_all_members(
    made: tuple[Taxonomy, RecordTable], seed: int
) -> None:
    (taxonomy, table), dice = made, np.random.default_rng(seed)
    held = np.flatnonzero(table.set_of >= 0)
    labels = np.full(len(table), -1, dtype=np.int32)
    _, labels[held] = np.unique(dice.integers(0, 3, len(held)), return_inverse=True)
    count = int(labels.max(initial=-1)) + 1
    nobody = np.zeros(len(table), dtype=np.bool_)
    clusters = Clusters(labels, nobody, np.full(count, -1, dtype=np.int32))
    costs = SetCosts.of(table.sets, measure_concepts(taxonomy, np.unique(table.sets.concepts)))
    found = with_centroids(table, clusters, costs)
    assert np.array_equal(labels[found.centroids], np.arange(count))
    for label, centroid in enumerate(found.centroids.tolist()):
        own = table.set_of[labels == label].astype(np.int64)
        totals = costs_between(costs, own, own).sum(axis=1)
        least = totals[np.flatnonzero(labels == label) == centroid]
        assert np.isclose(least, totals.min(), atol=1e-4).all()
