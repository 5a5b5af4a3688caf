"""Charts, by hand and in principle: what is drawn is as long and as high as its numbers."""

from __future__ import annotations

import itertools
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.pages.charts import (
    Axis,
    Bar,
    Frame,
    Line,
    Mark,
    Scale,
    Series,
    even_ticks,
    flow_chart,
    flow_height,
    histogram_chart,
    line_chart,
    name_line_ends,
    ratio_ticks,
    round_step,
    share_chart,
    spread,
)
from tasks.adapters.pages.numbers import percent, short_count
from tasks.adapters.pages.page import picture_address, picture_file
from tasks.adapters.pages.svg import NAMESPACE, ROUND, SQUARE, STAR, UP, Marker, picture, words
from tasks.schema import Histogram

FRAME = Frame(100, 200, 0, 100)


def test_bars_begin_at_zero_and_are_as_long_as_their_numbers() -> None:
    found: Histogram = {"scale": "linear", "edges": [5, 6, 7], "counts": [10, 5]}
    shapes = histogram_chart(found, Mark(5, "k = 5"), "people", "rows")
    bars = [ElementTree.fromstring(shape) for shape in shapes if shape.startswith("<rect")]
    ends = {float(bar.attrib["y"]) + float(bar.attrib["height"]) for bar in bars}
    assert len(ends) == 1
    high, low = (float(bar.attrib["height"]) for bar in bars)
    assert high == pytest.approx(2 * low)


def test_a_log_scale_is_said() -> None:
    found: Histogram = {"scale": "log", "edges": [5, 7, 10, 14], "counts": [1, 2, 3]}
    shapes = "".join(histogram_chart(found, Mark(5, "k = 5"), "people", "rows"))
    assert "people (log scale)" in shapes


def test_what_flows_is_as_wide_as_its_number_and_every_name_has_its_own_place() -> None:
    parts = [Bar("most", 900), Bar("few " * 30, 1), Bar("fewer", 1), Bar("some", 98)]
    shapes = [ElementTree.fromstring(one) for one in flow_chart("all", parts, ["a", "b", "c", "d"])]
    _, most, *_, some = (float(one.attrib["height"]) for one in shapes if one.tag == "rect")
    assert most / some == pytest.approx(900 / 98, rel=0.01)
    assert sum(one.tag == "path" for one in shapes) == len(parts)
    said = [float(one.attrib["y"]) for one in shapes if one.tag == "text"]
    assert said == sorted(said)
    assert max(said) < flow_height(parts)
    assert min(after - before for before, after in pairwise(said)) >= 12


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.01, "< 0.1"), (12.34, "12.3"), (20.0, "20"), (99.99, "> 99.9"), (100, "100")],
)
def test_what_is_not_nothing_or_not_all_never_looks_like_it(value: float, said: str) -> None:
    assert percent(value) == f"{said}\N{NO-BREAK SPACE}%"


def test_axes_write_large_counts_shortly() -> None:
    assert [short_count(value) for value in (0, 9_000, 20_000, 1_500_000)] == [
        *("0", "9,000", "20k", "1,500k")
    ]


def test_ticks_are_round_and_reach_beyond_the_data() -> None:
    assert even_ticks(83) == [0, 20, 40, 60, 80, 100]
    assert even_ticks(1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert even_ticks(2, whole=True) == [0, 1, 2]
    assert ratio_ticks(3.5, 120) == [5, 10, 20, 50, 100]
    assert round_step(33, 10) == 5


def test_scales_lie_evenly_or_by_ratio() -> None:
    assert Scale(0, 10, 100, 200).at(5) == 150
    assert Scale(1, 100, 100, 200, log=True).at(10) == pytest.approx(150)


def places(shape: str) -> list[tuple[float, float]]:
    found = re.search(r'points="([^"]*)"', shape)
    assert found is not None
    pairs = (pair.split(",") for pair in found[1].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_values_in_ascending_order_are_steps_as_wide_as_their_share() -> None:
    lines = [Series("", "after", [0.0, 1.0])]
    (steps,) = (
        shape
        for shape in share_chart(lines, "share", Axis("value", [0, 1]), frame=FRAME)
        if shape.startswith("<polyline")
    )
    assert places(steps) == [(100, 100), (150, 100), (150, 0), (200, 0)]


def test_a_line_has_a_marker_at_each_of_its_points() -> None:
    lines = [Line("ours", "blue", [(1, 0), (10, 5), (100, 10)], SQUARE), Line("none", "sky", [])]
    x, axis = FRAME.across(1, 100, log=True), Axis("loss", [0, 5, 10])
    shapes = line_chart(lines, x, Axis("k", [1, 10, 100]), axis, FRAME)
    first, second = (places(shape) for shape in shapes if shape.startswith("<polyline"))
    assert first == [(100, 100), (150, 50), (200, 0)]
    assert second == []
    squares = [places(shape) for shape in shapes if shape.startswith("<polygon")]
    middles = [(sum(x for x, _ in own) / 4, sum(y for _, y in own) / 4) for own in squares]
    assert middles == [pytest.approx(place) for place in first]


def test_names_stand_beside_the_ends_of_their_lines_in_their_order() -> None:
    lines = [Line("low", "blue"), Line("high", "sky", marker=None)]
    shapes = name_line_ends(lines, [(190, 60), (190, 55)], FRAME)
    said = [ElementTree.fromstring(shape) for shape in shapes if shape.startswith("<text")]
    assert [one.text for one in said] == ["high", "low"]
    upper, lower = (float(one.attrib["y"]) for one in said)
    assert upper - 4 < 55
    assert lower - 4 > 60
    assert lower - upper >= 15


def test_places_are_moved_apart_in_both_directions() -> None:
    assert spread([10, 10, 50], 4, 100) == [8, 12, 50]
    assert spread([96, 98, 99], 4, 100) == [92, 96, 100]
    assert spread([], 4, 100) == []
    assert spread([2, 3, 4], 4, 100, 2) == [2, 6, 10]


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.5, 8))
def test_places_are_a_step_apart_and_where_there_is_room_they_stay(
    given_places: list[float], step: float
) -> None:
    ordered = sorted(given_places)
    spaced = spread(ordered, step, 100)
    gaps = [after - before for before, after in itertools.pairwise(spaced)]
    assert all(gap >= step - 1e-6 for gap in gaps)
    assert max(spaced, default=0) <= 100 + 1e-6
    if all(after - before > step for before, after in itertools.pairwise(ordered)):
        assert spaced == pytest.approx(ordered)


@pytest.mark.parametrize("marker", [SQUARE, UP, STAR])
def test_markers_lie_around_their_point(marker: Marker) -> None:
    outline = marker.outline(10, 20, 3)
    assert len(outline) == marker.corners
    assert max((x - 10) ** 2 + (y - 20) ** 2 for x, y in outline) == pytest.approx(9)
    assert sum(x for x, _ in outline) / len(outline) == pytest.approx(10)
    assert marker is not ROUND


def test_a_picture_that_stands_alone_is_light_and_asks_for_nothing() -> None:
    drawn = picture("p", "<&>", 'says "it"', (440, 20), [words("<script>", 1, 2)])
    alone = picture_file(drawn, 600)
    parsed = ElementTree.fromstring(alone)
    assert parsed.attrib["width"] == "600"
    assert parsed.findtext(f"{{{NAMESPACE}}}title") == "<&>"
    style = parsed.findtext(f"{{{NAMESPACE}}}style")
    assert style is not None
    assert "--paper: #ffffff" in style
    assert "prefers-color-scheme" not in style
    assert "http" not in alone.replace(NAMESPACE, "")
    assert picture_address(drawn, 600).startswith("data:image/svg+xml;base64,")
