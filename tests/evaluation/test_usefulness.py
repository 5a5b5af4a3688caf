"""The six tasks: against a slow version of each, at their ends, and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records import RecordTable
from tasks.core.taxonomy import Taxonomy
from tasks.evaluation.baselines.greedy_rows import greedy_rows
from tasks.evaluation.contest import earlier_records, only_records, verdicts, which_k
from tasks.evaluation.method import without_times
from tasks.evaluation.usefulness import (
    CACHE_SHARE,
    DEPTHS,
    SEEDS,
    SUGGESTED,
    SUGGESTED_DEPTH,
    TASKS,
    TOPS,
    Rows,
    Usefulness,
    raw_rows,
    told_rows,
)
from tests.helpers.random_logs import table_of, tables
from tests.helpers.strategies import mini_taxonomy
from tests.oracles import usefulness as oracle


def asked_of(taxonomy: Taxonomy, table: RecordTable) -> Usefulness:
    earlier = earlier_records(table)
    first, last = (raw_rows(only_records(table, own)) for own in (earlier, ~earlier))
    return Usefulness(raw_rows(table), first, last, taxonomy, table.fillers, vaguest=0.0)


def nothing(table: RecordTable) -> Rows:
    return told_rows(table, without_times(np.full(len(table), -1, np.int32), [], [], []))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_the_raw_log_has_1_and_an_empty_release_0(log: tuple[Taxonomy, RecordTable]) -> None:
    asked, empty = asked_of(*log), nothing(log[1])
    full, none = asked.scores(asked.raw, asked.earlier), asked.scores(empty, empty)
    assert tuple(full) == tuple(none) == TASKS
    for task in TASKS:
        one, other = full[task], none[task]
        if one is not None and other is not None:
            assert one.score == pytest.approx(1.0, abs=1e-6)
            assert other.score == 0.0
        else:
            assert one is other is None


@settings(max_examples=80, deadline=None)
@given(tables(), st.integers(2, 4), st.lists(st.floats(0.2, 9.0), min_size=30, max_size=30))
def test_every_task_is_as_its_definition_says(
    log: tuple[Taxonomy, RecordTable], k: int, noisy: list[float]
) -> None:
    taxonomy, table = log
    asked = asked_of(taxonomy, table)
    release = greedy_rows(table, taxonomy, k, vaguest=0.0)
    told = told_rows(table, release)
    told = replace(told, counts=np.round(noisy, 1)[: len(told.counts)])
    scores = asked.scores(told, told)
    raw, rows = oracle.rows_of(asked.raw), oracle.rows_of(told)
    earlier, later = oracle.rows_of(asked.earlier), oracle.rows_of(asked.later)

    def words(row: oracle.Row) -> list[int]:
        return [word for word in row[0] if not table.fillers[word]]

    def shallow(row: oracle.Row) -> list[int]:
        return [oracle.called(taxonomy, concept, SUGGESTED_DEPTH) for concept in row[2]]

    near, said = oracle.counts(raw, rows, taxonomy, 0.0)
    expected = {
        "mass": oracle.mass(raw, rows, taxonomy),
        "top": oracle.top(raw, rows, TOPS),
        "topics": oracle.topics(raw, rows, taxonomy, DEPTHS),
        "cache": oracle.cache(earlier, later, rows, CACHE_SHARE),
        "suggestions": oracle.mean(
            oracle.suggestions(raw, rows, name, SEEDS, SUGGESTED) for name in (words, shallow)
        ),
        "counts": near,
    }
    for task, value in expected.items():
        found = scores[task]
        assert (None if found is None else found.score) == (
            None if value is None else pytest.approx(value, abs=1e-6)
        ), task
    if scores["counts"] is not None:
        assert scores["counts"].beside == pytest.approx(said)


def test_a_general_concept_counts_by_what_it_says_of_the_special_one() -> None:
    """3 lies above 5: told instead of it, it keeps the share of bits."""
    taxonomy = mini_taxonomy()
    table = table_of(taxonomy, [(0, [5], [], 0), (1, [5], [], 0)])
    rows = without_times(np.zeros(2, np.int32), [[-1 - 3]], [[3]], [0])
    found = asked_of(taxonomy, table).mass(told_rows(table, rows))
    assert found is not None
    bits = taxonomy.information
    assert found.parts == {"words": 0.0, "concepts": pytest.approx(bits[3] / bits[5])}


def test_a_half_of_a_log_is_the_log_of_that_half() -> None:
    taxonomy = mini_taxonomy()
    rows = [(0, [5], ["cheap"], 3), (1, [8], [], 1), (2, [], ["best"], 2), (3, [5, 8], [], 0)]
    table = table_of(taxonomy, rows)
    earlier = earlier_records(table)
    half, alone = only_records(table, earlier), table_of(taxonomy, [rows[3], rows[1]])
    assert half.times.tolist() == alone.times.tolist()
    assert half.users.tolist() == alone.users.tolist()
    for name in ("sets", "forms"):
        for field in type(getattr(half, name)).__slots__:
            if field != "item_words":
                own = getattr(getattr(half, name), field)
                assert own.tolist() == getattr(getattr(alone, name), field).tolist(), field
    assert half.set_of.tolist() == alone.set_of.tolist()
    said = [half.words[word] for word in half.forms.item_words]
    assert said == [alone.words[word] for word in alone.forms.item_words]


def test_the_recommended_k_is_where_the_curve_bends() -> None:
    falling = [0.9, 0.88, 0.85, 0.5, 0.1]
    points = [{"k": k, "rows": v} for k, v in zip((2, 4, 8, 16, 32), falling, strict=True)]
    assert which_k(points)["k"] == 8
    straight = [{"k": 2.0**n, "rows": 1 - 0.2 * n} for n in range(1, 5)]
    assert which_k(straight)["k"] is None
    assert which_k(points[:2])["k"] is None


def test_only_who_holds_k_can_be_best() -> None:
    entries = {
        "ours": {"least_people": 5, "scores": {"mass": 0.5, "top": 0.95}},
        "open": {"least_people": 1, "scores": {"mass": 0.9, "top": 0.99}},
        "other": {"least_people": 7, "scores": {"mass": 0.6, "top": 0.1}},
    }
    found = verdicts(entries, "ours", 5)
    assert [found["mass"]["best"], found["top"]["best"]] == ["other", "ours"]
    assert not found["mass"]["within_a_tenth_of_raw"]
    assert found["top"]["within_a_tenth_of_raw"]
