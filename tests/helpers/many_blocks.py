"""A problem that small blocks cut into many parts."""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.blocks import cut_into_blocks
from tasks.core.clustering.problem import Problem, problem_of
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import build_taxonomy
from tests.helpers.random_logs import table_of

SETS_PER_BLOCK = 20


def problem_of_many_blocks() -> Problem:
    names = [f"c{n}.n.01" for n in range(60)]
    parents: list[list[int]] = [[]] + [[(n - 1) // 3] for n in range(1, 60)]
    taxonomy = build_taxonomy(names, names, parents, root="c0.n.01", version="")
    rows: list[tuple[int, list[int], list[str], int]] = [
        (u, [1 + u % 59, 1 + (u * 7) % 59], [], 0) for u in range(200)
    ]
    table = table_of(taxonomy, [(u, list(dict.fromkeys(c)), w, t) for u, c, w, t in rows])
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    problem = problem_of(table, distances, taxonomy, k=3, l=1)
    assert len(cut_into_blocks(problem, sets_per_block=SETS_PER_BLOCK)) > 2
    return problem
