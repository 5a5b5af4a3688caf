"""The figures of a comparison, where the methods are few and the numbers are odd."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.evaluation.catalogue import METHODS, RIVALS
from tasks.evaluation.contest import which_k
from tasks.evaluation.figures import LOOKS, figures, line_of, pareto_stair, shown_name
from tasks.evaluation.measures import on_pareto_front
from tests.adapters.report.test_report import check


def test_every_method_has_a_look_of_its_own() -> None:
    looks = [LOOKS[method.name] for method in (*METHODS, *RIVALS)]
    assert len(set(looks)) == len(METHODS) + len(RIVALS)
    assert line_of("a method of tomorrow").kind == "ink"
    assert shown_name("k^2") == "k²"


def test_a_stair_goes_down_through_the_front() -> None:
    assert pareto_stair([(0.2, 10.0), (0.1, 30.0), (0.2, 12.0), (0.3, 10.0)]) == [
        *((0.1, 30.0), (0.2, 30.0), (0.2, 10.0))
    ]
    assert pareto_stair([]) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_the_points_of_the_front_are_on_the_stair(points: list[tuple[int, int]]) -> None:
    front = {point for point, held in zip(points, on_pareto_front(points), strict=True) if held}
    stair = pareto_stair(points)
    assert front <= set(stair)
    assert [risk for risk, _ in stair] == sorted(risk for risk, _ in stair)


@pytest.mark.parametrize("risk", [0.0, 0.25])
def test_one_k_and_nothing_published_are_drawn_too(risk: float) -> None:
    nothing: dict[str, list[Any]] = {
        key: [] for key in ("cohesion", "cohesion_of_records", "group_loss", "loss_by_size")
    }
    cell = {
        **{"symmetric_loss": 87.5, "risk": risk},
        **{"groups_below_0_45": 0.0, "records_below_0_45": 0.0},
    }
    methods = {
        method.name: {"clusters": method.clusters, "figures": nothing, "by_k": {"5": cell}}
        for method in METHODS
    }
    front = {"5": {"front": list(methods), "adaptive_beaten_by": []}}
    entries = {"adaptive": {"least_people": 0, "scores": {}}}
    found = {
        **{"settings": {"k": 5}, "ks": [5], "methods": methods, "fronts": {"mean": front}},
        "tasks": {"raw": {"scores": {}}, "methods": entries, "verdicts": {}},
        "which_k": which_k([{"k": 5, "rows": 0.0, "information": 0.0}]),
    }
    drawn = figures(found)
    assert len(drawn) == 7
    check("".join(figure.drawn for figure in drawn))
