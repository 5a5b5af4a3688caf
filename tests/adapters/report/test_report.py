"""The report: what a reader is told, for releases of every kind."""

from __future__ import annotations

import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from tasks.adapters.report.report import render_report, write_report
from tasks.schema import FinalMeasures

FIGURES = ("rows", "people", "risk", "sizes", "cohesion", "random", "topics")
NO_HISTOGRAM: dict[str, Any] = {"scale": "linear", "edges": [], "counts": []}


@pytest.fixture
def measures(sample_measures: dict[str, object]) -> FinalMeasures:
    return cast("FinalMeasures", copy.deepcopy(sample_measures))


def emptied(found: FinalMeasures) -> FinalMeasures:
    """The measures of a release that publishes nothing of a log without usable rows."""
    measures = cast("dict[str, Any]", found)
    for key in ("records", "users", "words", "shares", "clusters", "cohesion"):
        measures[key] = dict.fromkeys(measures[key], 0)
    risk = dict.fromkeys(("raw_expected", "raw_worst", "released_expected", "released_worst"), 0.0)
    measures["risk"] = risk
    measures["information_loss"] = {"percent": 0.0, "symmetric_percent": 0.0, "by_topic": {}}
    measures["figures"] |= {
        "distinct": {"queries": 0, "sets": 0, "published_rows": 0},
        "cohesion": [],
        "cluster_sizes": NO_HISTOGRAM,
        "people_per_row": NO_HISTOGRAM,
        "risk": {"raw": [], "released": []},
        "random_clusters": {
            **{"clusters": 0, "records": 0, "of_records": 0},
            **{"own_percent": 0.0, "random_percent": []},
        },
    }
    return found


def pictures(page: str) -> dict[str, ElementTree.Element]:
    """The page's pictures by name; each is well-formed."""
    drawn = map(ElementTree.fromstring, re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    return {
        one.attrib["aria-labelledby"].split()[0].removesuffix("-title"): one
        for one in drawn
        if "role" in one.attrib
    }


class Nesting(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(page: str) -> None:
    """What holds for every report."""
    nesting = Nesting()
    nesting.feed(page)
    assert nesting.open == []
    for outside in ("http", "//", "url(", "src=", "href=", "@import", "<script", "<link"):
        assert outside not in page, outside
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower().split()
    ids = re.findall(r'id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    for picture in pictures(page).values():
        assert picture.attrib["role"] == "img"
        assert [child.tag for child in picture][:2] == ["title", "desc"]
        assert {child.attrib["id"] for child in picture[:2]} == set(
            picture.attrib["aria-labelledby"].split()
        )


@pytest.mark.parametrize("guarantee", ["strict", "terms", "paper"])
def test_the_verdict_comes_first(tmp_path: Path, measures: FinalMeasures, guarantee: str) -> None:
    measures["settings"] |= {"guarantee": guarantee, "k": 7}
    write_report(tmp_path / "report.html", measures)
    page = (tmp_path / "report.html").read_text()
    check(page)
    head = f"Verified: {guarantee}, k = 7."
    assert page.index(head) == page.index("<h2>") + len("<h2>")
    assert "Not promised" in page
    assert ("verdict held" in page) is (guarantee == "strict")
    refused = render_report({**measures, "verified": False})
    assert f"Not verified: {guarantee}" in refused
    assert "verdict failed" in refused


def test_every_figure_is_drawn_and_says_what_it_shows(measures: FinalMeasures) -> None:
    page = render_report(measures)
    check(page)
    drawn = pictures(page)
    assert tuple(drawn) == FIGURES
    risk = "".join(drawn["risk"].itertext())
    assert "1/5" in risk
    assert "chance of the right person" in risk
    assert "k = 5" in "".join(drawn["people"].itertext())
    dots = drawn["cohesion"].findall("circle")
    assert len(dots) == measures["clusters"]["count"]
    counts = measures["figures"]["people_per_row"]["counts"]
    assert len(drawn["people"].findall("rect")) == len(counts)
    for topic in measures["information_loss"]["by_topic"]:
        assert topic in "".join(drawn["topics"].itertext())


def test_the_page_shows_nothing_that_is_not_in_the_measures(measures: FinalMeasures) -> None:
    """It is made from the measures alone, and rows set aside are counted, not shown."""
    measures["figures"]["rejects"] = {"blank line": 1204, "no query": 3}
    page = render_report(measures)
    assert page.index("blank line") < page.index("no query")
    assert "1,204" in page


def test_everything_is_escaped(measures: FinalMeasures) -> None:
    evil = "<script>&\"'"
    measures["settings"] |= {"topics": evil, "columns": {evil: evil}}
    measures["information_loss"]["by_topic"] = {evil: 12.0, evil * 10: 13.0}
    measures["figures"]["rejects"] = {evil: 1}
    measures["versions"]["wordnet"] = evil
    check(render_report(measures))


def test_an_empty_release_has_a_report(measures: FinalMeasures) -> None:
    page = render_report(emptied(measures))
    check(page)
    assert "0 of 0 rows are published" in page
    assert tuple(pictures(page)) == ("rows",)
    assert page.count("Nothing to show") == len(FIGURES) - 1


def test_a_log_without_topics_has_a_report(measures: FinalMeasures) -> None:
    measures["information_loss"]["by_topic"] = {}
    page = render_report(measures)
    check(page)
    assert set(pictures(page)) == set(FIGURES) - {"topics"}


def test_rows_below_k_are_said_to_be_there(measures: FinalMeasures) -> None:
    measures["settings"]["guarantee"] = "paper"
    measures["figures"]["people_per_row"] = {
        "scale": "linear",
        "edges": [1, 2, 3, 4, 5, 6],
        "counts": [70, 10, 0, 0, 20],
    }
    page = render_report(measures)
    assert "80 of them, left of the dashed line, stand for fewer than k = 5 people" in page
    assert "Redacted as printed" in page
    assert "does not give k-anonymity" in page


def test_a_sample_is_called_a_sample(measures: FinalMeasures) -> None:
    assert "a random sample" not in render_report(measures)
    measures["figures"]["random_clusters"]["of_records"] = 64_000
    assert "of 64,000 records" in render_report(measures)
