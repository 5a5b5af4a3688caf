"""The report: one self-contained page that opens from disk."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

PROMISES = {
    "strict": (
        "Every published row, all its columns together, is shared by at least {k} different "
        "people. All records of a cluster publish the same concepts. Names, e-mail addresses, "
        "numbers and the like are not published; there is no user key, and the order of the rows "
        "says nothing."
    ),
    "terms": (
        "Every published word is used by at least {k} different people, every cluster's concepts "
        "are shared by at least {k}. A whole row may be rarer: whoever knows several words of "
        "somebody's query may find its row."
    ),
    "paper": (
        "This is the paper's redaction as printed. It does not give k-anonymity (the paper's §5 "
        "says so): words outside the attributes are published as they are. See the risk below."
    ),
}
NOT_PROMISED = (
    "Not promised, in any mode: protection from what somebody knows beside the release (if all "
    "people behind a row share a trait, the row tells it: see diversity), from comparing several "
    "releases of the same people, or from identifiers that no recogniser knows."
)
SECTIONS = (
    ("Records", "records", "rows; read = published + withheld + rejected"),
    ("Attributes", "attributes", "mentions in all rows; in doubt: a rarer sense is sensitive"),
    ("Shares", "shares", "parts of the rows read"),
    ("People", "users", "distinct users; without a user column every row counts as a person"),
    ("Words", "words", "words and attributes of all rows, before and after"),
    ("Clusters", "clusters", "sizes in records, min_users in distinct users"),
    ("Cohesion", "cohesion", "Eq. 10, 0 is best; shares of clusters and of records below 0.45"),
    ("Information loss", "information_loss", "Eq. 11, percent: 100 · SSE / SST"),
    ("Linkage risk", "risk", "chance that somebody who knows the whole query picks the person"),
    ("Diversity", "diversity", "distinct original sets per cluster; entropy in bits"),
    ("Pairs", "pairs", "distances computed and reused"),
    ("Seconds", "seconds", "wall clock"),
    ("Settings", "settings", ""),
    ("Versions", "versions", ""),
)
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8884; }
td { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.verdict { padding: .8rem 1rem; border-left: .4rem solid #2a7; background: #2a72; }
.verdict.failed { border-color: #c33; background: #c332; }
small { opacity: .75; }
"""


def write_report(path: Path, measures: dict[str, Any]) -> None:
    """Write the page for these measures."""
    path.write_text(render_report(measures), encoding="utf-8")


def render_report(measures: dict[str, Any]) -> str:
    tables = "\n".join(
        _section(title, note, measures[key]) for title, key, note in SECTIONS if key in measures
    )
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>logveil release report</title><style>{STYLE}</style></head><body>\n"
        f"<h1>Release report</h1>\n{_verdict(measures)}\n{tables}\n</body></html>\n"
    )


def _verdict(measures: dict[str, Any]) -> str:
    settings, records = measures["settings"], measures["records"]
    promise = PROMISES[settings["guarantee"]].format(k=settings["k"])
    word = "Verified" if measures["verified"] else "Not verified"
    style = "verdict" if measures["verified"] else "verdict failed"
    return (
        f'<div class="{style}"><strong>{word}: {escape(settings["guarantee"])}, '
        f"k = {settings['k']}.</strong> {records['published']:,} of {records['read']:,} rows are "
        f"published, {records['withheld']:,} withheld, {records['rejected']:,} set aside.</div>\n"
        f"<p>{escape(promise)}</p><p>{escape(NOT_PROMISED)}</p>"
    )


def _section(title: str, note: str, values: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><th>{escape(str(name))}</th><td>{escape(_shown(value))}</td></tr>"
        for name, value in _flat(values)
    )
    return f"<h2>{title}</h2><small>{escape(note)}</small><table>{rows}</table>"


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            rows.extend(_flat(value, f"{prefix}{name}: "))
        else:
            rows.append((prefix + name, value))
    return rows


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
