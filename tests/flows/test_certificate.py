"""The certificate read as a program would, and what may change in it with one person."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import pytest

from flows.inbox import main as inbox
from flows.run import main as run
from flows.verify import main as verify
from tasks.adapters.pages.numbers import count, percent, share, shown
from tasks.adapters.report.examples import MOST_LISTED
from tasks.adapters.report.report import TEMPLATES
from tasks.adapters.report.words import GLOSSARY
from tasks.settings import SAMPLE_LOG, Settings
from tests.adapters.report.test_report import check
from tests.flows.test_public_figures import figures, moved_too_far, site, some_rows, write_log
from tests.helpers.figures import internal_measures, internal_report
from tests.helpers.stores import prepared_store

SAID = {
    "--title": "Queries of <our> library",
    "--purpose": "research on health & search",
    "--operator": "The library",
    "--approver": "J. Doe",
    "--review-date": "2027-01-31",
    "--contact": "privacy desk, room 5",
    "--licence": "CC BY 4.0",
}
DAY, NEXT_DAY = "1790000000", "1790100000"
OWN = ("figures.", "basis.", "rounded.", "certificate.", "shards.", "verified", "peak_")
"""Figures that the page draws, or says in its own way."""
NUMBER = re.compile(r"\d[\d,.]*\b(?: %)?")
IN_WORDS = {
    "proven": {"2"},
    "risk": {*("27559", "6.2", "8.2.3", "7.3.2", "800", "188", "29", "05", "2014"), "1", "2"},
    "limits": {"1"},
    "check": {"256"},
    "all": {"0", "1", "10", "11", "13", "0.45"},
}
"""Numbers that are words of the page: names of standards and equations, 1 of so many, k − 1."""


class Figure(NamedTuple):
    """A figure on the page: its name in measures.json, its value, and what is read."""

    name: str
    value: Any
    text: str


class FigureReader(HTMLParser):
    """Collects the data elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Figure] = []
        self._open: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "data":
            self._open = dict(attrs)

    def handle_data(self, data: str) -> None:
        if self._open:
            name, value = self._open["data-figure"], self._open["value"]
            self.found.append(Figure(str(name), json.loads(str(value)), data))
            self._open = {}


def figures_on(page: str) -> list[Figure]:
    reader = FigureReader()
    reader.feed(page)
    return reader.found


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.fixture(scope="module", params=["strict", "terms", "paper"])
def released(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, store: Path
) -> Path:
    out: Path = tmp_path_factory.mktemp("certificate") / "release"
    options = ["--bare", "--quiet", "--guarantee", request.param, "--out", str(out)]
    assert run([*options, "--store", str(store)]) == 0
    return out


def both_editions(out: Path, store: Path) -> list[tuple[str, dict[str, Any]]]:
    public = json.loads((out / "measures.json").read_text())
    internal = internal_report(store, out), internal_measures(store, out)
    return [((out / "report.html").read_text(), public), internal]


def test_every_figure_is_that_of_the_measures(released: Path, store: Path) -> None:
    for page, measures in both_editions(released, store):
        known, found = dict(figures(measures)), figures_on(page)
        assert {one.name: one.value for one in found if known[one.name] != one.value} == {}
        for one in found:
            ways = [write(one.value) for write in (count, share, percent) if is_number(one.value)]
            assert one.text in (*ways, shown(one.value)), one
        told = {
            name
            for name, value in known.items()
            if value not in (None, "", []) and not name.startswith(OWN)
        }
        assert told - {one.name for one in found} == set(), "every figure is there"


def test_what_is_drawn_is_that_of_the_measures(released: Path, store: Path) -> None:
    """Bars say a percentage of the measures; the streams of rows add up to all that were read."""
    (public, rounded), (internal, exact) = both_editions(released, store)
    for page, measures in ((public, rounded), (internal, exact)):
        numbers = [value for _, value in figures(measures) if is_number(value)]
        halos = re.findall(r'<text class="label strong halo"[^>]*>([^<]*)<', page)
        drawn = [unescape(text) for text in halos]
        assert len(drawn) > 4
        means = [mean(exact["figures"]["random_clusters"]["random_percent"] or [0])]
        assert set(drawn) <= {percent(number) for number in [*numbers, *means]}
    streams = re.findall(r'<text class="label strong"[^>]*>([\d,]+) \(', internal)
    assert sum(int(rows.replace(",", "")) for rows in streams) == exact["records"]["read"]


def numbers_in(text: str) -> list[str]:
    return NUMBER.findall(" ".join(text.split()))


def test_every_other_number_is_that_of_the_measures_or_a_word(released: Path, store: Path) -> None:
    for page, measures in both_editions(released, store):
        assert len(dict(captions_on(page))) == (3 if measures["rounded"] else 9)
        account_for_numbers(page, measures, released)


def account_for_numbers(
    page: str, measures: dict[str, Any], released: Path, more: Mapping[str, str] = {}
) -> None:
    """Those beside the data elements, in captions and sentences; ticks of axes are round.

    Args:
        more: what sections tell beside the measures.
    """
    settings, own = measures["settings"], re.sub(r"<data .*?</data>|[0-9a-f]{64}", "", page)
    rows = count(len((released / "release.tsv").read_text().splitlines()) - 1)
    captions = dict(captions_on(own))
    assert {name: numbers_in(said) for name, said in captions.items()} == {
        name: numbers_in(" ".join(said))
        for name, said in expected_captions(measures).items()
        if name in captions
    }
    parts = dict(sections_of(re.sub(r"<figcaption>.*?</figcaption>", "", own)))
    assert numbers_in(parts.pop("verdict")) == numbers_in(" ".join(first_said(measures, rows)))
    template = re.sub(r"{[{%].*?[}%]}", "", (TEMPLATES / "method.html").read_text())
    assert numbers_in(parts.pop("method")) == numbers_in(text_of(template))
    glossary = " ".join(f"{word} {meaning}" for word, meaning in GLOSSARY.items())
    assert numbers_in(parts.pop("glossary")) == numbers_in(glossary)
    assert parts.pop("examples"), "they have a test of their own"
    known = {
        "check": " ".join(count(path.stat().st_size) for path in released.iterdir()),
        "proven": f"{rows} {settings['k']} {share(settings['dominance'])}",
        **more,
    }
    for name, text in parts.items():
        told = {*numbers_in(known.get(name, "")), *IN_WORDS.get(name, ())}
        assert {*numbers_in(text)} <= told, name


def captions_on(page: str) -> Iterator[tuple[str, str]]:
    """What is said below each picture, which is what its description says."""
    figure = r'<svg [^>]*aria-labelledby="([\w-]*)-title.*?<desc[^>]*>(.*?)</desc>.*?</svg>'
    for name, read_out, said in re.findall(
        figure + r"\s*<figcaption>(.*?)</figcaption>", page, re.DOTALL
    ):
        assert read_out == said
        yield name, unescape(said)


def sections_of(page: str) -> Iterator[tuple[str, str]]:
    """The text of each section without pictures; rows of the release have tests of their own."""
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
    page = re.sub(r"<table>\s*<caption>Homogeneous rows.*?</table>", "", page, flags=re.DOTALL)
    first, *others = re.split(r'<section (?:id|class)="(\w+)', page)
    yield "head", text_of(first)
    for name, text in zip(others[::2], others[1::2], strict=True):
        yield name, text_of(f"<section {text}")


def first_said(measures: dict[str, Any], rows: str) -> list[str]:
    """The verdict, the promise, and how much there is."""
    records, users, k = measures["records"], measures["users"], str(measures["settings"]["k"])
    promise = {"strict": [k], "terms": [k, k], "paper": ["5"]}[measures["settings"]["guarantee"]]
    limit = [str(measures["rounded"]["rows"])] if measures["rounded"] else []
    counts = [records[name] for name in ("published", "read", "withheld", "rejected")]
    counts += [users["published"], users["read"]]
    return [k, *promise, rows, *limit, *map(count, counts)]


def expected_captions(measures: dict[str, Any]) -> dict[str, list[str]]:
    """The numbers in the captions, by figure."""
    told = {
        "rows": list(fates(measures)),
        "kept": [percent(measures["information"]["kept_percent"])],
        "kept-topics": [],
    }
    if measures["rounded"]:
        return told
    risk, sizes, loss = measures["risk"], measures["clusters"], measures["information_loss"]
    shares, cohesion, drawn = measures["shares"], measures["cohesion"], measures["figures"]
    people, random = drawn["people_per_row"], drawn["random_clusters"]["random_percent"]
    k, both = measures["settings"]["k"], percent(loss["symmetric_percent"])
    behind = zip(people["edges"], people["counts"], strict=False)
    few = sum(rows for edge, rows in behind if edge < k)
    raw, released = (
        [share(risk[f"{of}_{way}"]) for way in ("expected", "worst")] for of in ("raw", "released")
    )
    below = [share(cohesion[f"{what}_below_0_45"]) for what in ("clusters", "records")]
    held = shares["with_attributes"]
    published = count(drawn["random_clusters"]["of_records"])
    printed = measures["settings"]["guarantee"] == "paper"
    return {
        **told,
        "people": [count(sum(people["counts"])), *([count(few)] if few else []), str(k)],
        "risk": [percent(0), *raw, *released, "1"],
        "sizes": [
            *(count(sizes[name]) for name in ("count", "min_size", "max_size")),
            *(f"{sizes['median_size']:g}", count(sizes["min_users"])),
        ],
        "cohesion": ["0", "1", *below, "0.45", "10", "4"],
        "random": [
            *(str(len(random)), "6", percent(min(random)), percent(max(random)), published),
            *([both] if printed else []),
        ],
        "topics": [
            *("11", percent(100), percent(loss["percent"]), both),
            *(share(held), share(shares["with_attributes_published"] / held)),
        ],
    }


def fates(measures: dict[str, Any]) -> Iterator[str]:
    """Rows changed, as they were, withheld by reason, set aside: those that there are."""
    records, shares = measures["records"], measures["shares"]
    changed = min(records["published"], round((shares["changed"] or 0) * records["read"]))
    reasons = sorted(measures["withheld_by_reason"].values(), reverse=True)
    parts = [changed, records["published"] - changed, *reasons, records["rejected"] or 0]
    for rows in filter(None, parts):
        part = 100 * rows / sum(parts)
        rounded = percent(5 * round(part / 5) or 5)
        yield rounded if measures["rounded"] else f"{count(rows)} {percent(part)}"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def test_every_clause_that_is_proven_is_there_and_means_something(
    released: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert verify([str(released), "--store", str(store)]) == 0
    printed = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    proven, notes = ([said for kind, said in printed if kind == own] for own in ("proven", "note"))
    assert len(proven) > 15
    for page, _ in both_editions(released, store):
        text = text_of(page)
        for said in (*proven, *notes):
            assert said.removeprefix("release.tsv: ") in text
        rows = re.findall(r'data-head="what it means">([^<]*)<', page)
        assert len(rows) == len(proven) - 1, "all but that of the folder's files"
        assert all(row.endswith(".") for row in rows)


def test_the_public_certificate_tells_no_exact_number(released: Path, store: Path) -> None:
    (public, _), (_, exact) = both_editions(released, store)
    # A digest may hold any digits.
    said = re.sub(r"[0-9a-f]{64}", "", text_of(public)).replace("NIST SP 800-188", "NIST's")
    for name in ("read", "withheld", "with_attributes"):
        assert count(exact["records"][name]) not in said.replace("bytes", ""), name
    (digest,) = (file[1] for file in logs_of(internal_report(store, released)))
    assert digest not in public
    assert "not published: a digest would let anybody confirm a log that they guess" in said


def test_examples_are_rows_of_the_file_and_their_people_are_internal(
    released: Path, store: Path
) -> None:
    lines = (released / "release.tsv").read_text().splitlines()
    rows: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for line, number in Counter(lines[1:]).items():
        rows[tuple(line.split("\t")[:3])].add(count(number))
    guarantee = json.loads((released / "manifest.json").read_text())["settings"]["guarantee"]
    promised = "at least 5" if guarantee == "strict" else "not told"
    for (page, _), public in zip(both_editions(released, store), (True, False), strict=True):
        section = page.partition('<section id="examples">')[2].partition("</section>")[0]
        found = re.findall(
            r'<th scope="row">(.*?)</th><td data-head="concepts">(.*?)</td><td data-head="time">'
            r'(.*?)</td><td data-head="rows">(.*?)</td><td data-head="people">(.*?)</td>',
            section,
        )
        assert len(found) == 10
        for query, concepts, time, times, people in (map(unescape, row) for row in found):
            told = query, concepts.replace(" ", ";"), time.replace("–", "")
            assert times in rows[told], "of one cluster, which is not shown"
            assert people == promised if public else int(people) >= 1


def test_rows_that_tell_too_much_are_listed_in_the_internal_edition_alone(
    released: Path, store: Path
) -> None:
    (public, _), (internal, exact) = both_editions(released, store)
    assert "Homogeneous rows" not in public
    listed = internal.partition("Homogeneous rows (internal)")[2].partition("</table>")[0]
    rows = [int(own.replace(",", "")) for own in re.findall(r'"rows">([\d,]+)<', listed)]
    found = exact["diversity"]
    assert len(rows) == min(MOST_LISTED, found["homogeneous_classes"]) >= 3
    assert f"the {len(rows)} that most rows read like" in listed
    assert (sum(rows) == found["homogeneous_rows"]) is (len(rows) < MOST_LISTED)


def logs_of(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<th scope="row">log: (.*?)</th><td><code>([0-9a-f]{64})</code>', page)


def test_digests_are_those_of_the_files(released: Path, store: Path) -> None:
    def sha(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    (public, _), (internal, _) = both_editions(released, store)
    for name in ("release.tsv", "measures.json"):
        assert sha(released / name) in public
        assert sha(released / name) in internal
    assert sha(released / "manifest.json") in internal
    assert logs_of(internal) == [(SAMPLE_LOG.name, sha(SAMPLE_LOG))]


def masked(page: str) -> set[str]:
    """What the page says beside its figures, drawings, and what anybody can see in the file."""
    for part in (r"<svg.*?</svg>", r"<figcaption>.*?</figcaption>"):
        page = re.sub(part, "", page, flags=re.DOTALL)
    page = re.sub(r'<section id="examples">.*?</section>', "", page, flags=re.DOTALL)
    page = re.sub(r"[0-9a-f]{64}", "digest", page)
    lines = (line for line in page.splitlines() if "data-figure" not in line)
    return {re.sub(r"\d[\d,.]*", "#", line) for line in lines}


def masked_card(card: str) -> list[str]:
    """The same for the data card; its examples are indented."""
    lines = (line for line in card.splitlines() if not line.startswith("    "))
    return [re.sub(r"\d[\d,.]*", "#", line) for line in lines]


def test_one_person_less_changes_the_public_certificate_by_rounding_alone(
    tmp_path: Path, store: Path
) -> None:
    own = prepared_store(tmp_path / "store", store)
    rows = some_rows(1, 3000, 250, 600)
    pages = []
    for name, gone in (("all", None), ("without", 0), ("without another", 7)):
        log = write_log(tmp_path / f"{name}.tsv", [row for row in rows if row[0] != gone])
        out = tmp_path / name
        assert run([str(log), "--bare", "--quiet", "--store", str(own), "--out", str(out)]) == 0
        pages.append((out / "report.html").read_text())
    before, *others = pages
    named = {one.name: one.value for one in figures_on(before)}
    for page in others:
        now = {one.name: one.value for one in figures_on(page)}
        assert moved_too_far(named, now) == {}
        assert masked(page) == masked(before)
    cards = [(tmp_path / name / "README.md").read_text() for name in ("all", "without")]
    assert cards[0] != cards[1], "examples and rows are those of the file"
    assert masked_card(cards[0]) == masked_card(cards[1])


def test_what_is_said_of_a_release_is_on_it_and_what_is_not_is_left_to_the_hand(
    tmp_path: Path, store: Path
) -> None:
    given = [text for option in SAID.items() for text in option]
    common = ["--bare", "--quiet", "--store", str(store)]
    assert run([*common, "--out", str(tmp_path / "said"), *given]) == 0
    assert run([*common, "--out", str(tmp_path / "blank")]) == 0
    page, card = ((tmp_path / "said" / name).read_text() for name in ("report.html", "README.md"))
    check(page)
    for said in SAID.values():
        assert said in text_of(page)
    for option in ("--title", "--purpose", "--operator", "--contact", "--licence"):
        assert SAID[option] in card
    assert page.count('class="blank"') == 1, "the signature"
    blank = (tmp_path / "blank" / "report.html").read_text()
    assert blank.count('class="blank"') == 1 + len(SAID) - 1, "the title has one of its own"
    rows = [(tmp_path / name / "release.tsv").read_bytes() for name in ("said", "blank")]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("option", "value", "fault"),
    [("--review-date", "soon", "must be a date like"), ("--title", "a\nb", "must be one line")],
)
def test_what_cannot_be_printed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, fault: str
) -> None:
    assert run(["--bare", "--out", str(tmp_path / "out"), option, value]) == 2
    assert fault in capsys.readouterr().err


def test_a_date_may_be_one_by_its_type_and_no_name_of_a_file_stops_a_release(
    tmp_path: Path, store: Path
) -> None:
    assert Settings(review_date=date(2027, 1, 31)).review_date == "2027-01-31"  # type: ignore[arg-type]
    log = write_log(tmp_path / "log.tsv", some_rows(5, 300, 40, 30))
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/l\xe4g<b>.tsv"))
    log.rename(odd)
    out = tmp_path / "out"
    assert run([str(odd), "--bare", "--quiet", "--store", str(store), "--out", str(out)]) == 0
    page = internal_report(store, out)
    check(page)
    assert [name for name, _ in logs_of(page)] == ["l\\udce4g&lt;b&gt;.tsv"]


def run_as_json(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["--bare", "--json", *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_date_and_timings_are_those_of_the_run_that_made_it(
    tmp_path: Path,
    store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, out = prepared_store(tmp_path / "store", store), tmp_path / "out"
    log = write_log(tmp_path / "log.tsv", some_rows(5, 300, 40, 30))
    options = [str(log), "--store", str(own), "--out", str(out)]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", DAY)
    first = run_as_json(capsys, *options)
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert first["certificate"]["released"] == "2026-09-21"
    assert "on 2026-09-21" in (out / "README.md").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", NEXT_DAY)
    again = run_as_json(capsys, *options)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files
    assert again["certificate"] == first["certificate"]
    phases = {name for name in first["seconds"] if name != "total"}
    assert {name: again["seconds"][name] for name in phases} == {
        name: first["seconds"][name] for name in phases
    }
    assert run([*options, "--bare", "--quiet", "--title", "Another"]) == 2, "it would be ignored"
    renamed = run_as_json(capsys, *options, "--title", "Another", "--replace")
    assert renamed["certificate"]["released"] == "2026-09-22"
    made_once = phases - {"write", "verify"}
    assert {name: renamed["seconds"][name] for name in made_once} == {
        name: first["seconds"][name] for name in made_once
    }
    assert (out / "release.tsv").read_bytes() == files["release.tsv"]
    assert verify([str(out), "--store", str(own)]) == 0


def test_somebody_elses_readme_is_not_written_over(
    tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("mine")
    options = ["--bare", "--quiet", "--store", str(store), "--replace"]
    assert run([*options, "--out", str(tmp_path)]) == 2
    assert "README.md" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_release_of_an_edition_tells_what_changed_since_the_last(
    tmp_path: Path, store: Path
) -> None:
    own = prepared_store(tmp_path / "store", store)
    folder, out, options = site(tmp_path, own)
    for seed, name in ((1, "a"), (2, "b")):
        write_log(folder / f"{name}.tsv", some_rows(seed, 600, 60, 30))
        assert inbox(options) == 0
    edition = out / "edition-0001"
    pages = [(edition / f"release-000{n}" / "report.html").read_text() for n in (1, 2)]
    assert "Since the last release" not in pages[0]
    assert "Since the last release" in pages[1]
    for page in pages:
        check(page)
        assert 'href="#term-waits"' in page
    assert "release 2 of edition 1" in text_of(pages[1])
    exact = internal_report(own, edition / "release-0002")
    check(exact)
    assert "waits: fewer than k people" in exact
    assert "people in the release" in exact
    for (page, now), (_, last) in zip(
        both_editions(edition / "release-0002", own),
        both_editions(edition / "release-0001", own),
        strict=True,
    ):
        told = [last["records"]["published"], last["records"]["withheld"]]
        told += [last["users"]["published"], last["clusters"]["count"]]
        since = " ".join([*map(count, told), percent(last["information"]["kept_percent"])])
        more = {"rows": since, "particulars": "release 2 of edition 1"}
        account_for_numbers(page, now, edition / "release-0002", more)
    before = internal_measures(own, edition / "release-0001")["information"]["kept_percent"]
    assert f'<td data-head="before">{percent(before)}</td>' in exact
    assert f'<td data-head="before">{percent(before)}</td>' not in pages[1]


def test_numbers_of_private_counts_are_those_of_the_measures(store: Path, tmp_path: Path) -> None:
    out, own = tmp_path / "counted", prepared_store(tmp_path / "store", store)
    spent = ["--counts", "dp", "--epsilon", "3", "--delta", "0.0001"]
    assert run(["--bare", "--quiet", *spent, "--out", str(out), "--store", str(own)]) == 0
    for page, measures in both_editions(out, own):
        told = measures["counts"]
        named = ("epsilon", "delta", "terms_per_person", "least_people")
        paid = ("spent_epsilon", "budget_epsilon", "spent_delta", "budget_delta")
        figures = [f"{told[name]:g}" for name in (*named, *paid)] if told["published"] else []
        terms = [count(told["terms"])] if told["published"] else []
        expected = " ".join([told["says"], *terms, *figures])
        section = dict(sections_of(re.sub(r"<data .*?</data>", "", page)))["counts"]
        assert numbers_in(section) == numbers_in(expected)
