"""The report: what a reader is told, for releases of every kind."""

from __future__ import annotations

import copy
import re
from html import unescape
from html.parser import HTMLParser
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from tasks.adapters.report.report import Facts, _flat, render_report
from tasks.adapters.report.verdict import lead_of
from tasks.adapters.report.words import MEANINGS, SECTIONS
from tasks.core.counted import Counted
from tasks.core.measures.public import public_measures
from tasks.core.verification.clauses import CLAUSES, Promise
from tasks.schema import FinalMeasures
from tasks.settings import Settings

PUBLIC_FIGURES = ("rows", "kept", "kept-topics")
FIGURES = (*PUBLIC_FIGURES, "people", "risk", "sizes", "cohesion", "random", "topics")
NO_HISTOGRAM: dict[str, Any] = {"scale": "linear", "edges": [], "counts": []}


@pytest.fixture
def measures(sample_measures: dict[str, object]) -> FinalMeasures:
    return cast("FinalMeasures", copy.deepcopy(sample_measures))


def promise_of(measures: FinalMeasures) -> Promise:
    settings, records = measures["settings"], measures["records"]
    return Promise(
        guarantee=settings["guarantee"],
        k=settings["k"],
        l=settings["l"],
        time=settings["time"],
        read=records["read"],
        rejected=records["rejected"],
        withheld=records["withheld"],
        published=records["published"],
        counted=Counted("people", "AnonID"),
        dominance=settings["dominance"],
    )


def render(measures: FinalMeasures, **more: Any) -> str:
    """The certificate of these measures."""
    facts = Facts(promise_of(measures), {"release.tsv": (10, "ab" * 32)}, 10, [], **more)
    return render_report(measures, facts)


def emptied(found: FinalMeasures) -> FinalMeasures:
    """The measures of a release that publishes nothing of a log without usable rows."""
    measures = cast("dict[str, Any]", found)
    for key in ("records", "users", "words", "shares", "clusters", "cohesion"):
        measures[key] = dict.fromkeys(measures[key], 0)
    risk = dict.fromkeys(("raw_expected", "raw_worst", "released_expected", "released_worst"), 0.0)
    measures["risk"] |= {**risk, "least_people": 0}
    measures["information_loss"] = {"percent": 0.0, "symmetric_percent": 0.0, "by_topic": {}}
    measures["information"] |= dict.fromkeys(measures["information"], 0.0) | {"by_topic": {}}
    measures["truth"], measures["withheld_by_reason"] = {"concepts_true": 1.0, "rows_true": 1.0}, {}
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
    for outside in ("http", "//", "url(", "src=", "@import", "<script", "<link"):
        assert outside not in page, outside
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower().split()
    ids = re.findall(r'id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="([^"]*)"', page)
    assert {f"#{name}" for name in ids} >= set(targets), "every link stays on the page"
    terms = {f"#{name}" for name in ids if name.startswith("term-")}
    assert terms <= set(targets), "no term is explained that is not used"
    for picture in pictures(page).values():
        assert picture.attrib["role"] == "img"
        assert [child.tag for child in picture][:2] == ["title", "desc"]
        assert {child.attrib["id"] for child in picture[:2]} == set(
            picture.attrib["aria-labelledby"].split()
        )


@pytest.mark.parametrize("guarantee", ["strict", "terms", "paper"])
def test_the_verdict_comes_first(measures: FinalMeasures, guarantee: str) -> None:
    measures["settings"] |= {"guarantee": guarantee, "k": 7}
    page = render(measures)
    check(page)
    head = f"Verified: {guarantee}, k = 7 people (column AnonID)."
    assert page.index(head) == page.index("<h2>") + len("<h2>")
    assert "Out of scope, in any mode" in page
    assert f"<h1>{'Release of a query log'}</h1>" in page
    assert ("verdict held" in page) is (guarantee == "strict")
    refused = render({**measures, "verified": False})
    assert f"Not verified: {guarantee}" in refused
    assert "verdict failed" in refused


def tiles(page: str) -> list[tuple[str, str]]:
    """The numbers that come first, and what they are."""
    found = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd>", page)
    return [(in_words(value), in_words(what)) for what, value in found]


def in_words(page: str) -> str:
    """What is read, without markup."""
    return unescape(re.sub(r"<[^>]*>", "", page)).replace("\N{NO-BREAK SPACE}", " ")


def test_rows_information_and_truth_lead(measures: FinalMeasures) -> None:
    measures["records"] |= {"read": 3000, "published": 1500}
    measures["shares"] |= {"published": 0.5, "with_attributes": 0.4}
    measures["shares"]["with_attributes_published"] = 0.3
    measures["information"]["kept_percent"] = 24.68
    measures["truth"]["rows_true"] = 1.0
    first = tiles(render(measures))
    assert [value for value, _ in first[:3]] == ["50 %", "24.7 %", "every row"]
    assert first[0][1] == "of the rows are published"
    assert first[2][1].startswith("is true")
    said = first[5][1]
    assert said.endswith("(40 % of all rows have some, 30 % of all have some and are published)")
    assert lead_of(measures).replace("\N{NO-BREAK SPACE}", " ") == (
        "Rows published: 1,500 of 3,000 (50 %). Information kept: 24.7 %. True: every row."
    )


def test_why_a_small_log_has_dashes_is_said(measures: FinalMeasures) -> None:
    why = "of so small a log no share is told"
    assert why not in render(measures)
    measures["basis"]["counts"]["records.read"] = 100
    measures["basis"]["people"] = {}
    for guarantee in ("strict", "paper"):
        measures["settings"]["guarantee"] = guarantee
        measures["diversity"] |= {"sensitive_classes": 9, "homogeneous_classes": 2}
        page = render(public_measures(measures))
        assert why in page
        alone = re.findall(r'<(?:td|dd)[^>]*><abbr title="not told">–</abbr></', page)
        assert page.count("–") == len(alone) > 5, "a number of its own, never within a sentence"
        said = " ".join(in_words(page).split())
        assert "Of 5 different rows" in said
        assert "fewer than 5 are homogeneous" in said
        assert "too few to tell of too few to tell rows are published" in said


def test_what_is_false_is_said_plainly(measures: FinalMeasures) -> None:
    """However little of it there is."""
    measures["settings"]["guarantee"] = "paper"
    for share, told in ((0.7, "70 %"), (0.99999, "> 99.9 %")):
        measures["truth"]["rows_true"] = share
        page = render(measures)
        assert tiles(page)[2] == (
            told,
            "of published rows are true; the others say something false of who is behind them",
        )
        assert "every row" not in {value for value, _ in tiles(page)}
        assert "of rows say something false" in lead_of(measures)
    assert "Nor need it be true" in page


def test_reasons_for_withholding_are_counted(measures: FinalMeasures) -> None:
    measures["withheld_by_reason"] = {"identifiers only": 25, "too vague to say anything": 1075}
    said = "".join(pictures(render(measures))["rows"].itertext())
    assert said.index("too vague to say anything: 1,075") < said.index("identifiers only: 25")
    measures["edition"] = {"number": 1, "release": 1}
    assert "waits: identifiers only" in render(measures)


def test_intersection_is_told_if_there_was_something_to_compare(measures: FinalMeasures) -> None:
    for records in (0, 3):
        compared = {"records": records, "least": 5, "mean": 6.0, "below_k": 0.0}
        measures["edition"] = {
            **{"number": 1, "release": 2},
            "intersection_with_earlier": compared,
        }
        assert ("Intersection: several releases" in render(measures)) is bool(records)


def test_every_clause_setting_and_figure_has_words(sample_measures: dict[str, Any]) -> None:
    """Who adds one is asked what it means to a reader."""
    assert {clause.says for clause in CLAUSES} == set(MEANINGS)
    named = {section.key: section.words for section in SECTIONS}
    assert set(Settings().published()) == set(named["settings"])
    own = {"verified", "rounded", "certificate", "figures", "basis"}
    own |= {"peak_memory_mb", "peak_disk_mb"}
    assert set(sample_measures) <= set(named) | own
    for key, labels in named.items():
        names = {
            name.partition(".")[0] if "by_" in name else name
            for name, _ in _flat(sample_measures.get(key, {}))
        }
        if key not in ("withheld_by_reason", "settings", "seconds"):
            assert names <= set(labels), key


@pytest.mark.parametrize(("finest", "bars"), [("month", 4), ("none", 3)])
def test_times_that_may_not_be_published_have_no_bar(
    measures: FinalMeasures, finest: str, bars: int
) -> None:
    measures["settings"]["time"] = finest
    assert len(pictures(render(measures))["kept"].findall("rect")) == bars


def test_every_figure_is_drawn_and_says_what_it_shows(measures: FinalMeasures) -> None:
    page = render(measures)
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
        assert topic in "".join(drawn["kept-topics"].itertext())


def test_rows_set_aside_are_counted_by_reason(measures: FinalMeasures) -> None:
    measures["figures"]["rejects"] = {"blank line": 1204, "no query": 3}
    page = render(measures)
    assert page.index("blank line") < page.index(">no query<")
    assert "1,204" in page


def test_everything_is_escaped(measures: FinalMeasures) -> None:
    evil = "<script>&\"'"
    measures["settings"] |= {"topics": evil, "columns": {evil: evil}}
    measures["information_loss"]["by_topic"] = {evil: 12.0, evil * 10: 13.0}
    measures["information"]["by_topic"] = {evil: 12.0, evil * 10: 13.0}
    measures["figures"]["rejects"] = {evil: 1}
    measures["versions"]["wordnet"] = evil
    check(render(measures))


def test_an_empty_release_has_a_report(measures: FinalMeasures) -> None:
    page = render(emptied(measures))
    check(page)
    assert "0 of 0 rows are published" in page
    assert tuple(pictures(page)) == ()
    assert page.count("Nothing to show") == len(FIGURES)


def test_a_log_without_topics_has_a_report(measures: FinalMeasures) -> None:
    measures["information_loss"]["by_topic"] = {}
    measures["information"]["by_topic"] = {}
    page = render(measures)
    check(page)
    assert set(pictures(page)) == set(FIGURES) - {"topics", "kept-topics"}


def test_rows_below_k_are_said_to_be_there(measures: FinalMeasures) -> None:
    measures["settings"]["guarantee"] = "paper"
    measures["figures"]["people_per_row"] = {
        "scale": "linear",
        "edges": [1, 2, 3, 4, 5, 6],
        "counts": [70, 10, 0, 0, 20],
    }
    page = render(measures)
    assert "80 of them, left of the dashed line, stand for fewer than k = 5 people" in page
    assert "Redacted as printed" in page
    assert "does not give k-anonymity" in page


def test_a_sample_is_called_a_sample(measures: FinalMeasures) -> None:
    assert "a random sample" not in render(measures)
    measures["figures"]["random_clusters"]["of_records"] = 64_000
    assert "of 64,000 records" in render(measures)
