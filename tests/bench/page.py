"""`python -m tests.bench.page > docs/benchmarks.md`: the page of figures, from JSON files alone.

Whoever measures anew writes JSON; the words are in `page.md.jinja`. A quick test holds the page in
the tree against what this makes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import jinja2

from tests.bench.contest import FLOORS
from tests.bench.contest_tables import contest_tables, private_counts_table
from tests.bench.information_tables import information_tables
from tests.bench.sizing import measured
from tests.bench.tables import markdown_table, rendered

HERE: Final = Path(__file__).parent
FILES: Final = (
    "results",
    "batches",
    "dask",
    "peers",
    "methods",
    "editions",
    "information",
    "contest",
    "private_counts",
)
SCOPES: Final = ("sensitive", "all")
OURS: Final = "adaptive"
K: Final = "5"
Found = Mapping[str, Any]


def page(found: Found) -> str:
    """The whole page."""
    loader = jinja2.FileSystemLoader(HERE)
    words = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)
    figures = {**_figures(found), **Usual(found["methods"]).figures()}
    figures |= {"information": found["information"], **information_tables(found["information"])}
    figures |= {"contest": found["contest"], **contest_tables(found["contest"])}
    counted = found["private_counts"]
    figures |= {"private_counts": counted, "private_counts_table": private_counts_table(counted)}
    functions = {"rendered": rendered, "number": _number, "percent": _percent}
    return words.get_template("page.md.jinja").render(**figures, **functions)


def read_figures(folder: Path = HERE) -> dict[str, Any]:
    """The JSON files by name."""
    return {name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in FILES}


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _tenths(share: float) -> str:
    return f"{100 * share:.1f} %"


def _figures(found: Found) -> dict[str, Any]:
    """What the words are filled with, as it stands in the files."""
    results, batches, dask, peers = (found[name] for name in FILES[:4])
    header = ("queries", "scope", "seconds, cold", "peak MB (with workers)", "again, nothing new")
    return {
        **{"results": results, "batches": batches, "dask_file": dask, "peers_file": peers},
        **{"batch": batches["batch"][0], "workers": batches["workers"][0], "dask": dask["dask"]},
        **{"nltk": results["nltk"], "sample": results["sample"], "methods": found["methods"]},
        "peers": {peer["peer"]: peer for peer in peers["peers"]},
        "cold_table": markdown_table(header, _cold_rows(results["runs"])),
        "editions": found["editions"],
        "editions_table": _editions(found["editions"]),
        "measured": measured(dask),
    }


def _cold_rows(runs: Sequence[Found]) -> Iterator[Sequence[object]]:
    by_kind = {(run["kind"], run["size"], run["scope"]): run for run in runs}
    for (kind, size, scope), run in by_kind.items():
        if kind == "cold":
            again = by_kind["again", size, scope]
            times = run["wall_seconds"], run["peak_memory_mb"], f"{again['wall_seconds']:.1f} s"
            yield size, scope, *times


def _editions(editions: Found) -> str:
    shown = {
        f"rows waiting after {editions['batches']} batches (append)": "waiting",
        "rows withheld by one release of everything": "withheld_by_one_release",
        "common records left with fewer than k people, if both editions are held": (
            "below_k_if_both_are_held"
        ),
    }
    rows = (
        (what, *(_percent(editions[scope][name]) for scope in SCOPES))
        for what, name in shown.items()
    )
    return markdown_table(("", *(f"scope `{scope}`" for scope in SCOPES)), rows)


class Usual:
    """Every method on the log of 10,000 queries of 800 people, in both scopes; at k = 5, mostly."""

    def __init__(self, methods: Found) -> None:
        self._runs: Mapping[str, Found] = methods["scopes"]

    def figures(self) -> dict[str, Any]:
        return {
            "claims_table": self._claims_table(),
            "k_table": self._k_table(),
            "front_verdict": self._front_verdict(),
            "compared": {scope: own["records"]["compared"] for scope, own in self._runs.items()},
            **{"against": self._against, "losses": self._losses, "cohesive": self._cohesive},
        }

    def _measured(self, scope: str, method: str) -> Found:
        found: Found = self._runs[scope]["methods"][method][K]
        return found

    def _claims_table(self) -> str:
        methods = ("paper-printed", "paper", "mdav", OURS)
        names = ("as printed (`paper-printed`)", "its clusters, strict (`paper`)", "`mdav`", "ours")
        rows = (
            (what, said, *(" / ".join(shown(s, method) for s in SCOPES) for method in methods))
            for what, said, shown in self._claims()
        )
        return markdown_table(("", "the paper says", *names), rows)

    def _claims(self) -> Iterator[tuple[str, str, Callable[[str, str], str]]]:
        """What is claimed, what the paper says of it, and how it is shown of scope and method."""
        yield "clusters", "200, of 14 to 1,600 records", self._count("groups")
        yield "records of the largest", "1,600", self._count("largest")
        yield "clusters of cohesion < 0.45", "75 %", self._share("groups_below_0_45")
        yield "records in them", "not told", self._share("records_below_0_45")
        broken = 'what is not similar does "not comply with the principle of k-anonymity" (§5)'
        yield "records published with fewer than k people", broken, self._count("records_below_k")
        yield "worst linkage risk", "not told", self._share("worst_risk")
        yield "mean linkage risk", "not told", self._share("risk")
        yield "information loss, both ways", "less than others' (Figure 5)", self._loss
        yield "records withheld", "none", self._share("withheld")
        yield "information kept, of all records", "not told", self._kept

    def _k_table(self) -> str:
        shown: dict[str, Callable[[Found], str]] = {
            "worst risk": lambda cell: _tenths(cell["worst_risk"]),
            "mean risk": lambda cell: _tenths(cell["risk"]),
            "loss, symmetric": lambda cell: f"{cell['symmetric_loss']:.1f} %",
            "records withheld": lambda cell: _tenths(cell["withheld"]),
            "information kept": lambda cell: f"{cell['information_kept']:.1f} %",
            "rows published": lambda cell: _tenths(cell["rows_published"]),
        }
        ours = [self._runs[scope]["methods"][OURS] for scope in SCOPES]
        rows = (
            (
                k,
                *(" / ".join(show(cells[k]) for cells in ours) for show in shown.values()),
                " / ".join(self._next(scope, k) for scope in SCOPES),
                " / ".join(", ".join(self._beaten(scope, k)) or "–" for scope in SCOPES),
            )
            for k in ours[0]
        )
        return markdown_table(("k", *shown, "next least loss", "beaten by"), rows)

    def _next(self, scope: str, k: str) -> str:
        """The method of least loss among the others that hold k."""
        holding = {
            name: cells[k]["symmetric_loss"]
            for name, cells in self._runs[scope]["methods"].items()
            if name not in (OURS, *FLOORS) and cells[k]["records_below_k"] == 0
        }
        name = min(holding, key=lambda each: holding[each])
        return f"{holding[name]:.1f} % {name}"

    def _beaten(self, scope: str, k: str) -> list[str]:
        """Who has at most our risk, mean or worst, and at most our loss, one of them less."""
        fronts = self._runs[scope]["fronts"]
        return sorted({n for risk in fronts.values() for n in risk[k][f"{OURS}_beaten_by"]})

    def _front_verdict(self) -> str:
        cases = [(scope, k) for scope in SCOPES for k in self._runs[scope]["fronts"]["mean"]]
        free = sum(not self._beaten(scope, k) for scope, k in cases)
        return f"{free} of {len(cases)}"

    def _count(self, name: str) -> Callable[[str, str], str]:
        return lambda scope, method: _number(self._measured(scope, method)[name])

    def _share(self, name: str) -> Callable[[str, str], str]:
        return lambda scope, method: _tenths(self._measured(scope, method)[name])

    def _loss(self, scope: str, method: str) -> str:
        return f"{self._measured(scope, method)['symmetric_loss']:.1f} %"

    def _kept(self, scope: str, method: str) -> str:
        return f"{self._measured(scope, method)['information_kept']:.1f} %"

    def _against(self, method: str) -> str:
        """What ours loses in parts of what another loses."""
        names = OURS, method
        losses = ([self._measured(s, name)["symmetric_loss"] for name in names] for s in SCOPES)
        return " and ".join(f"{ours / theirs:.2f}" for ours, theirs in losses)

    def _losses(self, method: str) -> str:
        return " / ".join(self._loss(scope, method) for scope in SCOPES)

    def _cohesive(self, method: str) -> str:
        shares = (self._measured(scope, method)["records_below_0_45"] for scope in SCOPES)
        return " / ".join(map(_percent, shares))


if __name__ == "__main__":
    sys.stdout.write(page(read_figures()))
