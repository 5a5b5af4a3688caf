"""Rows against the best possible ones, on random logs small enough to try everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from tasks.core.records import TIME_NONE, RecordTable, Release
from tasks.core.rows.classes import classes_of
from tasks.core.rows.levels import item_levels
from tasks.core.rows.problem import row_problem
from tasks.core.rows.told import release_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.evaluation.baselines.greedy_rows import greedy_rows
from tests.helpers.random_logs import WORDS, table_of
from tests.oracles.best_rows import Told, best_kept, common_nodes, kept_by, said_once

VAGUEST = 0.2
RECORDS, LOGS = 9, 60
Case = tuple[Taxonomy, RecordTable, int]
Rows = Callable[[RecordTable, Taxonomy, int], Release]


def random_taxonomy(generator: np.random.Generator) -> Taxonomy:
    """Three branches, each of which parts twice or three times, three steps deep."""
    parents: list[list[int]] = [[]]
    level = [0]
    for width in (3, 2, 2):
        below = []
        for concept in level:
            for _ in range(int(generator.integers(width, width + 2))):
                below.append(len(parents))
                parents.append([concept])
        level = below
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    return build_taxonomy(names, names, parents, root=names[0], version="random")


def random_case(generator: np.random.Generator) -> Case:
    """Few concepts and words, some much more frequent, of bits that make a word worth as much as a
    concept: so there are many ways to stand together, and few are good."""
    taxonomy = random_taxonomy(generator)
    leaves = np.arange(len(taxonomy))[-12:]
    shares = 1.0 / (np.arange(len(leaves)) + 2)
    rows = []
    for _ in range(RECORDS):
        size = int(generator.integers(1, 4))
        drawn = generator.choice(leaves, size, replace=False, p=shares / shares.sum())
        words = generator.choice(WORDS, int(generator.integers(0, 3)), replace=False)
        rows.append((int(generator.integers(6)), drawn.tolist(), words.tolist(), 0))
    table = table_of(taxonomy, rows)
    bits = generator.uniform(1, 6, len(table.words))
    return taxonomy, replace(table, word_bits=bits), int(generator.integers(2, 4))


def cases() -> Iterator[Case]:
    generator = np.random.default_rng(15)
    for _ in range(LOGS):
        yield random_case(generator)


def default(table: RecordTable, taxonomy: Taxonomy, k: int) -> Release:
    """What strict redaction tells in scope `all`."""
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    problem, unit_of = row_problem(table, levels, k=k, l=1, precision=TIME_NONE)
    classes = classes_of(problem)[unit_of]
    return release_of(table, classes, levels, k=k, precision=TIME_NONE, senses=False)


def floor(table: RecordTable, taxonomy: Taxonomy, k: int) -> Release:
    return greedy_rows(table, taxonomy, k, vaguest=VAGUEST)


def shares(rows: Rows, told: Told) -> list[float]:
    """What is kept of the best possible, for each log of which anything can be told."""
    found = []
    for taxonomy, table, k in cases():
        best = best_kept(table, taxonomy, k, vaguest=VAGUEST, told=told)
        kept = kept_by(table, taxonomy, rows(table, taxonomy, k))
        assert kept <= best + 1e-6
        found += [kept / best] if best else []
    return found


@pytest.mark.parametrize(
    ("rows", "told", "least"),
    [(default, said_once, 0.9), (default, common_nodes, 0.85), (floor, common_nodes, 0.85)],
    ids=["default", "default-if-all-is-told", "floor"],
)
def test_rows_keep_most_of_what_the_best_possible_keep(
    rows: Rows, told: Told, least: float
) -> None:
    found = shares(rows, told)
    assert len(found) > LOGS / 2
    assert sum(found) / len(found) >= least


def test_the_best_of_four_is_two_pairs_that_say_both_words() -> None:
    """All say *cheap*; told by one row they would keep that word alone, 10 bits each."""
    taxonomy = random_taxonomy(np.random.default_rng(0))
    words = (["cheap", "best"], ["cheap", "best"], ["cheap", "near"], ["cheap", "near"])
    table = table_of(taxonomy, [(user, [], own, 0) for user, own in enumerate(words)])
    assert best_kept(table, taxonomy, 2, vaguest=VAGUEST) == pytest.approx(80.0)
    assert best_kept(table, taxonomy, 3, vaguest=VAGUEST) == pytest.approx(40.0)
    assert best_kept(table, taxonomy, 5, vaguest=VAGUEST) == 0.0


def test_one_ancestor_tells_two_items_of_a_record() -> None:
    """c5 and c6 below c2 in one query, c5 in the other: the word told, and c2 for what is left."""
    names = [f"c{concept}.n.01" for concept in range(7)]
    parents: list[list[int]] = [[], [0], [0], [1], [1], [2], [2]]
    taxonomy = build_taxonomy(names, names, parents, root=names[0], version="hand")
    table = table_of(taxonomy, [(0, [5, 6], [], 0), (1, [5], [], 0)])
    above = float(taxonomy.information[2])
    assert above > 0
    assert best_kept(table, taxonomy, 2, vaguest=VAGUEST) == pytest.approx(10 + above + 10)
    once = best_kept(table, taxonomy, 2, vaguest=VAGUEST, told=said_once)
    assert once == pytest.approx(10 + 10)
