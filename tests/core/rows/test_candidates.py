"""Rows that could be published, against all sets of levels one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import TIME_DAY, TIME_MONTH, TIME_NONE, RecordTable
from tasks.core.rows.candidates import (
    MOST_LEVELS,
    MOST_NODES,
    Candidates,
    _frequent_levels,
    best_shared_nodes,
    candidates_of,
)
from tasks.core.rows.levels import LogLevels, item_levels
from tasks.core.rows.problem import WORTH, Groups, RowProblem, groups_of, row_problem
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import VAGUEST, Log, forms_of, hard_logs
from tests.helpers.random_logs import HOUR, WORDS, table_of
from tests.oracles.levels import SlowItem, slow_items

PRECISIONS = st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY])
Row = dict[int, float]
"""The units of a row and what it tells of each."""


@st.composite
def trees(draw: st.DrawFn) -> Taxonomy:
    """Taxonomies in which nothing has two parents."""
    count = draw(st.integers(2, 10))
    parents = [
        [],
        *(sorted(draw(st.sets(st.integers(0, c - 1), max_size=1))) for c in range(1, count)),
    ]
    names = [f"c{concept}.n.01" for concept in range(count)]
    return build_taxonomy(names, names, parents, root="c0.n.01", version="tree")


@st.composite
def apart_logs(draw: st.DrawFn) -> Log:
    """Logs in which no two items of a query have a level in common."""
    taxonomy = draw(trees())
    rows = []
    for _ in range(draw(st.integers(0, 14))):
        concepts: list[int] = []
        known: set[int] = set()
        for concept in draw(st.lists(st.integers(0, len(taxonomy) - 1), max_size=3)):
            closure = {concept, *taxonomy.ancestors_of(concept).tolist()}
            if not closure & known:
                concepts.append(concept)
                known |= closure
        words = draw(st.lists(st.sampled_from(WORDS), max_size=4, unique=True))
        user, hour = draw(st.integers(0, 4)), draw(st.sampled_from([0, 3, 30, 24 * 40]))
        rows.append((user, concepts, words, hour * HOUR))
    return taxonomy, table_of(taxonomy, rows)


class Slow:
    """All rows of a problem, by trying every set of up to three levels of different items."""

    def __init__(self, taxonomy: Taxonomy, table: RecordTable, problem: RowProblem) -> None:
        self.problem = problem
        self.forms = forms_of(problem).tolist()
        self.items = [list(self.told(table, taxonomy, form)) for form in range(len(table.forms))]

    def told(self, table: RecordTable, taxonomy: Taxonomy, form: int) -> Iterator[SlowItem]:
        """Items that may be told one by one."""
        for item in slow_items(table, taxonomy, form, vaguest=VAGUEST, fillers=True):
            if item.bits > 0 and (self.problem.free or item.concept < 0):
                yield item

    def people(self, units: Row) -> int:
        return len({int(self.problem.users[unit]) for unit in units})

    def bits(self, unit: int, nodes: tuple[int, ...]) -> float | None:
        """What a set of levels tells of a unit, if it has all of them."""
        form = self.forms[unit]
        owners = {own: item for item in self.items[form] for own, _ in item.levels}
        if len({owners[node].word for node in nodes if node in owners}) < len(nodes):
            return None
        told = sum(dict(owners[node].levels)[node] for node in nodes)
        return float(WORTH + self.problem.told_by_group[form] + told)

    def rows(self, *, least: int = 1) -> Iterator[Row]:
        """Without a time, in each group."""
        sizes = range(least, MOST_LEVELS + 1)
        chosen = (own for items in self.items for n in sizes for own in combinations(items, n))
        sets = {tuple(sorted(nodes)) for own in chosen for nodes in levels_of(own)}
        for nodes in sorted(sets):
            for group in sorted(set(self.problem.groups.tolist())):
                units = [u for u, f in enumerate(self.forms) if self.problem.groups[f] == group]
                told = {unit: self.bits(unit, nodes) for unit in units}
                yield {unit: bits for unit, bits in told.items() if bits is not None}

    def timed(self, row: Row) -> Iterator[Row]:
        """The row, and with each span of time."""
        yield row
        for cells, gain in zip(self.problem.time_cells, self.problem.time_bits, strict=True):
            for span in sorted({int(cells[unit]) for unit in row} - {-1}):
                yield {u: bits + float(gain) for u, bits in row.items() if cells[u] == span}

    def shared(self, *, least: int = 1) -> list[Row]:
        rows = (timed for row in self.rows(least=least) for timed in self.timed(row))
        return [row for row in rows if self.people(row) >= self.problem.k]


def levels_of(items: tuple[SlowItem, ...]) -> Iterator[tuple[int, ...]]:
    """One level of each item."""
    return product(*([node for node, _ in item.levels] for item in items))


def rows_of(candidates: Candidates) -> list[Row]:
    bounds = candidates.offsets.tolist()
    units, bits = candidates.units.tolist(), candidates.bits.tolist()
    return [
        dict(zip(units[start:end], bits[start:end], strict=True)) for start, end in pairwise(bounds)
    ]


def tells_as_much(row: Row, wanted: Row) -> bool:
    return row.keys() == wanted.keys() and all(row[u] >= wanted[u] - 1e-9 for u in wanted)


def made(
    data: st.DataObject, log: Log, k: int, precision: int, *, grouped: bool
) -> tuple[RowProblem, Slow]:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    groups = None
    if grouped:
        numbers = [data.draw(st.integers(0, 2)) for _ in range(len(levels))]
        groups = Groups(np.array(numbers, dtype=np.int64), np.array(numbers) * 1.5)
    problem, _ = row_problem(table, levels, k=k, l=1, precision=precision, groups=groups)
    return problem, Slow(taxonomy, table, problem)


@settings(max_examples=60)
@given(apart_logs(), st.integers(2, 3), PRECISIONS, st.booleans(), st.data())
def test_every_set_that_k_people_share_is_a_row_or_a_finer_one_is(
    log: Log, k: int, precision: int, grouped: bool, data: st.DataObject
) -> None:
    problem, slow = made(data, log, k, precision, grouped=grouped)
    found = rows_of(candidates_of(problem))
    for wanted in slow.shared():
        assert any(tells_as_much(row, wanted) for row in found)


@settings(max_examples=60)
@given(apart_logs(), st.integers(2, 3), PRECISIONS, st.booleans(), st.data())
def test_every_row_is_a_set_that_k_people_share(
    log: Log, k: int, precision: int, grouped: bool, data: st.DataObject
) -> None:
    """But for whole queries, and what a group tells before anything else."""
    problem, slow = made(data, log, k, precision, grouped=grouped)
    known = slow.shared(least=0)
    for row in rows_of(candidates_of(problem)):
        if not any(row == pytest.approx(own) for own in known):
            forms = {slow.forms[unit] for unit in row}
            assert is_group(problem, row) or all(is_long(problem, form) for form in forms)


def is_group(problem: RowProblem, row: Row) -> bool:
    """Whether it is all units of a group, and tells what that tells."""
    group = {int(problem.groups[form]) for form in forms_of(problem)[list(row)]}
    units = np.flatnonzero(problem.groups[forms_of(problem)] == group.pop()).tolist()
    told = WORTH + problem.told_by_group[forms_of(problem)]
    return not group and row == pytest.approx({unit: float(told[unit]) for unit in units})


def is_long(problem: RowProblem, form: int) -> bool:
    return bool(np.diff(problem.levels.item_offsets)[form] > MOST_LEVELS)


@given(apart_logs(), st.integers(2, 3), PRECISIONS)
def test_units_stand_in_order_once_each(log: Log, k: int, precision: int) -> None:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    found = candidates_of(row_problem(table, levels, k=k, l=1, precision=precision)[0])
    assert len(found) == len(found.offsets) - 1
    for row in range(len(found)):
        units = found.units[found.offsets[row] : found.offsets[row + 1]].tolist()
        assert units == sorted(set(units))
        assert units


def test_of_two_parents_neither_stands_for_the_other() -> None:
    """a1 is below a and b; one asks for a, one for b: it may stand with either."""
    names = ["entity", "a", "b", "a1", "others", "more"]
    parents: list[list[int]] = [[], [0], [0], [1, 2], [0], [0]]
    taxonomy = build_taxonomy(names, names, parents, root="entity", version="")
    table = table_of(taxonomy, [(user, [concept], [], 0) for user, concept in enumerate((1, 2, 3))])
    levels = item_levels(table, taxonomy)
    problem, _ = row_problem(table, levels, k=2, l=1, precision=TIME_NONE)
    who = [sorted(problem.users[list(row)].tolist()) for row in rows_of(candidates_of(problem))]
    assert sorted(who) == [[0, 2], [1, 2]]


def flat() -> Taxonomy:
    names = ["entity", "a", "b", "a1", "a2"]
    return build_taxonomy(names, names, [[], [0], [0], [1], [1]], root="entity", version="")


def problem_of(rows: list[tuple[int, list[int], list[str], int]], *, k: int) -> RowProblem:
    taxonomy = flat()
    table = table_of(taxonomy, rows)
    levels = item_levels(table, taxonomy, fillers=True)
    return row_problem(table, levels, k=k, l=1, precision=TIME_NONE)[0]


def test_a_whole_query_of_k_people_is_a_row_in_any_order_of_words() -> None:
    words = ["cheap", "best", "near", "me", "free"]
    rows: list[tuple[int, list[int], list[str], int]] = [(0, [], words, 0), (1, [], words[::-1], 0)]
    found = rows_of(candidates_of(problem_of([*rows, (2, [], words[:4], 0)], k=2)))
    most = max(found, key=lambda row: max(row.values()))
    assert set(most.values()) == {WORTH + 5 * 10.0}
    assert len(most) == 2
    alone = rows_of(candidates_of(problem_of(rows[:1], k=2)))
    assert alone == []


def test_the_best_shared_level_is_the_most_informative() -> None:
    """Two say a1, one a2: a1 as typed for two, what is above for the third; nothing for b."""
    rows: list[tuple[int, list[int], list[str], int]] = [
        (0, [3], [], 0),
        (1, [3], [], 0),
        (2, [4], [], 0),
        (3, [2], [], 0),
    ]
    problem = problem_of(rows, k=2)
    best = best_shared_nodes(problem).tolist()
    by_users = {
        int(user): best[form] for user, form in zip(problem.users, forms_of(problem), strict=True)
    }
    assert by_users[0] == by_users[1] > 0
    assert by_users[2] not in (0, by_users[0])
    assert by_users[3] == 0


@settings(max_examples=60)
@given(hard_logs(least=1, most=40, users=9), st.integers(2, 4), st.booleans(), st.integers(1, 7))
def test_best_levels_are_the_same_however_many_forms_are_seen_at_a_time(
    log: Log, k: int, grouped: bool, at_a_time: int
) -> None:
    taxonomy, table = log
    levels = LogLevels(table, taxonomy, vaguest=VAGUEST)
    labels = np.where(table.set_of >= 0, table.set_of % 2, -1).astype(np.int32)
    everything = levels.of(np.arange(len(levels)))
    groups = groups_of(table, labels, everything) if grouped else None
    problem, _ = row_problem(table, levels, k=k, l=1, precision=TIME_NONE, groups=groups)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", at_a_time)
        found = best_shared_nodes(problem).tolist()
    at_once, _ = row_problem(table, everything, k=k, l=1, precision=TIME_NONE, groups=groups)
    mined = _frequent_levels(at_once, MOST_NODES)
    expected: dict[int, int] = {}
    for place in np.lexsort((mined.nodes, -mined.bits, mined.forms)).tolist():
        expected.setdefault(int(mined.forms[place]), int(mined.nodes[place]))
    assert {form for form, own in enumerate(found) if own} == set(expected)
    ranks = sorted(set(found) - {0})
    assert {form: ranks.index(own) for form, own in enumerate(found) if own} == {
        form: sorted(set(expected.values())).index(own) for form, own in expected.items()
    }
