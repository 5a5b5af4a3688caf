"""Hypothesis strategies: clustering problems of nasty shapes, made from small random logs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tasks.core.clustering.problem import Problem, problem_of
from tasks.core.records import RecordTable
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import table_of, taxonomies

SHAPES = ("random", "few users", "one set each", "all the same", "all different", "one busy user")
Row = tuple[int, list[int], list[str], int]


def mini_taxonomy() -> Taxonomy:
    """A root, two branches of two nodes each, and leaves 5-7 below 3, 8 below 4."""
    parents: list[list[int]] = [[], [0], [0], [1], [2], [3], [3], [3], [4]]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="mini")


def example_problem(*, k: int) -> Problem:
    """Six sets; the users of set 0 are 0; of 1: 0, 1; of 2: 2; of 3: 3; of 4: 3; of 5: 1."""
    held = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (3, 5), (1, 8)]
    taxonomy = mini_taxonomy()
    rows: list[Row] = [(user, [concept], [], 0) for user, concept in held]
    return problem_from(taxonomy, table_of(taxonomy, rows), k=k)


@st.composite
def logs(draw: st.DrawFn, *, most: int = 40) -> tuple[Taxonomy, RecordTable]:
    """A random taxonomy, and a log over it in which every row holds an attribute."""
    taxonomy = draw(taxonomies())
    sets = st.lists(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=4, unique=True)
    shape = draw(st.sampled_from(SHAPES))
    count = draw(st.integers(1, most))
    common = draw(sets)
    rows: list[Row] = []
    for row in range(count):
        attributes = common if shape == "all the same" else draw(sets)
        if shape == "all different":
            attributes = sorted({row % len(taxonomy), (row * row + 1) % len(taxonomy)})
        rows.append((_user(draw, shape, row), attributes, [], 0))
    return taxonomy, table_of(taxonomy, rows)


def _user(draw: st.DrawFn, shape: str, row: int) -> int:
    if shape in ("one set each", "all different", "all the same"):
        return row
    if shape == "one busy user":
        return 0 if row % 4 else row
    return draw(st.integers(0, 2 if shape == "few users" else 25))


def problem_from(
    taxonomy: Taxonomy,
    table: RecordTable,
    *,
    k: int,
    l: int = 1,  # noqa: E741
) -> Problem:
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    return problem_of(table, distances, taxonomy, k=k, l=l)


@st.composite
def problems(draw: st.DrawFn, *, most: int = 40) -> Problem:
    """A problem for k in 2..20 and l in 1..3."""
    taxonomy, table = draw(logs(most=most))
    k = draw(st.one_of(st.integers(2, 5), st.integers(2, 20)))
    return problem_from(taxonomy, table, k=k, l=draw(st.sampled_from([1, 1, 2, 3])))
