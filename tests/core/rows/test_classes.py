"""Classes of a log in parts: the same whoever finds them, k people in each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.arrays import numbered_by_first, take_ragged
from tasks.core.records import TIME_MONTH, Floats, Ints, Longs
from tasks.core.rows.candidates import best_shared_nodes
from tasks.core.rows.classes import (
    LEFT_TOGETHER,
    classes_of,
    classes_of_part,
    cut_into_parts,
    only,
    part_of,
)
from tasks.core.rows.levels import ItemLevels, LevelsOf, item_levels
from tasks.core.rows.problem import Problem, RowProblem, groups_of, row_problem
from tasks.core.rows.search import NOWHERE
from tests.core.rows.materials import VAGUEST, Log, forms_of, hard_logs
from tests.core.rows.test_search import small_log, small_tree
from tests.helpers.executors import each_executor, through_bytes

LOGS = hard_logs(least=1, most=40, users=9)
SIZES = st.integers(1, 30)


def problem_of(log: Log, k: int, *, grouped: bool = False) -> RowProblem:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    labels = np.where(table.set_of >= 0, table.set_of % 2, -1).astype(np.int32)
    groups = groups_of(table, labels, levels) if grouped else None
    return row_problem(table, levels, k=k, l=1, precision=TIME_MONTH, groups=groups)[0]


@pytest.fixture(scope="module")
def problem() -> RowProblem:
    """Units of many parts."""
    taxonomy = small_tree()
    return problem_of((taxonomy, small_log(taxonomy, 3)), 3)


@settings(max_examples=60)
@given(LOGS, st.integers(2, 4), SIZES, st.booleans())
def test_every_class_holds_k_people_in_however_many_parts(
    log: Log, k: int, size: int, grouped: bool
) -> None:
    problem = problem_of(log, k, grouped=grouped)
    classes = classes_of(problem, units_per_part=size)
    assert classes.shape == (len(problem),)
    known = [own for own in dict.fromkeys(classes.tolist()) if own != NOWHERE]
    assert known == list(range(len(known)))
    for own in known:
        units = np.flatnonzero(classes == own)
        assert len(set(problem.users[units].tolist())) >= k
        assert len(set(problem.groups[forms_of(problem)[units]].tolist())) == 1


@settings(max_examples=60)
@given(LOGS, st.integers(2, 4), SIZES)
def test_parts_hold_every_unit_once_and_those_of_one_best_level_together(
    log: Log, k: int, size: int
) -> None:
    problem = problem_of(log, k)
    parts = cut_into_parts(problem, units_per_part=size)
    assert all(len(part) for part in parts)
    assert all(part.tolist() == sorted(part.tolist()) for part in parts)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(problem.levels)))
    anchors = best_shared_nodes(problem)
    for part in parts:
        # As large as asked for, unless one form is that of more.
        assert len(part) == 1 or len(units_of(problem, part)) <= size
    if len(parts) > 1:
        held = [set(anchors[part].tolist()) for part in parts]
        in_several = [own for own in set().union(*held) if sum(own in each for each in held) > 1]
        sizes = problem.units_of_form
        assert all(sizes[anchors == own].sum() > size for own in in_several)


def units_of(problem: Problem[LevelsOf], forms: Ints) -> Longs:
    """The units of some forms."""
    return take_ragged(problem.unit_offsets, forms)[1]


def every_form(problem: Problem[LevelsOf]) -> Ints:
    return np.arange(len(problem.levels), dtype=np.int32)


def test_the_same_classes_whoever_finds_them(problem: RowProblem, tmp_path: Path) -> None:
    expected = classes_of(problem, units_per_part=10).tolist()
    assert len(cut_into_parts(problem, units_per_part=10)) > 3
    assert classes_of(problem, through_bytes, units_per_part=10).tolist() == expected
    with each_executor(tmp_path) as executors:
        for executor in executors:
            with executor.running(1000.0) as starmap:
                assert classes_of(problem, starmap, units_per_part=10).tolist() == expected


def test_one_part_is_searched_as_it_is(problem: RowProblem) -> None:
    expected = classes_of_part(problem).tolist()
    assert classes_of(problem, units_per_part=len(problem)).tolist() == expected
    assert classes_of_part(part_of(problem, every_form(problem))).tolist() == expected


def test_who_finds_no_row_in_a_part_is_searched_once_more(problem: RowProblem) -> None:
    parts = cut_into_parts(problem, units_per_part=8)
    alone = [classes_of_part(part_of(problem, forms)) for forms in parts]
    told = sum(int((own >= 0).sum()) for own in alone)
    assert int((classes_of(problem, units_per_part=8) >= 0).sum()) > told


@settings(max_examples=60)
@given(LOGS, st.integers(2, 3), SIZES)
def test_classes_are_those_of_the_parts_and_of_who_is_left(log: Log, k: int, size: int) -> None:
    problem = problem_of(log, k)
    names: list[tuple[int, int] | None] = [None] * len(problem)
    parts = cut_into_parts(problem, units_per_part=size)
    for number, forms in enumerate(parts):
        found = classes_of_part(part_of(problem, forms))
        fill(names, number, units_of(problem, forms), found)
    left = np.array([unit for unit, own in enumerate(names) if own is None], dtype=np.int32)
    if len(parts) > 1:
        together = len(left) <= LEFT_TOGETHER * size
        rest = only(problem, left)
        again = cut_into_parts(rest, units_per_part=len(left) if together else size)
        for number, forms in enumerate(again, len(parts)):
            found = classes_of_part(part_of(rest, forms))
            fill(names, number, left[units_of(rest, forms)], found)
    known = list(dict.fromkeys(own for own in names if own is not None))
    expected = [NOWHERE if own is None else known.index(own) for own in names]
    assert classes_of(problem, units_per_part=size).tolist() == expected


def fill(
    names: list[tuple[int, int] | None], part: int, units: Longs | Ints, classes: Ints
) -> None:
    """Call each unit that is told by its part and class."""
    for unit, own in zip(units.tolist(), classes.tolist(), strict=True):
        names[unit] = (part, own) if own != NOWHERE else None


def order_of(values: Longs | Ints | Floats) -> list[int]:
    """Ranks, equal ones for equal values."""
    ordered = sorted(set(values.tolist()))
    return [ordered.index(value) for value in values.tolist()]


@settings(max_examples=60)
@given(LOGS, st.integers(2, 4), st.booleans(), st.data())
def test_a_part_keeps_what_its_units_hold_and_the_order_of_numbers(
    log: Log, k: int, grouped: bool, data: st.DataObject
) -> None:
    problem = problem_of(log, k, grouped=grouped)
    chosen = data.draw(st.sets(st.integers(0, len(problem) - 1), min_size=1))
    units = np.array(sorted(chosen), dtype=np.int32)
    some = only(problem, units)
    part = part_of(some, every_form(some))
    assert (part.k, part.l, part.free) == (problem.k, problem.l, problem.free)
    assert part.users.tolist() == order_of(problem.users[units])
    assert part.weights.tolist() == problem.weights[units].tolist()
    assert part.sets.tolist() == problem.sets[units].tolist()
    assert part.time_cells.tolist() == problem.time_cells[:, units].tolist()
    old = [contents(problem.levels, form) for form in forms_of(problem)[units]]
    new = [contents(part.levels, form) for form in forms_of(part)]
    for field in ("words", "nodes"):
        assert order_of(joined(new, field)) == order_of(joined(old, field))
    for field in ("concepts", "bits", "sizes", "level_bits", "kinds"):
        assert joined(new, field).tolist() == joined(old, field).tolist()
    forms, own = forms_of(problem)[units], forms_of(part)
    assert part.groups[own].tolist() == problem.groups[forms].tolist()
    assert part.told_by_group[own].tolist() == problem.told_by_group[forms].tolist()


def contents(levels: ItemLevels, form: int) -> dict[str, Longs | Floats]:
    """Items and levels of a form; whether an item is an attribute and a level a concept."""
    items = slice(levels.item_offsets[form], levels.item_offsets[form + 1])
    bounds = levels.level_offsets[levels.item_offsets[form] : levels.item_offsets[form + 1] + 1]
    places = slice(bounds[0], bounds[-1])
    return {
        "words": levels.item_words[items].astype(np.int64),
        "concepts": (levels.item_concepts[items] >= 0).astype(np.int64),
        "bits": levels.item_bits[items],
        "sizes": np.diff(bounds),
        "nodes": levels.nodes[places],
        "level_bits": levels.bits[places],
        "kinds": (levels.nodes[places] >= levels.words).astype(np.int64),
    }


@settings(max_examples=60)
@given(LOGS, st.booleans(), st.integers(1, 9), st.integers(1, 9))
def test_the_same_classes_however_many_rows_are_seen_at_a_time(
    log: Log, grouped: bool, rows: int, forms: int
) -> None:
    expected = classes_of(problem_of(log, 2, grouped=grouped), units_per_part=8).tolist()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", rows)
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", forms)
        found = classes_of(problem_of(log, 2, grouped=grouped), units_per_part=8)
    assert found.tolist() == expected


def joined(found: list[dict[str, Longs | Floats]], field: str) -> Longs | Floats:
    return np.concatenate([own[field] for own in found])


@given(st.lists(st.integers(-1, 5)), st.integers(1, 9))
def test_classes_are_numbered_as_they_appear(labels: list[int], rows: int) -> None:
    known = [own for own in dict.fromkeys(labels) if own >= 0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", rows)
        found = numbered_by_first(np.array(labels, dtype=np.int64)).tolist()
    assert found == [known.index(own) if own >= 0 else NOWHERE for own in labels]
