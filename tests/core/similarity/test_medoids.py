"""Medoids: the set in the middle of a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import Problem, clusters_of_labels, medoids
from tasks.core.records import RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import SetCosts, costs_between
from tasks.core.similarity.medoids import group_medoids
from tasks.core.taxonomy import Taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.helpers.strategies import Row, mini_taxonomy, problem_from, problems


@settings(max_examples=60, deadline=None)
@given(problems())
def test_medoids_cost_their_clusters_least(problem: Problem) -> None:
    labels = mdav_labels(problem)
    for label, medoid in enumerate(medoids(problem, labels).tolist()):
        members = np.flatnonzero(labels == label)
        costs = [
            float(problem.costs.to(problem.costs.row(i))[members] @ problem.counts[members])
            for i in members.tolist()
        ]
        assert costs[members.tolist().index(medoid)] == pytest.approx(min(costs), abs=1e-4)


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 200), st.integers(1, 6), st.data())
def test_medoids_of_all_clusters_are_those_of_each(
    problem: Problem, pairs: int, tried: int, data: st.DataObject
) -> None:
    labels = np.array([data.draw(st.integers(-1, 3)) for _ in range(len(problem))], dtype=np.int32)
    members = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    groups = np.append(0, np.cumsum(np.unique(labels[members], return_counts=True)[1])), members
    counts = problem.counts[members]
    places = group_medoids(problem.costs, groups, counts, most_pairs=pairs, most_candidates=tried)
    expected = []
    for label in sorted(set(labels.tolist()) - {-1}):
        own = np.flatnonzero(labels == label).tolist()
        most = max(1, min(tried, pairs // len(own)))
        frequent = sorted(own, key=lambda index: (-int(problem.counts[index]), index))[:most]
        totals = {index: total_cost(problem, index, own) for index in sorted(frequent)}
        expected.append(min(totals, key=totals.__getitem__))
    assert members[places].tolist() == expected


def total_cost(problem: Problem, centre: int, members: list[int]) -> float:
    """What all records of the members pay if the centre is published for them, rounded."""
    total = 0.0
    for index in members:
        squares = problem.costs.squares[np.ix_(problem.costs.row(centre), problem.costs.row(index))]
        both_ways = [*squares.min(axis=0).tolist(), *squares.min(axis=1).tolist()]
        total += sum(both_ways) * int(problem.counts[index])
    return float(np.round(total, 6))


def test_of_equally_good_medoids_the_first_counts_not_the_frequent() -> None:
    """Concepts 5 and 6 have the same ancestors: neither costs the other anything."""
    taxonomy = mini_taxonomy()
    rows: list[Row] = [(user, [concept], [], 0) for user, concept in enumerate((5, 6, 6))]
    problem = problem_from(taxonomy, table_of(taxonomy, rows), k=2)
    assert medoids(problem, np.zeros(2, dtype=np.int32)).tolist() == [0]


@given(tables(), st.integers(0, 2**32 - 1))
def test_the_centroid_costs_least_in_place_of_all_members(
    made: tuple[Taxonomy, RecordTable], seed: int
) -> None:
    (taxonomy, table), dice = made, np.random.default_rng(seed)
    held = np.flatnonzero(table.set_of >= 0)
    labels = np.full(len(table), -1, dtype=np.int32)
    _, labels[held] = np.unique(dice.integers(0, 3, len(held)), return_inverse=True)
    costs = SetCosts.of(table.sets, measure_concepts(taxonomy, np.unique(table.sets.concepts)))
    found = clusters_of_labels(table, labels, costs)
    labels = found.labels
    assert np.array_equal(labels[found.centroids], np.arange(found.count))
    for label, centroid in enumerate(found.centroids.tolist()):
        own = table.set_of[labels == label].astype(np.int64)
        totals = costs_between(costs, own, own).sum(axis=1)
        least = totals[np.flatnonzero(labels == label) == centroid]
        assert np.isclose(least, totals.min(), atol=1e-4).all()
