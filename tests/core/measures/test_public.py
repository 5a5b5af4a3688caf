"""Public figures: every one has a rounding, and whoever is removed moves none by more than that."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.diversity import sensitive_sets
from tasks.core.measures.basis import ROWS_PER_K, WORDS_PER_ROW, public_basis
from tasks.core.measures.counts import unchanged
from tasks.core.measures.public import (
    DROPPED,
    PUBLIC,
    down_the_series,
    down_to,
    nearest,
    public_measures,
    rounding_of,
)
from tasks.core.measures.standing import standing_of
from tasks.core.records import TIME_DAY, RecordTable, Release
from tasks.core.redaction.by_record import publish_each
from tasks.core.taxonomy import Taxonomy
from tasks.schema import Basis, FinalMeasures
from tests.core.measures.test_risk import unclustered
from tests.helpers.random_logs import tables
from tests.oracles.redaction import form_by_form


def names(section: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for own, value in section.items():
        if isinstance(value, dict) and value:
            yield from names(value, f"{before}{own}.")
        else:
            yield before + own


@pytest.fixture
def measures(sample_measures: dict[str, object]) -> FinalMeasures:
    return cast("FinalMeasures", copy.deepcopy(sample_measures))


def test_every_figure_has_a_rounding(measures: FinalMeasures) -> None:
    """Whoever adds a figure says in PUBLIC how it is published, or that it is internal."""
    told = {**measures, "edition": {"number": 1, "release": 1, "waiting": 7}, "shards": {"f": {}}}
    del told["rounded"]
    assert [name for name in names(told) if rounding_of(name) is None] == []
    tops = {known.partition(".")[0] for known in PUBLIC}
    declared = set(FinalMeasures.__required_keys__ | FinalMeasures.__optional_keys__)
    assert declared - {"rounded"} == tops


def test_a_figure_without_a_rounding_is_not_published(measures: FinalMeasures) -> None:
    cast("dict[str, Any]", measures)["users"] |= {"named": 3}
    cast("dict[str, Any]", measures)["new"] = 17
    public = cast("dict[str, Any]", public_measures(measures))
    assert public["users"]["named"] is None
    assert public["new"] is None


def test_the_keys_stay(measures: FinalMeasures) -> None:
    public = public_measures(measures)
    assert set(measures) - set(DROPPED) == set(public)
    for key in ("records", "users", "words", "clusters", "cohesion", "risk", "pairs", "seconds"):
        assert set(cast("Any", measures)[key]) == set(cast("Any", public)[key]), key
    assert public["rounded"]
    assert not measures["rounded"]


def test_nothing_below_k_is_told(measures: FinalMeasures) -> None:
    k = measures["settings"]["k"]
    basis = measures["basis"]
    for name in basis["counts"]:
        if name.startswith(("records", "identifiers", "withheld")):
            basis["people"][name] = k - 1
    measures["users"]["published"] = k - 1
    public = public_measures(measures)
    assert set(public["records"].values()) == {None}
    assert set(public["identifiers"].values()) == {None}
    assert public["withheld_by_reason"] == {}
    assert public["users"]["published"] is None


def test_of_a_small_log_no_share_is_told(measures: FinalMeasures) -> None:
    measures["basis"]["counts"]["records.read"] = 40 * 10 * measures["settings"]["k"] - 1
    public = public_measures(measures)
    assert set(public["shares"].values()) == {None}
    assert public["information"]["kept_percent"] is None
    assert public["truth"] == {"concepts_true": 1.0, "rows_true": 1.0}, "that is proven"


def test_of_other_guarantees_no_bound_is_told_that_does_not_hold(measures: FinalMeasures) -> None:
    measures["settings"]["guarantee"] = "paper"
    public = public_measures(measures)
    assert public["risk"]["least_people"] is None
    assert public["risk"]["released_worst"] is None


@given(st.integers(0, 10**7), st.integers(1, 500))
def test_one_step_of_a_multiple_is_one_contribution(value: int, step: int) -> None:
    told, less = down_to(value, step) or 0, down_to(max(0, value - step), step) or 0
    assert told <= value < told + step
    assert told - less in (0, step)


@given(st.integers(1, 10**7))
def test_half_is_at_most_one_step_down_the_series(value: int) -> None:
    members = [first * 10**power for power in range(8) for first in (1, 2, 5)]
    told = down_the_series(value, 1)
    assert told == max(member for member in members if member <= value)
    less = down_the_series(-(-value // 2), 1)
    assert members.index(told) - members.index(cast("int", less)) in (0, 1)
    assert down_the_series(value, value + 1) is None


@given(st.floats(0, 100), st.sampled_from([0.05, 0.1, 5, 10]))
def test_nearest_is_near(value: float, step: float) -> None:
    assert abs(nearest(value, step) - value) <= step / 2 + 1e-6


K = 2


def basis_of(log: tuple[Taxonomy, RecordTable], release: Release) -> Basis:
    taxonomy, table = log
    masks = (np.arange(len(taxonomy)) % 3 == 1).astype(np.uint32)
    topics = TopicMap(("a topic",), masks)
    sets = sensitive_sets(table, topics.sensitive)
    standing, same = standing_of(table, release), unchanged(table, release)
    return public_basis(standing, taxonomy, topics, sets, same, k=K, finest=TIME_DAY)


def without(table: RecordTable, release: Release, user: int) -> tuple[RecordTable, Release]:
    """As if somebody had never been there, and nothing else had changed."""
    kept = table.users != user
    return (
        replace(
            table,
            form_of=table.form_of[kept],
            users=table.users[kept],
            times=table.times[kept],
            log_rows=table.log_rows[kept],
        ),
        replace(release, class_of=release.class_of[kept], reasons=release.reasons[kept]),
    )


@given(tables(least=2, most=60, users=3), st.integers(0, 2))
def test_one_person_changes_no_count_by_more_than_their_rows(
    log: tuple[Taxonomy, RecordTable], user: int
) -> None:
    """With up to three times the rows with which one person counts."""
    taxonomy, table = log
    none = np.zeros(0, dtype=np.int32)
    terms = {form: [form % 3, 7][: form % 3] for form in range(len(table.forms))}
    release = publish_each(
        table, unclustered(table), form_by_form(lambda form, label: (terms[form], none))
    )
    fewer, rest = without(table, release, user)
    before, after = basis_of(log, release), basis_of((taxonomy, fewer), rest)
    for name, value in before["counts"].items():
        most = K * ROWS_PER_K * (WORDS_PER_ROW if name.startswith("words") else 1)
        assert 0 <= value - after["counts"][name] <= most, name
    for name, people in before["people"].items():
        assert 0 <= people - after["people"][name] <= 1, name
    own = [int((table.users == person).sum()) for person in set(table.users.tolist())]
    assert before["counts"]["records.read"] == sum(min(rows, K * ROWS_PER_K) for rows in own)
