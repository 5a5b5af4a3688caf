"""The tables of the report: before and after, rejects, and every measure by its name."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from tasks.adapters.report.numbers import count, percent, shown

SECTIONS = (
    ("Settings", "settings", ""),
    ("Versions", "versions", ""),
    ("Seconds", "seconds", "wall clock of each phase"),
    ("Edition", "edition", "the release among those of its edition"),
    ("Records", "records", "rows; read = published + withheld + rejected"),
    ("Attributes", "attributes", "mentions in all rows; in doubt: a rarer sense is sensitive"),
    ("Identifiers", "identifiers", "mentions in all rows by kind; none is published"),
    ("Shares", "shares", "parts of the rows read"),
    ("People", "users", "distinct users; without a user column every row counts as a person"),
    ("Words", "words", "words and attributes of all rows, before and after"),
    ("Clusters", "clusters", "sizes in records, min_users in distinct users"),
    ("Cohesion", "cohesion", "Eq. 10, 0 is best; shares of clusters and of records below 0.45"),
    ("Information loss", "information_loss", "Eq. 11, percent: 100 · SSE / SST"),
    ("Linkage risk", "risk", "chance that somebody who knows the whole query picks the person"),
    ("Diversity", "diversity", "distinct original sets per cluster; entropy in bits"),
    ("Pairs", "pairs", "distances computed and reused"),
)


def shape(measures: dict[str, Any]) -> str:
    """The data before and after."""
    distinct = measures["figures"]["distinct"]
    pairs = [
        (name, measures[key]["read"], measures[key]["published"])
        for name, key in (("rows", "records"), ("people", "users"), ("words", "words"))
    ]
    pairs += [
        ("distinct queries → distinct rows", distinct["queries"], distinct["published_rows"]),
        ("distinct attribute sets → clusters", distinct["sets"], measures["clusters"]["count"]),
    ]
    rows = (
        (name, count(before), count(after), percent(100 * after / before) if before else "–")
        for name, before, after in pairs
    )
    return table(("", "log", "release", "ratio"), rows)


def rejects(measures: dict[str, Any]) -> str:
    """Rows set aside, by reason; never what they said."""
    found = measures["figures"]["rejects"]
    if not found:
        return "<p>No row was set aside.</p>"
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    return table(("reason", "rows"), ((reason, count(rows)) for reason, rows in ordered))


def all_measures(measures: dict[str, Any]) -> str:
    """Every measure under the name that it has in measures.json."""
    return "\n".join(
        f"<section><h3>{title}</h3><p class='aside'>{escape(note)}</p>"
        f"{table((), ((name, shown(value)) for name, value in _flat(measures[key])))}</section>"
        for title, key, note in SECTIONS
        if key in measures
    )


def table(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr><th scope='row'>{escape(name)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return (
        f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            rows.extend(_flat(value, f"{prefix}{name}: "))
        else:
            rows.append((prefix + name, value))
    return rows
