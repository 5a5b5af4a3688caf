"""The report: one self-contained page that opens from disk, made from the measures alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tasks.adapters.pages.numbers import count, share, shown
from tasks.adapters.pages.page import render
from tasks.adapters.report.figures import fate_of_rows, figures
from tasks.adapters.report.verdict import counted, verdict
from tasks.schema import FinalMeasures

TEMPLATES: Final = Path(__file__).parent / "templates"
SECTIONS: Final = (
    ("Settings", "settings", ""),
    ("Versions", "versions", ""),
    ("Seconds", "seconds", "wall clock of each phase"),
    ("Edition", "edition", "the release among those of its edition"),
    ("Records", "records", "rows; read = published + withheld + rejected"),
    ("Withheld", "withheld_by_reason", "rows by reason"),
    ("Attributes", "attributes", "mentions in all rows; in doubt: a rarer sense is sensitive"),
    ("Identifiers", "identifiers", "mentions in all rows by kind; none is published"),
    ("Shares", "shares", "parts of the rows read"),
    ("People", "users", "distinct people; or sessions or rows, if those were counted"),
    ("Language", "language", "parts of the queries, judged by their words"),
    ("Words", "words", "words and attributes of all rows, before and after"),
    ("Clusters", "clusters", "sizes in records, min_users in distinct users"),
    ("Information", "information", "bits kept of the bits held, percent"),
    ("Truth", "truth", "shares of published concepts and rows that are true, 1 is all"),
    ("Cohesion", "cohesion", "Eq. 10, 0 is best; shares of clusters and of records below 0.45"),
    ("Information loss", "information_loss", "Eq. 11, percent: 100 · SSE / SST, of attributes"),
    ("Linkage risk", "risk", "chance that somebody who knows the whole query picks the person"),
    ("Diversity", "diversity", "distinct original sets per cluster; entropy in bits"),
    ("Pairs", "pairs", "distances computed and reused"),
)
Row = tuple[str, ...]
"""Of a table: a name and its cells."""


@dataclass(frozen=True, slots=True)
class Section:
    """Measures that belong together, under the names that they have in measures.json."""

    title: str
    note: str
    rows: list[Row]


def render_report(measures: FinalMeasures) -> str:
    """The page of these measures, internal or public: what is not told is a dash, or not there."""
    return render(
        TEMPLATES,
        "report.html",
        verdict=verdict(measures),
        rows=fate_of_rows(measures),
        before_and_after=_before_and_after(measures),
        figures=figures(measures),
        rejects=_rejects(measures),
        counts=measures.get("counts"),
        sections=_sections(measures),
    )


def _before_and_after(measures: FinalMeasures) -> list[Row]:
    """The sizes of the data in the log and in the release."""
    distinct, clusters = measures["figures"]["distinct"], measures["clusters"]["count"]
    records, users, words = measures["records"], measures["users"], measures["words"]
    pairs = [
        ("rows", records["read"], records["published"]),
        (counted(users).whom, users["read"], users["published"]),
        ("words", words["read"], words["published"]),
        ("distinct queries → distinct rows", distinct["queries"], distinct["published_rows"]),
        ("distinct attribute sets → clusters", distinct["sets"], clusters),
    ]
    return [
        (name, count(before), count(after), share(after / before if before and after else None))
        for name, before, after in pairs
    ]


def _rejects(measures: FinalMeasures) -> list[Row]:
    """Rows set aside, by reason; never what they said."""
    found = measures["figures"]["rejects"]
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    return [(reason, count(rows)) for reason, rows in ordered]


def _sections(measures: FinalMeasures) -> list[Section]:
    found: Mapping[str, Any] = measures
    return [
        Section(title, note, [(name, shown(value)) for name, value in _flat(found[key])])
        for title, key, note in SECTIONS
        if key in found
    ]


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            rows.extend(_flat(value, f"{prefix}{name}: "))
        else:
            rows.append((prefix + name, value))
    return rows
