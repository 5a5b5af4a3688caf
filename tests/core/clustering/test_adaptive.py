"""The default method: always valid, never worse than MDAV, clearly better on a real taxonomy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.adapters.wordnet import WordNet
from tasks.core.clustering.adaptive import Effort, adaptive_labels, better_parts, cluster_block
from tasks.core.clustering.blocks import cut_into_blocks
from tasks.core.clustering.mdav import mdav_labels, vmdav_labels
from tasks.core.clustering.moves import (
    NewClusters,
    dissolve_clusters,
    exchange_sets,
    move_sets,
    scatter_clusters,
)
from tasks.core.clustering.partition import CostTable, Partition
from tasks.core.clustering.problem import Problem, between_sets, nearest_sets
from tasks.core.clustering.reverse_greedy import reverse_greedy_labels
from tasks.core.records import Ints
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.clusterings import assert_valid, renamed_users
from tests.helpers.random_logs import noun_rows, table_of
from tests.helpers.strategies import (
    Row,
    example_problem,
    logs,
    mini_taxonomy,
    problem_from,
    problems,
)

METHODS: list[Callable[..., Ints]] = [adaptive_labels, mdav_labels, vmdav_labels]
SMALL = 1e-4


def paid(problem: Problem, labels: Ints) -> float:
    """What clusters cost with the best centres the search finds."""
    return Partition(problem, CostTable(problem), labels).total


@settings(max_examples=200, deadline=None)
@given(problems())
def test_every_cluster_holds_k_people_and_l_sets(problem: Problem) -> None:
    assert_valid(problem, adaptive_labels(problem))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_never_worse_than_mdav(problem: Problem) -> None:
    if problem.solvable:
        fixed = paid(problem, mdav_labels(problem))
        assert paid(problem, adaptive_labels(problem)) <= fixed * (1 + SMALL) + SMALL


@settings(max_examples=60, deadline=None)
@given(problems(), st.randoms(use_true_random=False), st.sampled_from(METHODS))
def test_names_of_users_do_not_matter(
    problem: Problem, random: object, method: Callable[..., Ints]
) -> None:
    names = list(range(int(problem.users.max()) + 1))
    random.shuffle(names)  # type: ignore[attr-defined]
    assert np.array_equal(method(problem), method(renamed_users(problem, names)))


@settings(max_examples=60, deadline=None)
@given(problems(most=60), st.integers(2, 12), st.sampled_from(METHODS))
def test_many_small_blocks(problem: Problem, largest: int, method: Callable[..., Ints]) -> None:
    """Blocks short of people are joined, and those that grow too large are thinned out."""
    assert_valid(problem, method(problem, sets_per_block=largest))


@settings(max_examples=30, deadline=None)
@given(problems())
def test_blocks_can_be_clustered_elsewhere(problem: Problem) -> None:
    """A later run may send blocks to other processes."""
    if problem.solvable:
        copy = pickle.loads(pickle.dumps(problem))
        assert np.array_equal(
            cluster_block(problem, between_sets), cluster_block(copy, between_sets)
        )


@settings(max_examples=100, deadline=None)
@given(problems(), st.integers(0, 5))
def test_steps_keep_clusters_valid_and_never_cost_more(problem: Problem, which: int) -> None:
    if not problem.solvable:
        return
    table = CostTable(problem)
    between = between_sets(problem)
    near = nearest_sets(between, len(problem))
    new_clusters = NewClusters(problem, between, near)
    start = mdav_labels(problem) if which % 2 else reverse_greedy_labels(problem, between, near)
    partition = Partition(problem, table, start)
    for step in (
        move_sets,
        dissolve_clusters,
        exchange_sets,
        new_clusters.open_clusters,
        new_clusters.open_for_free,
    ):
        before = partition.total
        step(partition)
        assert_valid(problem, partition.labels.astype(np.int32))
        assert partition.total <= before + SMALL
        assert_consistent(partition)


def assert_consistent(partition: Partition) -> None:
    """What a partition keeps up to date is what it would be if counted anew."""
    problem = partition.problem
    assert partition.sizes == np.bincount(partition.labels).tolist()
    costs = CostTable(problem).of_centres(partition.centres)
    assert partition.costs == pytest.approx(costs, abs=1e-4)
    spared = [partition.can_spare(index) for index in range(len(problem))]
    assert partition.spared().tolist() == spared
    for index, can_leave in enumerate(spared):
        rest = np.flatnonzero(partition.labels == partition.labels[index])
        assert can_leave == problem.is_enough(rest[rest != index])


@settings(max_examples=60, deadline=None)
@given(problems())
def test_better_parts_are_no_worse_than_either(problem: Problem) -> None:
    if problem.solvable:
        table = CostTable(problem)
        ours, fixed = (
            Partition(problem, table, method(problem)) for method in (vmdav_labels, mdav_labels)
        )
        both = better_parts(ours, fixed)
        assert both.total <= min(ours.total, fixed.total) + SMALL
        assert_valid(problem, both.labels.astype(np.int32))
        assert_consistent(both)


def test_mdav_is_among_what_is_chosen_from() -> None:
    """However badly the search starts, and if it improves nothing, MDAV's clusters are left."""
    problem = example_problem(k=2)
    everyone = np.zeros(len(problem), dtype=np.int32)
    found = cluster_block(
        problem,
        between_sets,
        start=lambda *_: everyone,
        effort=Effort(first_rounds=0, most_rounds=0, shakes=0),
    )
    assert paid(problem, found) <= paid(problem, mdav_labels(problem))
    assert paid(problem, mdav_labels(problem)) < paid(problem, everyone)


def test_a_cluster_that_has_taken_in_others_stays() -> None:
    """A goes to B and C; B, which would go to C itself, is then all that one of A's sets has."""
    problem = example_problem(k=2)
    partition = Partition(problem, CostTable(problem), np.array([0, 0, 1, 1, 2, 2]))
    partition.costs[:] = [
        [1.0, 1.0, 5.0, 5.0, 9.0, 9.0],
        [0.1, 5.0, 1.0, 1.0, 9.0, 9.0],
        [5.0, 0.1, 0.5, 0.5, 0.0, 0.0],
    ]
    dissolve_clusters(partition)
    assert_valid(problem, partition.labels.astype(np.int32))
    assert partition.labels[0] == partition.labels[2] == partition.labels[3]


@pytest.mark.parametrize("method", METHODS)
def test_few_people_with_very_many_sets(method: Callable[..., Ints]) -> None:
    """What one user's sets need to be a block is more than a block holds: a part is compared."""
    for seed in range(20):
        problem = busy_user_problem(np.random.default_rng(seed))
        assert max(map(len, cut_into_blocks(problem, sets_per_block=12))) > 12
        assert_valid(problem, method(problem, sets_per_block=12))


def busy_user_problem(generator: np.random.Generator) -> Problem:
    """Twelve sets of one user with concept 1, which stand first, and one set each of twelve."""
    taxonomy = mini_taxonomy()
    others = [c for size in (1, 2, 3) for c in combinations((3, 4, 5, 8), size)]
    rows: list[Row] = [(0, [1, *row], [], 0) for row in others[:12]]
    for user, place in enumerate(generator.permutation(len(others))[:12].tolist()):
        rows.append((user + 1, list(others[place]), [], 0))
    return problem_from(taxonomy, table_of(taxonomy, rows), k=4)


def test_scattered_clusters_are_gone() -> None:
    problem = example_problem(k=1)
    partition = Partition(problem, CostTable(problem), np.arange(6, dtype=np.int32))
    scatter_clusters(partition, [0, 3])
    assert len(partition.sizes) == 4
    assert_consistent(partition)


@settings(max_examples=60, deadline=None)
@given(logs(most=15))
def test_costs_are_those_of_the_formula(case: tuple[Taxonomy, object]) -> None:
    taxonomy, table = case
    problem = problem_from(taxonomy, table, k=2)  # type: ignore[arg-type]
    costs = problem.costs
    between = between_sets(problem)
    centres = [costs.row(index) for index in range(len(problem))]
    paid_for = CostTable(problem).of_centres([*centres, np.zeros(0, dtype=np.int32)])
    for place, row in enumerate(centres):
        for other, published in enumerate(centres):
            squares = costs.squares[np.ix_(row, published)]
            cost = float(squares.min(axis=1).sum() + squares.min(axis=0).sum())
            assert paid_for[other, place] == pytest.approx(cost * problem.counts[place], abs=1e-5)
            assert between[place, other] == pytest.approx(cost, abs=1e-5)
        assert paid_for[-1, place] == len(row) * problem.counts[place]


def test_sets_of_enough_people_stand_alone() -> None:
    """Three sets held by four people each lose nothing."""
    rows: list[Row] = [(user, [c], [], 0) for c in (5, 8, 2) for user in range(4)]
    taxonomy = mini_taxonomy()
    problem = problem_from(taxonomy, table_of(taxonomy, rows), k=4)
    assert adaptive_labels(problem).tolist() == [0, 1, 2]


def test_siblings_share_no_more_clusters_than_they_must() -> None:
    """Thirty siblings are at no distance; five people at a time keep most of them apart."""
    parents: list[list[int]] = [[], [0], *([1] for _ in range(30))]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="siblings")
    rows: list[Row] = [(user, [2 + user], [], 0) for user in range(30)]
    problem = problem_from(taxonomy, table_of(taxonomy, rows), k=5)
    labels = adaptive_labels(problem)
    assert np.bincount(labels).tolist() == [5] * 6
    assert paid(problem, labels) == 0.0


@pytest.mark.parametrize("seed", [1, 2])
def test_clearly_better_than_mdav_on_sets_of_nouns(wordnet: WordNet, seed: int) -> None:
    """Random nouns are harder to cluster than queries, yet a quarter of the loss goes."""
    problem = noun_problem(wordnet.taxonomy, np.random.default_rng(seed))
    labels = adaptive_labels(problem)
    assert_valid(problem, labels)
    assert paid(problem, labels) <= 0.75 * paid(problem, mdav_labels(problem))


def noun_problem(taxonomy: Taxonomy, generator: np.random.Generator) -> Problem:
    """800 records of 100 users, one to four of 600 nouns each, a few of them frequent."""
    rows = noun_rows(taxonomy, generator, records=800, users=100, most_nouns=4)
    return problem_from(taxonomy, table_of(taxonomy, rows), k=5)
