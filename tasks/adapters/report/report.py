"""The certificate: one self-contained page that opens from disk, and the data card beside it.

Both editions are made by the same words from their own figures: the public one from the rounded
measures and what anybody can see in the release, the internal one from the exact measures. Every
figure is a `data` element under its name in `measures.json`, so that programs can read the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from tasks.adapters.pages.numbers import UNTOLD, count, percent, share, shown
from tasks.adapters.pages.page import render
from tasks.adapters.report.examples import Example
from tasks.adapters.report.figures import fate_of_rows, figures, figures_of_paper, kept_by_k
from tasks.adapters.report.verdict import (
    KINDS,
    amounts_of,
    counted,
    promise_of,
    truth_said,
    verdict_of,
)
from tasks.adapters.report.words import GLOSSARY, MEANINGS, SECTIONS, Meaning, Section
from tasks.core.verification.clauses import Promise, clauses_of, in_words, not_promised
from tasks.schema import FinalMeasures

TEMPLATES: Final = Path(__file__).parent / "templates"
SINCE: Final = {
    "rows published": ("records.published", count),
    "rows withheld": ("records.withheld", count),
    "{who} in the release": ("users.published", count),
    "information kept": ("information.kept_percent", percent),
    "clusters": ("clusters.count", count),
}
"""What is told of a release beside the one before it; `who` is what is counted."""
Tell = Callable[[str, Any, Callable[[Any], str]], str]
"""Writes a figure, given its name, its value and how such values are written."""
Row = tuple[object, ...]
"""Of a table: a name and its cells."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a certificate says beside the measures.

    Attributes:
        promise: what was proven.
        files: size and SHA-256 of the release and its measures, by name.
        rows: of the release file.
        examples: rows to look at.
        earlier: measures of the release before it in the edition, of the same kind.
        manifest: its SHA-256; internal: the manifest names the public report, not the other way.
        logs: names and SHA-256 of the files that were read; internal.
        homogeneous: rows that tell what is sensitive of all their people; internal.
        by_k: k, shares of rows and of information that it would keep, if `flows.compare` was run;
            internal: what is published must not depend on that.
    """

    promise: Promise
    files: Mapping[str, tuple[int, str]]
    rows: int
    examples: Sequence[Example] = field(repr=False)
    earlier: FinalMeasures | None = None
    manifest: str = ""
    logs: Sequence[tuple[str, str]] = ()
    homogeneous: Sequence[Example] = field(default=(), repr=False)
    by_k: Sequence[tuple[int, float, float]] = ()


def render_report(measures: FinalMeasures, facts: Facts) -> str:
    """The certificate, internal or public: what is not told is a dash, or not there."""
    return render(
        TEMPLATES,
        "report.html",
        kind=KINDS[measures["settings"]["guarantee"]] if measures["verified"] else "failed",
        rows=fate_of_rows(measures),
        figures=[*figures(measures), *([kept_by_k(facts.by_k)] if facts.by_k else [])],
        figures_of_paper=figures_of_paper(measures),
        clauses=_clauses(measures, facts),
        examples=[
            (own.query, own.concepts, own.time or UNTOLD, count(own.rows), own.people, own.why)
            for own in facts.examples
        ],
        homogeneous=[
            (own.query, own.concepts, own.time or UNTOLD, count(own.rows), own.people)
            for own in facts.homogeneous
        ],
        before_and_after=_before_and_after(measures),
        since=_since(measures, facts.earlier),
        rejects=_rejects(measures),
        counts=measures.get("counts"),
        sections=list(_sections(measures)),
        glossary=GLOSSARY,
        amounts=amounts_of(measures),
        **_common(measures, facts, told),
    )


def render_card(measures: FinalMeasures, facts: Facts) -> str:
    """The data card for people who work with the release, in Markdown."""
    return render(TEMPLATES, "data_card.md", **_common(measures, facts, in_plain_text))


def _common(measures: FinalMeasures, facts: Facts, tell: Tell) -> dict[str, Any]:
    ways = {"n": count, "s": share, "p": percent, "v": shown}
    return {
        "measures": measures,
        "certificate": measures["certificate"],
        "settings": measures["settings"],
        "edition": measures.get("edition", {}),
        "public": measures["rounded"],
        "facts": facts,
        "notes": not_promised(facts.promise.guarantee),
        "verdict": verdict_of(measures),
        "promise": promise_of(measures),
        "truth": truth_said(measures),
        "who": measures["users"]["counted"],
        **{name: partial(_tell, measures, tell, write) for name, write in ways.items()},
    }


def _tell(measures: FinalMeasures, tell: Tell, write: Callable[[Any], str], name: str) -> str:
    return tell(name, _value(measures, name), write)


def told(name: str, value: Any, write: Callable[[Any], str] = shown) -> Markup:
    """A figure as people read it, and as programs do."""
    if value is None:
        return Markup('<abbr title="not told">{}</abbr>').format(UNTOLD)
    element = Markup('<data value="{}" data-figure="{}">{}</data>')
    return element.format(json.dumps(value, ensure_ascii=False), name, write(value))


def in_plain_text(name: str, value: Any, write: Callable[[Any], str]) -> str:
    return write(value)


def _value(measures: FinalMeasures, name: str) -> Any:
    value: Any = measures
    for part in name.split("."):
        value = value[part]
    return value


def _clauses(measures: FinalMeasures, facts: Facts) -> list[Row]:
    """Each clause as it was proven, what it means, and its figure."""
    proven = clauses_of(facts.promise)
    return [
        (said, MEANINGS[clause.says].means, _figure_of(measures, facts, MEANINGS[clause.says]))
        for clause, said in zip(proven, in_words(proven, facts.promise), strict=True)
    ]


def _figure_of(measures: FinalMeasures, facts: Facts, meaning: Meaning) -> Markup:
    value = _value(measures, meaning.figure) if meaning.figure else None
    if value is None:
        return Markup("{} rows checked").format(count(facts.rows))
    write = share if isinstance(value, float) else shown
    return Markup("{} {}").format(told(meaning.figure, value, write), meaning.of)


def _before_and_after(measures: FinalMeasures) -> list[Row]:
    """The sizes of the data in the log and in the release."""
    pairs = {
        "rows": ("records.read", "records.published"),
        counted(measures["users"]).whom: ("users.read", "users.published"),
        "words": ("words.read", "words.published"),
        "different queries → different rows": (
            "figures.distinct.queries",
            "figures.distinct.published_rows",
        ),
        "different sets of attributes → clusters": ("figures.distinct.sets", "clusters.count"),
    }
    return [
        (what, *(told(name, _value(measures, name), count) for name in names))
        for what, names in pairs.items()
    ]


def _since(measures: FinalMeasures, earlier: FinalMeasures | None) -> list[Row]:
    """This release beside the one before it."""
    if earlier is None:
        return []
    who = measures["users"]["counted"]
    return [
        (
            what.format(who=who),
            write(_value(earlier, name)),
            told(name, _value(measures, name), write),
        )
        for what, (name, write) in SINCE.items()
    ]


def _rejects(measures: FinalMeasures) -> list[Row]:
    """Rows set aside, by reason; never what they said."""
    found = measures["figures"]["rejects"]
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    return [(reason, told(f"figures.rejects.{reason}", rows)) for reason, rows in ordered]


def _sections(measures: FinalMeasures) -> Iterator[tuple[Section, list[Row]]]:
    """All figures in words; what is not told is left out."""
    found: Mapping[str, Any] = measures
    for section in SECTIONS:
        rows: list[Row] = [
            (_label(section.words, name), told(f"{section.key}.{name}", value))
            for name, value in _flat(found.get(section.key, {}))
            if value not in (None, "")
        ]
        if rows:
            yield section, rows


def _label(labels: Mapping[str, str], name: str) -> str:
    """What a figure is called; one of many, whose names depend on the log, by both names."""
    of, _, own = name.partition(".")
    return labels.get(name) or (f"{labels[of]}: {own}" if of in labels else name)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
