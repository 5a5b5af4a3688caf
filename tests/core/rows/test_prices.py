"""Prices: a bound that no choice of rows exceeds, and rows that are worth opening."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import TIME_MONTH
from tasks.core.rows.candidates import Candidates, candidates_of
from tasks.core.rows.levels import item_levels
from tasks.core.rows.prices import price_rows
from tasks.core.rows.problem import RowProblem, row_problem
from tasks.core.rows.search import RowSearch, choose_rows
from tests.core.rows.materials import VAGUEST, Log, hard_logs

ROUNDING = 1e-6
PEOPLE = st.integers(2, 4)


def problem_of(log: Log, k: int) -> RowProblem:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    return row_problem(table, levels, k=k, l=1, precision=TIME_MONTH)[0]


def most_told(problem: RowProblem, candidates: Candidates) -> float:
    """By trying every way to put units into rows."""
    bounds = candidates.offsets
    told = [{-1: 0.0} for _ in range(len(problem))]
    for row in range(len(candidates)):
        own = slice(bounds[row], bounds[row + 1])
        for unit, bits in zip(candidates.units[own], candidates.bits[own], strict=True):
            told[unit][row] = float(bits * problem.weights[unit])
    best = 0.0
    for rows in product(*told):
        people = [{problem.users[u] for u, own in enumerate(rows) if own == r} for r in set(rows)]
        named = [own for own, r in zip(people, set(rows), strict=True) if r >= 0]
        if all(len(own) >= problem.k for own in named):
            best = max(best, sum(own[row] for own, row in zip(told, rows, strict=True)))
    return best


@settings(max_examples=60)
@given(hard_logs(least=3, most=6, users=4), st.integers(2, 3), st.sampled_from([0, 3, 60]))
def test_no_way_to_choose_rows_tells_more_than_the_bound(log: Log, k: int, rounds: int) -> None:
    problem = problem_of(log, k)
    candidates = candidates_of(problem)
    # Of units that many rows could tell there are too many ways to try.
    if np.prod([1 + n for n in np.bincount(candidates.units, minlength=1).tolist()]) > 20_000:
        return
    most = most_told(problem, candidates)
    assert price_rows(problem, candidates, rounds).bound >= most - ROUNDING


@settings(max_examples=60)
@given(hard_logs(least=5, most=40, users=9), PEOPLE)
def test_the_search_tells_no_more_than_the_bound(log: Log, k: int) -> None:
    problem = problem_of(log, k)
    candidates = candidates_of(problem)
    found = price_rows(problem, candidates)
    search = RowSearch(problem, candidates)
    rows = choose_rows(problem, candidates)
    told = 0.0
    for unit, row in enumerate(rows.tolist()):
        if row >= 0:
            own = slice(candidates.offsets[row], candidates.offsets[row + 1])
            place = candidates.units[own].tolist().index(unit)
            told += float(candidates.bits[own][place] * problem.weights[unit])
    assert told <= found.bound + ROUNDING
    assert search.total == 0.0
    assert ((found.paid >= 0) & (found.paid <= 1)).all()


@settings(max_examples=30)
@given(hard_logs(least=5, most=40, users=9), PEOPLE)
def test_more_rounds_never_raise_the_bound(log: Log, k: int) -> None:
    problem = problem_of(log, k)
    candidates = candidates_of(problem)
    bounds = [price_rows(problem, candidates, rounds).bound for rounds in (0, 5, 40)]
    assert bounds == sorted(bounds, reverse=True)
