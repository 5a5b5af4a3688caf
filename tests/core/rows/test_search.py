"""The search for rows: k people in each, never worse than before, never worse than its start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import numbered_by_first
from tasks.core.detection.topics import TopicMap
from tasks.core.measures.information import information_kept
from tasks.core.records import TIME_MONTH, TIME_NONE, RecordTable, Release
from tasks.core.redaction.class_sizes import surplus_rows
from tasks.core.rows.candidates import candidates_of
from tasks.core.rows.levels import item_levels
from tasks.core.rows.prices import price_rows
from tasks.core.rows.problem import RowProblem, row_problem
from tasks.core.rows.search import LIKELY, NOWHERE, RowSearch, choose_rows
from tasks.core.rows.told import release_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tasks.evaluation.baselines.greedy_rows import greedy_rows
from tests.core.rows.materials import VAGUEST, Log, hard_logs
from tests.helpers.random_logs import table_of

LOGS = hard_logs(least=5, most=40, users=9)
PEOPLE = st.integers(2, 4)
ROUNDING = 1e-6


def problem_of(log: Log, k: int, l: int = 1) -> RowProblem:  # noqa: E741
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    return row_problem(table, levels, k=k, l=l, precision=TIME_MONTH)[0]


class Watched(RowSearch):
    """A search whose every step is held against what it says it gains."""

    steps = 0

    def _move_units(self) -> float:
        before = self.total
        return self._as_said(before, super()._move_units())

    def _open(self, row: int) -> float:
        before = self.total
        return self._as_said(before, super()._open(row))

    def _close(self, row: int) -> float:
        before = self.total
        return self._as_said(before, super()._close(row))

    def _as_said(self, before: float, gain: float) -> float:
        assert gain >= 0
        assert self.total - before == pytest.approx(gain, abs=ROUNDING)
        self.steps += 1
        return gain


@settings(max_examples=60)
@given(LOGS, PEOPLE, st.integers(1, 3))
def test_every_row_in_use_holds_k_people_and_l_sets(log: Log, k: int, l: int) -> None:  # noqa: E741
    problem = problem_of(log, k, l)
    candidates = candidates_of(problem)
    rows = choose_rows(problem, candidates)
    for row in sorted(set(rows.tolist()) - {NOWHERE}):
        units = np.flatnonzero(rows == row)
        supporters = candidates.units[candidates.offsets[row] : candidates.offsets[row + 1]]
        assert set(units.tolist()) <= set(supporters.tolist())
        assert len(set(problem.users[units].tolist())) >= k
        sets = set(problem.sets[units].tolist())
        # Where somebody holds no attribute, none is told.
        assert -1 in sets or len(sets) >= l


@pytest.mark.parametrize("l", [2, 3])
def test_rows_of_attributes_hold_l_sets_in_larger_logs(l: int) -> None:  # noqa: E741
    """Where one set would do, k people who share it stand together: it would be told of them."""
    taxonomy = small_tree()
    short = 0
    for seed in range(10):
        log = taxonomy, small_log(taxonomy, seed)
        for own in (1, l):
            problem = problem_of(log, 2, own)
            rows = choose_rows(problem, candidates_of(problem))
            held = [
                set(problem.sets[rows == row].tolist()) for row in set(rows.tolist()) - {NOWHERE}
            ]
            few = sum(-1 not in sets and len(sets) < l for sets in held)
            assert own == 1 or few == 0
            short += few
    assert short > 0


@settings(max_examples=60)
@given(LOGS, PEOPLE, st.integers(1, 2))
def test_no_step_tells_less_than_before(log: Log, k: int, l: int) -> None:  # noqa: E741
    problem = problem_of(log, k, l)
    candidates = candidates_of(problem)
    search = Watched(problem, candidates)
    search.start(price_rows(problem, candidates).paid > LIKELY)
    started = search.total
    search.improve(12)
    assert search.total >= started - ROUNDING
    improved = search.total
    search.shake()
    assert search.total >= improved - ROUNDING
    bounds = candidates.offsets
    for unit, row in enumerate(search.row_of):
        told = 0.0
        if row != NOWHERE:
            own = slice(bounds[row], bounds[row + 1])
            told = float(candidates.bits[own][candidates.units[own] == unit][0])
        assert search.bits[unit] == told


@settings(max_examples=60)
@given(LOGS, PEOPLE, st.integers(1, 2), st.sampled_from([0.5, 0.34, 0.8]), st.data())
def test_relief_withholds_less_and_keeps_k_people(
    log: Log,
    k: int,
    l: int,  # noqa: E741
    dominance: float,
    data: st.DataObject,
) -> None:
    problem = problem_of(log, k, l)
    weights = data.draw(
        st.lists(st.integers(1, 9), min_size=len(problem), max_size=len(problem)), "weights"
    )
    problem = replace(problem, weights=np.array(weights, dtype=np.int64), dominance=dominance)
    candidates = candidates_of(problem)
    search = RowSearch(problem, candidates)
    search.start(price_rows(problem, candidates).paid > LIKELY)
    search.improve(12)
    before = left_of(search, problem)
    search.relieve()
    assert left_of(search, problem) >= before - ROUNDING
    rows = np.array(search.row_of)
    for row in sorted(set(rows.tolist()) - {NOWHERE}):
        assert len(set(problem.users[rows == row].tolist())) >= k


def left_of(search: RowSearch, problem: RowProblem) -> float:
    """What is told of records that are not the surplus of the heaviest person of their row."""
    told, rows = 0.0, np.array(search.row_of)
    bits = np.array(search.bits)
    for row in sorted(set(rows.tolist()) - {NOWHERE}):
        own = rows == row
        held = np.bincount(problem.users[own], problem.weights[own])
        heaviest = own & (problem.users == held.argmax())
        others = held.sum() - held.max()
        surplus = max(0.0, held.max() - others * problem.dominance / (1 - problem.dominance))
        told += float(bits[own] @ problem.weights[own])
        told -= surplus * float(bits[heaviest] @ problem.weights[heaviest]) / held.max()
    return told


def test_others_make_room_for_whoever_has_most_of_a_row() -> None:
    """One person asked eleven times; two of five who asked in one month could stand with them."""
    taxonomy = small_tree()
    month = 31 * 24 * 3600
    rows: list[tuple[int, list[int], list[str], int]] = []
    rows += [(0, [], ["best"], place * month) for place in range(11)]
    rows += [(user, [], ["best"], user * month) for user in (1, 2, 3)]
    rows += [(user, [], ["best"], 40 * month) for user in range(4, 10)]
    table = table_of(taxonomy, rows)
    levels = item_levels(table, taxonomy, fillers=True)
    withheld = {}
    for dominance in (1.0, 0.5):
        problem, unit_of = row_problem(
            table, levels, k=4, l=1, precision=TIME_MONTH, dominance=dominance
        )
        classes = choose_rows(problem, candidates_of(problem))[unit_of]
        surplus = surplus_rows(classes.astype(np.int32), table.users, most=0.5, multiple=1)
        withheld[dominance] = int(surplus.sum() + (classes == NOWHERE).sum())
    assert withheld[1.0] > withheld[0.5]


@settings(max_examples=30)
@given(LOGS, PEOPLE)
def test_the_same_problem_has_the_same_rows(log: Log, k: int) -> None:
    first, again = (
        choose_rows(problem, candidates_of(problem)).tolist()
        for problem in (problem_of(log, k), problem_of(log, k))
    )
    assert first == again


def small_tree() -> Taxonomy:
    """Three branches of three kinds of three things each."""
    parents: list[list[int]] = [[], *([0] for _ in range(3))]
    parents += [[1 + place // 3] for place in range(9)]
    parents += [[4 + place // 3] for place in range(27)]
    names = [f"c{concept}.n.01" for concept in range(len(parents))]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="tree")


def small_log(taxonomy: Taxonomy, seed: int) -> RecordTable:
    """Some sixty queries of one or two of the things, beside up to two words."""
    random = np.random.default_rng(seed)
    words = ["cheap", "best", "near", "me", "free", "new"]
    rows: list[tuple[int, list[int], list[str], int]] = []
    for _ in range(60):
        things = 13 + random.geometric(0.12, size=random.integers(1, 3)) % 27
        said = random.choice(words, size=random.integers(0, 3), replace=False).tolist()
        rows.append((int(random.integers(25)), list(dict.fromkeys(things.tolist())), said, 0))
    return table_of(taxonomy, rows)


def kept(table: RecordTable, release: Release, taxonomy: Taxonomy) -> float:
    topics = TopicMap((), np.zeros(len(taxonomy), dtype=np.uint32))
    return information_kept(table, release, taxonomy, topics, finest=TIME_NONE).kept_percent


def searched(table: RecordTable, taxonomy: Taxonomy, k: int) -> Release:
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    problem, unit_of = row_problem(table, levels, k=k, l=1, precision=TIME_NONE)
    classes = numbered_by_first(choose_rows(problem, candidates_of(problem)))[unit_of]
    return release_of(table, classes, levels, k=k, precision=TIME_NONE, senses=False)


def test_more_is_kept_than_by_the_greedy_floor() -> None:
    """On average by some five in a hundred, and in nearly all logs: a fact about these thirty."""
    taxonomy = small_tree()
    logs = [small_log(taxonomy, seed) for seed in range(30)]
    own = np.array([kept(table, searched(table, taxonomy, 4), taxonomy) for table in logs])
    floor = np.array(
        [kept(table, greedy_rows(table, taxonomy, 4, vaguest=VAGUEST), taxonomy) for table in logs]
    )
    assert own.mean() >= 1.03 * floor.mean()
    assert (own >= floor).mean() >= 0.9
