"""Costs of pairs of sets do not depend, to the last bit, on what else is in the log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.adapters.wordnet import WordNet
from tasks.core.arrays import ragged_of, take_ragged
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.records import AttributeSets, RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.similarity.costs import Costs, SetCosts, costs_between
from tasks.core.taxonomy import Taxonomy
from tests.helpers.strategies import logs, problems


def some_of(most: int) -> st.SearchStrategy[list[int]]:
    """Some of 0, 1, …, ascending."""
    return st.sets(st.integers(0, most - 1), min_size=1).map(sorted)


@settings(max_examples=300, deadline=None)
@given(logs(), st.data())
def test_a_pair_costs_the_same_in_a_larger_log(
    case: tuple[Taxonomy, RecordTable], data: st.DataObject
) -> None:
    taxonomy, table = case
    chosen = data.draw(some_of(len(table.sets)))
    assert_same_costs(taxonomy, table.sets, chosen)


@pytest.mark.parametrize("seed", range(5))
def test_also_where_classes_are_numbered_anew(wordnet: WordNet, seed: int) -> None:
    """Classes go by their first concepts: siblings that join the log change their order."""
    taxonomy = wordnet.taxonomy
    siblings = last_and_first_children(taxonomy, np.random.default_rng(seed))
    rows = sorted(sorted(row) for pair in siblings for row in pair)
    chosen = [rows.index(sorted(last)) for last, _ in siblings]
    assert_same_costs(taxonomy, AttributeSets(*ragged_of(rows)), sorted(chosen))


def last_and_first_children(
    taxonomy: Taxonomy, generator: np.random.Generator
) -> list[tuple[list[int], list[int]]]:
    """Four times the last children of eight concepts and their first ones."""
    parents, first = np.unique(taxonomy.main_parents, return_index=True)
    last = len(taxonomy) - 1 - np.unique(taxonomy.main_parents[::-1], return_index=True)[1]
    drawn = generator.choice(np.flatnonzero((first < last) & (parents >= 0)), (4, 8), replace=False)
    return [(last[row].tolist(), first[row].tolist()) for row in drawn]


def assert_same_costs(taxonomy: Taxonomy, sets: AttributeSets, chosen: list[int]) -> None:
    """Costs among the chosen sets alone are those among all of them."""
    offsets, places = take_ragged(sets.offsets, np.array(chosen))
    alone = all_costs(taxonomy, AttributeSets(offsets, sets.concepts[places]))
    assert np.array_equal(alone, all_costs(taxonomy, sets)[np.ix_(chosen, chosen)])


def all_costs(taxonomy: Taxonomy, sets: AttributeSets) -> Costs:
    costs = SetCosts.of(sets, measure_concepts(taxonomy, np.unique(sets.concepts)))
    return costs_between(costs, np.arange(len(sets)), np.arange(len(sets)))


@settings(max_examples=150, deadline=None)
@given(problems(), st.data())
def test_rectangles_are_parts_of_the_square(problem: Problem, data: st.DataObject) -> None:
    rows, columns = (data.draw(some_of(len(problem))) for _ in range(2))
    found = costs_between(problem.costs, np.array(rows), np.array(columns))
    assert np.array_equal(found, between_sets(problem)[np.ix_(rows, columns)])


@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_a_block_has_the_costs_of_the_whole(problem: Problem, data: st.DataObject) -> None:
    block = np.array(data.draw(some_of(len(problem))))
    square = between_sets(problem)
    assert np.array_equal(between_sets(problem.part(block)), square[np.ix_(block, block)])
    assert np.array_equal(square, square.T)
