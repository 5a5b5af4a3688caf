"""The measures of a comparison: against those of a release, by hand, and the front."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap, map_topics
from tasks.evaluation.baselines.floors import DROPPING, ROOT, UNTOUCHED
from tasks.evaluation.baselines.greedy_rows import GREEDY
from tasks.evaluation.baselines.km_anonymity import SINGLES, WITH_PAIRS
from tasks.evaluation.catalogue import METHODS
from tasks.evaluation.measures import (
    as_release,
    binned_losses,
    cohesions,
    dominated_by,
    figure_data,
    group_losses,
    measure_outcome,
    on_pareto_front,
)
from tasks.evaluation.method import Material, Method, Outcome
from tasks.evaluation.own_methods import PRINTED_PAPER
from tests.evaluation.materials import held_by
from tests.evaluation.test_methods import materials
from tests.helpers.strategies import mini_taxonomy


def no_topics(material: Material) -> TopicMap:
    return map_topics((), material.taxonomy)


def test_a_point_is_on_the_front_unless_another_is_better_in_one_and_as_good_in_the_other() -> None:
    points = [(0.2, 10.0), (0.2, 12.0), (0.1, 30.0), (0.3, 10.0), (0.2, 10.0)]
    assert on_pareto_front(points) == [True, False, True, False, True]
    assert dominated_by(points, 1) == [0, 4]
    assert dominated_by(points, 0) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_what_is_not_on_the_front_is_beaten_by_something_that_is(
    points: list[tuple[int, int]],
) -> None:
    front = on_pareto_front(points)
    assert any(front)
    for place, held in enumerate(front):
        assert held != any(front[other] for other in dominated_by(points, place))


def test_groups_that_publish_the_same_are_one_class_and_nothing_is_withheld() -> None:
    rows = [np.array([3], np.int32), np.zeros(0, np.int32), np.array([3], np.int32)]
    release = as_release(Outcome(np.array([0, 1, 2, -1], np.int32), rows))
    assert release.class_of.tolist() == [0, -1, 0, -1]
    assert release.concepts.tolist() == [3]


def test_measures_by_hand() -> None:
    """Of four records two are dropped, two are shared by two people."""
    material = held_by(mini_taxonomy(), (0, [5]), (1, [5]), (2, [8]), (2, [8]))
    found = measure_outcome(material, DROPPING.apply(material, 2), no_topics(material), 2)
    # The centre is {5}, at no cost to the first two; δ(8, 5) is 1, and so is what is dropped.
    assert (found["withheld"], found["risk"], found["worst_risk"]) == (0.5, 0.25, 0.5)
    assert (found["loss"], found["symmetric_loss"]) == (100.0, 50.0)
    assert (found["groups"], found["least_people"], found["records_below_k"]) == (1, 2, 0)
    assert (found["groups_below_0_45"], found["records_below_0_45"]) == (1.0, 0.5)


def test_untouched_loses_nothing_and_hides_nobody_the_root_the_other_way_round() -> None:
    material = held_by(mini_taxonomy(), (0, [5]), (1, [6]), (2, [8]))
    raw = measure_outcome(material, UNTOUCHED.apply(material, 2), no_topics(material), 2)
    assert (raw["symmetric_loss"], raw["worst_risk"], raw["records_below_k"]) == (0.0, 1.0, 3)
    assert raw["records_below_0_45"] == 0.0
    root = measure_outcome(material, ROOT.apply(material, 2), no_topics(material), 2)
    assert root["risk"] == pytest.approx(1 / 3)
    assert root["loss"] > 100.0


def test_a_false_concept_is_told_and_keeps_nothing() -> None:
    """As printed {5} stays; of {6, 8} 6 becomes 5, which is false, and 8 becomes 4, above it."""
    material = held_by(mini_taxonomy(), (0, [5]), (1, [6, 8]))
    found = measure_outcome(material, PRINTED_PAPER.apply(material, 2), no_topics(material), 2)
    assert found["false_concepts"] == pytest.approx(1 / 3)
    assert found["rows_published"] == 1.0
    bits = material.taxonomy.information
    # Three words of 10 bits each, more than any concept.
    assert found["information_kept"] == pytest.approx(100 * (bits[5] + bits[4]) / 30)


def test_a_row_is_measured_with_its_words_and_a_typed_word_is_its_concept() -> None:
    """Two type c5, one c8 that nobody shares; the row is a word, its concept is not lost."""
    material = held_by(mini_taxonomy(), (0, [5]), (1, [5]), (2, [8]))
    outcome = GREEDY.apply(material, 2)
    assert outcome.rows is not None
    assert len(outcome.rows.concepts) == 0
    assert [row.tolist() for row in outcome.published] == [[5]]
    found = measure_outcome(material, outcome, no_topics(material), 2)
    assert found["information_kept"] == pytest.approx(200 / 3)
    assert found["rows_published"] == pytest.approx(2 / 3)
    assert (found["false_concepts"], found["least_people"], found["worst_risk"]) == (0.0, 2, 0.5)
    # The centre is {5}: all that is lost is what the third record holds.
    assert found["loss"] == 100.0


@settings(max_examples=25, deadline=None)
@given(materials(), st.sampled_from([PRINTED_PAPER, SINGLES, WITH_PAIRS, DROPPING, ROOT]))
def test_groups_and_what_is_withheld_make_up_the_whole_loss(
    given_material: tuple[Material, int], method: Method
) -> None:
    """Eq. 11 by groups against the measure of a release, which sees withheld records too."""
    material, k = given_material
    outcome = method.apply(material, k)
    losses = group_losses(material, outcome)
    everybody = Outcome(np.where(material.holding, 0, -1).astype(np.int32), [np.zeros(0, np.int32)])
    inside = Outcome(np.where(outcome.labels >= 0, 0, -1).astype(np.int32), everybody.published)
    whole, held = group_losses(material, everybody), group_losses(material, inside)
    apart = whole.error.sum() - (held.error.sum() if (outcome.labels >= 0).any() else 0.0)
    expected = measure_outcome(material, outcome, no_topics(material), k)["symmetric_loss"]
    if whole.total.sum() > 0:
        total = 100 * (losses.error.sum() + apart) / whole.total.sum()
        assert total == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(materials(), st.sampled_from(METHODS))
def test_figures_are_bounded_and_complete(
    given_material: tuple[Material, int], method: Method
) -> None:
    material, k = given_material
    outcome = method.apply(material, k)
    figures = figure_data(material, outcome)
    assert (
        len(figures["cohesion"]) == len(figures["group_loss"]) == min(200, len(outcome.published))
    )
    assert sum(point["groups"] for point in figures["loss_by_size"]) == len(outcome.published)
    assert sum(p["records"] for p in figures["loss_by_size"]) == int((outcome.labels >= 0).sum())
    assert ((cohesions(material, outcome) >= 0) & (cohesions(material, outcome) <= 1)).all()


def test_sizes_are_taken_together_up_to_each_power_of_two() -> None:
    material = held_by(mini_taxonomy(), *((user, [8]) for user in range(9)))
    labels = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2], dtype=np.int32)
    losses = group_losses(material, Outcome(labels, [np.array([8], np.int32)] * 3))
    found = binned_losses(np.bincount(labels), losses)
    assert [(p["mean_size"], p["groups"], p["records"]) for p in found] == [
        (1.0, 1, 1),
        (3.0, 1, 3),
        (5.0, 1, 5),
    ]
