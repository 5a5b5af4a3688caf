"""The page of a comparison: one self-contained file that opens from disk."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

from tasks.adapters.report.numbers import count, percent, plain
from tasks.adapters.report.style import STYLE
from tasks.adapters.report.tables import table
from tasks.evaluation.pages.figures import FIGURES

OWN_STYLE: Final = """
figure img { display: block; width: 100%; max-width: 46rem; height: auto; margin: 0 auto .5rem;
  background: #fff; }
figcaption { max-width: 46rem; margin: 0 auto; }
.wide { overflow-x: auto; } .wide td, .wide tbody th { white-space: nowrap; }
.wide td, .wide th { padding-left: .6rem; overflow-wrap: normal; vertical-align: bottom; }
.wide th:first-child { padding-left: 0; }
.texts td { text-align: left; white-space: normal; } .texts thead th { text-align: left; }
.texts td, .texts tbody th { vertical-align: top; }
dl.sources dt { color: var(--ink); font-weight: 600; margin-top: .75rem; }
dl.sources dd { font-size: .9375rem; font-weight: 400; max-width: 60rem; }
"""
HEADS: Final = (
    "",
    "groups",
    "largest",
    "fewest people",
    "records with < k",
    "withheld",
    "loss, Eq. 11",
    "loss, both ways",
    "risk, mean",
    "risk, worst",
    "clusters < 0.45",
    "records < 0.45",
    "seconds",
    "on the front",
)
EXPLAINED: Final = """
Every method gets the same records, those that hold attributes, and is measured by what they
publish of them: a set of concepts, or nothing. <b>Fewest people</b>: behind any published set.
<b>Records with &lt; k</b>: published with fewer than k people behind them. <b>Withheld</b>:
records that publish nothing. <b>Loss</b>: Eq. 11, 100 · SSE/SST of what is lost; <b>both ways</b>:
with what is made up; a withheld attribute costs 1; above 100 % it is worse than one set for
everybody. <b>Risk</b>: chance that somebody who knows the whole query and the method picks the
right person, 1 / people who publish the same; 0 if withheld. <b>&lt; 0.45</b>: parts of the
clusters, and of all records, in clusters of at least k people and of cohesion (Eq. 10) below 0.45.
<b>On the front</b>: no other method at this k has less mean risk and less loss.
"""


def render_page(found: dict[str, Any], pictures: Mapping[str, str]) -> str:
    """The page, with these pictures (SVG) by their names."""
    records, k = found["records"], found["settings"]["k"]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>logveil comparison</title><style>{STYLE}{OWN_STYLE}</style></head><body>
<h1>All methods on the same records</h1>
<p>{count(records["compared"])} records with attributes of {count(records["people"])} people, \
{count(records["sets"])} distinct sets, scope <b>{found["settings"]["scope"]}</b>.</p>
<h2>k = {k}</h2>
<div class="wide">{_methods(found, str(k))}</div>
<p class="aside">{EXPLAINED}</p>
<h2>Who is on the Pareto front</h2>
<div class="wide texts">{_fronts(found)}</div>
<h2>Figures</h2>
{"".join(_figure(found, pictures, place) for place in range(len(FIGURES)))}
<h2>Peers</h2>
<div class="wide texts">{_peers(found)}</div>
<h2>Methods, their sources, and what was assumed</h2>
<dl class="sources">{_sources(found)}</dl>
</body></html>
"""


def _methods(found: dict[str, Any], k: str) -> str:
    front = found["fronts"]["mean"][k]["front"]
    rows = (
        (name, *_cells(method["by_k"][k]), "yes" if name in front else "")
        for name, method in found["methods"].items()
    )
    return table(HEADS, rows)


def _cells(cell: dict[str, Any]) -> list[str]:
    return [
        count(cell["groups"]),
        count(cell["largest"]),
        count(cell["least_people"]),
        count(cell["records_below_k"]),
        percent(100 * cell["withheld"]),
        percent(cell["loss"]),
        percent(cell["symmetric_loss"]),
        percent(100 * cell["risk"]),
        percent(100 * cell["worst_risk"]),
        percent(100 * cell["groups_below_0_45"]),
        percent(100 * cell["records_below_0_45"]),
        f"{cell['seconds']:.2f}",
    ]


def _fronts(found: dict[str, Any]) -> str:
    """For each k who is on the front, by mean risk, and whether adaptive is, by either risk."""
    rows: list[tuple[str, ...]] = []
    for k, own in found["fronts"]["mean"].items():
        worst = found["fronts"]["worst"][k]["adaptive_beaten_by"]
        verdicts = (_verdict(own["adaptive_beaten_by"]), _verdict(worst))
        rows.append((k, *verdicts, ", ".join(own["front"])))
    return table(("k", "adaptive, mean risk", "adaptive, worst risk", "all on the front"), rows)


def _verdict(beaten_by: list[str]) -> str:
    return f"beaten by {', '.join(beaten_by)}" if beaten_by else "on the front"


def _figure(found: dict[str, Any], pictures: Mapping[str, str], place: int) -> str:
    figure = FIGURES[place]
    content = b64encode(pictures[figure.name].encode()).decode()
    says = escape(figure.says(found))
    return (
        f"<figure><h3>{escape(figure.title)}</h3>"
        f"<img alt='{escape(figure.title)}' src='data:image/svg+xml;base64,{content}'>"
        f"<figcaption>{says}</figcaption></figure>"
    )


def _peers(found: dict[str, Any]) -> str:
    heads = ("", "what", "seconds to partition", "our mdav", "fewest people", "loss, both ways")
    return table(heads, (_peer(own) for own in found["peers"]))


def _peer(own: dict[str, Any]) -> tuple[str, ...]:
    if "reason" in own:
        return own["name"], own["about"], f"skipped: {own['reason']}", "", "", ""
    times = (plain(own["seconds"]), plain(own["our_mdav_seconds"]))
    return (
        *(own["name"], own["about"], *times),
        *(count(own["least_people"]), percent(own["symmetric_loss"])),
    )


def _sources(found: dict[str, Any]) -> str:
    return "".join(_source(name, method) for name, method in found["methods"].items())


def _source(name: str, method: dict[str, Any]) -> str:
    lines: Iterable[str] = filter(None, (method["source"], method["assumed"]))
    said = "<br>".join(escape(line) for line in lines)
    return f"<dt>{escape(name)}</dt><dd>{said}</dd>"
