"""Blocks: solvable, cut where the taxonomy parts, and nearly the same when the log grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import compress
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.adapters.wordnet import WordNet
from tasks.core.clustering.blocks import (
    Between,
    compared_sets,
    cut_into_blocks,
    taxonomic_order,
)
from tasks.core.clustering.mdav import mdav_labels, vmdav_labels
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.records import Ints, Longs
from tasks.core.similarity.costs import Costs
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import noun_rows, table_of
from tests.helpers.strategies import Row, problem_from, problems

Labels = Callable[..., Ints]


@settings(max_examples=200, deadline=None)
@given(problems(most=60), st.integers(2, 12))
def test_blocks_are_solvable_parts_of_the_whole(problem: Problem, largest: int) -> None:
    if not problem.solvable:
        return
    parts = cut_into_blocks(problem, sets_per_block=largest)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(problem)))
    for part in parts:
        assert problem.is_enough(part)
        assert len(part) <= largest or not can_be_halved(problem, part)


def can_be_halved(problem: Problem, block: Longs) -> bool:
    """Whether a block can be cut, anywhere in the order, into two that are solvable."""
    order = [index for index in taxonomic_order(problem)[0].tolist() if index in block]
    return any(
        problem.is_enough(np.array(order[:place])) and problem.is_enough(np.array(order[place:]))
        for place in range(1, len(order))
    )


def test_cuts_are_where_the_first_attributes_part_highest() -> None:
    """Five sets begin in branch 1 of `BRANCHES`, three in branch 2; then leaf 6 is parted off."""
    problem = one_user_each([[6], [6, 7], [6, 8], [7], [8], [10], [10, 12], [12]])
    assert cuts(problem, largest=5) == [[0, 1, 2, 3, 4], [5, 6, 7]]
    assert cuts(problem, largest=4) == [[0, 1, 2], [3, 4], [5, 6, 7]]


def test_then_where_the_second_attributes_do() -> None:
    problem = one_user_each([[6], [6, 7], [6, 8], [6, 10], [6, 12]])
    assert cuts(problem, largest=4) == [[0, 1, 2], [3, 4]]


def test_equal_partings_are_cut_in_the_middle() -> None:
    problem = one_user_each([[6], [7], [8]] + [[6, 7, 8]])
    assert cuts(problem, largest=3) == [[0, 1], [2, 3]]


BRANCHES: list[list[int]] = [[], [0], [0], [1], [1], [1], [3], [4], [5], [2], [9], [2], [11]]
"""Parents: branch 1 with leaves 6, 7, 8 and branch 2 with leaves 10, 12, none of them siblings."""


def one_user_each(sets: list[list[int]]) -> Problem:
    names = [f"c{concept}.n.01" for concept in range(len(BRANCHES))]
    taxonomy = build_taxonomy(names, names, BRANCHES, root="c0.n.01", version="")
    rows: list[Row] = [(user, row, [], 0) for user, row in enumerate(sets)]
    return problem_from(taxonomy, table_of(taxonomy, rows), k=1)


def cuts(problem: Problem, *, largest: int) -> list[list[int]]:
    return [part.tolist() for part in cut_into_blocks(problem, sets_per_block=largest)]


def test_few_pairs_are_new_when_a_log_grows(wordnet: WordNet) -> None:
    """One record in twenty is new; seldom is any pair that could have been met in a block."""
    avoidable = [
        avoidable_share(wordnet.taxonomy, np.random.default_rng(seed)) for seed in range(6)
    ]
    assert np.median(avoidable) == 0.0
    assert np.mean(avoidable) < 0.03


def avoidable_share(taxonomy: Taxonomy, generator: np.random.Generator) -> float:
    """Share of pairs of old sets that are in one block now, and were not before."""
    rows = noun_rows(taxonomy, generator, records=4000, users=300, most_nouns=3)
    stays = (generator.random(len(rows)) > 0.05).tolist()
    now, before = (block_of_sets(taxonomy, log) for log in (rows, list(compress(rows, stays))))
    pairs = Counter(now[row] for row in before)
    met = Counter((now[row], block) for row, block in before.items())
    return 1.0 - squares(met) / squares(pairs)


def squares(sizes: Counter[Any]) -> int:
    return sum(size**2 for size in sizes.values())


def block_of_sets(taxonomy: Taxonomy, rows: list[Row]) -> dict[tuple[int, ...], int]:
    """Block of each set, sets by their concepts."""
    table = table_of(taxonomy, rows)
    parts = cut_into_blocks(problem_from(taxonomy, table, k=5), sets_per_block=500)
    return {
        tuple(table.sets.row(index).tolist()): block
        for block, part in enumerate(parts)
        for index in part.tolist()
    }


@settings(max_examples=60, deadline=None)
@given(
    problems(most=60),
    st.integers(2, 12),
    st.sampled_from([mdav_labels, vmdav_labels]),
)
def test_costs_may_come_from_elsewhere(problem: Problem, largest: int, method: Labels) -> None:
    """Also for blocks that are too large, of which a part is compared."""
    sources = None
    if problem.solvable:
        parts = cut_into_blocks(problem, sets_per_block=largest)
        sources = [kept(problem.part(part), largest) for part in parts]
    found = method(problem, sources=sources, sets_per_block=largest)
    assert np.array_equal(found, method(problem, sets_per_block=largest))


def kept(block: Problem, largest: int) -> Between:
    costs = between_sets(block.part(compared_sets(block, sets_per_block=largest)))

    def source(problem: Problem) -> Costs:
        assert len(problem) == len(costs)
        return costs

    return source
