"""Units, groups and k people, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.records import NO_TIME, TIME_DAY, TIME_HOUR, TIME_MONTH, TIME_NONE, cut_times
from tasks.core.rows.levels import TIME_BITS, LogLevels, item_levels
from tasks.core.rows.problem import Groups, groups_of, row_problem
from tasks.core.rows.told import told_of
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import VAGUEST, Log, forms_of, hard_logs
from tests.helpers.random_logs import HOUR, table_of

PRECISIONS = st.sampled_from([TIME_NONE, TIME_MONTH, TIME_DAY, TIME_HOUR])


@given(hard_logs(), PRECISIONS)
def test_a_unit_is_what_one_person_says(log: Log, precision: int) -> None:
    taxonomy, table = log
    levels = item_levels(table, taxonomy)
    problem, unit_of = row_problem(table, levels, k=2, l=1, precision=precision)
    keys = list(zip(table.form_of.tolist(), table.users.tolist(), strict=True))
    units = sorted(set(keys))
    assert [units[unit] for unit in unit_of.tolist()] == keys
    assert len(problem) == len(units)
    assert forms_of(problem).tolist() == [form for form, _ in units]
    assert problem.users.tolist() == [user for _, user in units]
    assert problem.weights.tolist() == [keys.count(unit) for unit in units]
    assert problem.sets.tolist() == [int(table.set_of_form[form]) for form, _ in units]
    assert problem.free


@given(hard_logs(), PRECISIONS)
def test_spans_of_a_precision_have_the_same_number_if_they_are_the_same(
    log: Log, precision: int
) -> None:
    taxonomy, table = log
    problem, unit_of = row_problem(
        table, item_levels(table, taxonomy), k=2, l=1, precision=precision
    )
    assert problem.time_bits.tolist() == list(TIME_BITS[1 : precision + 1])
    assert problem.time_cells.shape == (precision, len(problem))
    for own, cells in enumerate(problem.time_cells, TIME_NONE + 1):
        cut = cut_times(table.times, own)
        held = [set(cut[unit_of == unit].tolist()) for unit in range(len(problem))]
        one = [len(times) == 1 and NO_TIME not in times for times in held]
        assert [span >= 0 for span in cells.tolist()] == one
        told = zip(held, cells.tolist(), strict=True)
        spans = {(*times, span) for times, span in told if span >= 0}
        assert len({span for _, span in spans}) == len({time for time, _ in spans}) == len(spans)


FIELDS = ("unit_offsets", "users", "weights", "sets", "time_cells")


@given(hard_logs(), PRECISIONS, st.integers(1, 9), st.integers(1, 9))
def test_units_are_the_same_however_many_rows_are_seen_at_a_time(
    log: Log, precision: int, rows: int, forms: int
) -> None:
    taxonomy, table = log

    def found() -> list[object]:
        levels = LogLevels(table, taxonomy)
        problem, unit_of = row_problem(table, levels, k=2, l=1, precision=precision)
        return [unit_of.tolist(), *(getattr(problem, name).tolist() for name in FIELDS)]

    expected = found()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", rows)
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", forms)
        assert found() == expected


@given(hard_logs(least=1), st.integers(1, 4), st.data())
def test_enough_people_are_counted_once_each(log: Log, k: int, data: st.DataObject) -> None:
    taxonomy, table = log
    problem, _ = row_problem(table, item_levels(table, taxonomy), k=k, l=1, precision=TIME_MONTH)
    forms = data.draw(st.lists(st.integers(0, len(table.forms) - 1), min_size=1, max_size=8))
    sets = sorted(data.draw(st.lists(st.integers(0, 2), min_size=len(forms), max_size=len(forms))))
    people: list[set[int]] = [set() for _ in range(max(sets) + 1)]
    for own, form in zip(sets, forms, strict=True):
        people[own] |= set(table.users[table.form_of == form].tolist())
    expected = [len(users) >= k for users in people]
    assert problem.enough(np.array(sets), np.array(forms)).tolist() == expected
    pairs = [
        (own, unit)
        for own, form in zip(sets, forms, strict=True)
        for unit in np.flatnonzero(forms_of(problem) == form).tolist()
    ]
    found = problem.enough_units(*(np.array(column) for column in zip(*pairs, strict=True)))
    assert found.tolist() == expected


@given(hard_logs())
def test_items_that_hold_something_may_be_told_attributes_only_if_free(log: Log) -> None:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, fillers=True)
    nothing = Groups(np.zeros(len(levels), dtype=np.int64), np.zeros(len(levels)))
    items = np.arange(len(levels.item_words))
    free, _ = row_problem(table, levels, k=2, l=1, precision=TIME_NONE)
    bound, _ = row_problem(table, levels, k=2, l=1, precision=TIME_NONE, groups=nothing)
    speaks = [float(bits) > 0 for bits in levels.item_bits]
    plain = [int(concept) < 0 for concept in levels.item_concepts]
    assert free.may_tell(levels, items).tolist() == speaks
    assert bound.may_tell(levels, items).tolist() == [
        a and b for a, b in zip(speaks, plain, strict=True)
    ]
    assert not bound.free


@given(hard_logs(), st.data())
def test_groups_tell_what_the_attributes_of_all_their_forms_have_in_common(
    log: Log, data: st.DataObject
) -> None:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=VAGUEST, fillers=True)
    of_set = [data.draw(st.integers(-1, 2)) for _ in range(len(table.sets))]
    labels = np.array([of_set[own] if own >= 0 else -1 for own in table.set_of], dtype=np.int32)
    found = groups_of(table, labels, levels)
    for form in range(len(table.forms)):
        label = -1 if table.set_of_form[form] < 0 else of_set[table.set_of_form[form]]
        own = np.flatnonzero([label == of_set[s] if s >= 0 else False for s in table.set_of_form])
        bits = 0.0
        if label >= 0:
            told = told_of(np.zeros(len(own), dtype=np.int64), own, levels, 1)
            said = (own[told.queries] == form) & (levels.item_concepts[told.items] >= 0)
            bits = float(told.bits[said].sum())
        assert found.bits[form] == pytest.approx(bits)
        assert found.numbers[form] == (label + 1 if bits > 0 else 0)


@pytest.fixture
def taxonomy() -> Taxonomy:
    """entity over disease, over flu and cold; a plant beside them."""
    names = ["entity", "disease", "flu", "cold", "plant"]
    return build_taxonomy(names, names, [[], [0], [1], [1], [0]], root="entity", version="")


def test_a_group_with_nothing_in_common_tells_words_like_everybody(taxonomy: Taxonomy) -> None:
    """Flu and cold are diseases; a plant has nothing in common with flu."""
    rows = [(0, [2], [], 0), (1, [3], [], 0), (2, [4], [], 0), (3, [], ["best"], 0)]
    table = table_of(taxonomy, rows)
    levels = item_levels(table, taxonomy)
    form_of = {int(table.users[record]): int(table.form_of[record]) for record in range(4)}
    label_of = {0: 0, 1: 0, 2: -1, 3: -1}
    labels = np.array([label_of[int(user)] for user in table.users], dtype=np.int32)
    found = groups_of(table, labels, levels)
    disease = float(taxonomy.information[1])
    assert [found.numbers[form_of[user]] for user in range(4)] == [1, 1, 0, 0]
    assert [found.bits[form_of[user]] for user in range(4)] == [disease, disease, 0.0, 0.0]
    mixed = groups_of(table, np.where(labels == 0, 0, np.where(table.users == 2, 0, -1)), levels)
    assert mixed.numbers.tolist() == [0, 0, 0, 0]


def test_what_one_person_asks_again_is_one_unit_in_the_span_that_holds_all(
    taxonomy: Taxonomy,
) -> None:
    table = table_of(taxonomy, [(0, [2], [], hour * HOUR) for hour in (1, 1, 2, 30)])
    levels = item_levels(table, taxonomy)
    problem, unit_of = row_problem(table, levels, k=2, l=1, precision=TIME_HOUR)
    assert (problem.weights.tolist(), unit_of.tolist()) == ([4], [0, 0, 0, 0])
    month, day, hour = problem.time_cells[:, 0].tolist()
    assert (month, day, hour) == (0, -1, -1)
