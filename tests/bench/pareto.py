"""`python -m tests.bench.pareto`: is `adaptive` on the Pareto front of risk and loss?

On generated logs of three shapes, in both scopes, at every k, against every method of
`flows.compare`. Deterministic: the files it writes are facts about the code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from flows import sample
from tasks.core.choices import Scope
from tasks.evaluation.comparison import LAST, OURS, Comparing
from tasks.settings import Settings, default_store

Found = dict[str, Any]
SHAPES: Final = {
    "as in the README": "--queries 10000 --users 800 --seed 7",
    "few people of narrow, sensitive interests": (
        "--queries 6000 --users 300 --seed 11 --topics-per-user 2 --sensitive 2"
    ),
    "many people who ask little, of many things": (
        "--queries 8000 --users 4000 --seed 23 --topics-per-user 9 --sensitive 0.5"
    ),
}
SCOPES: Final[tuple[Scope, ...]] = ("sensitive", "all")
KEPT: Final = ("risk", "worst_risk", "loss", "symmetric_loss", "records_below_0_45", "withheld")
K: Final = "5"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    found = [
        {"shape": shape, "sample": said, "scope": scope, **compared(said, scope, options.store)}
        for shape, said in SHAPES.items()
        for scope in SCOPES
    ]
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    options.markdown.write_text(as_markdown(found), encoding="utf-8")
    return 0


def compared(said: str, scope: Scope, store: str) -> Found:
    """The measures of all methods on a generated log, and the fronts."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        with log.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
            sample.main(said.split())
        comparing = Comparing(Settings(logs=(str(log),), scope=scope, store=store, workers=1))
        for part in comparing.parts:
            if part not in LAST:
                comparing.make(part)
        found = comparing.found
    print(f"{said}, {scope}: {found['seconds']} s", file=sys.stderr, flush=True)
    cells = {
        name: {k: {key: cell[key] for key in KEPT} for k, cell in method["by_k"].items()}
        for name, method in found["methods"].items()
    }
    return {"records": found["records"], "methods": cells, "fronts": found["fronts"]}


def as_markdown(found: Sequence[Found]) -> str:
    """Where adaptive stands, and the records in cohesive clusters, as tables."""
    front = [_front_row(own, k) for own in found for k in own["fronts"]["mean"]]
    cohesive = [_cohesive_row(own) for own in found]
    heads = ("log", "scope", "k", "risk, mean", "loss", "next least loss", "by mean", "by worst")
    names = list(found[0]["methods"])
    return "\n".join(
        [
            "# Is `adaptive` on the Pareto front?",
            "",
            "Made by `.venv/bin/python -m tests.bench.pareto`. Risk: mean chance that somebody who",
            "knows a whole query picks its person; loss: symmetric, in percent; both over the",
            "records that hold attributes. *Next least loss*: the method of least loss among the",
            "others that hold k (worst risk ≤ 1/k). *By mean*, *by worst*: whether no other method",
            "at this k has at most that risk and at most that loss, one of them less; else who.",
            "",
            *_table(heads, front),
            "",
            f"Share of all records with attributes in clusters of {K} people or more and of",
            f"cohesion < 0.45, k = {K}:",
            "",
            *_table(("log", "scope", *names), cohesive),
            "",
            *(f"- {shape}: `flows.sample {said}`" for shape, said in SHAPES.items()),
            "",
        ]
    )


def _front_row(own: Found, k: str) -> tuple[str, ...]:
    cell = own["methods"][OURS][k]
    holding = {
        name: cells[k]["symmetric_loss"]
        for name, cells in own["methods"].items()
        if name != OURS and cells[k]["worst_risk"] <= 1 / int(k)
    }
    rival = min(holding, key=lambda name: holding[name])
    verdicts = (own["fronts"][risk][k][f"{OURS}_beaten_by"] for risk in ("mean", "worst"))
    return (
        *(own["shape"], own["scope"], k, f"{100 * cell['risk']:.2f} %"),
        *(f"{cell['symmetric_loss']:.1f}", f"{holding[rival]:.1f} ({rival})"),
        *("yes" if not beaten else f"no: {', '.join(beaten)}" for beaten in verdicts),
    )


def _cohesive_row(own: Found) -> tuple[str, ...]:
    shares = (cells[K]["records_below_0_45"] for cells in own["methods"].values())
    return own["shape"], own["scope"], *(f"{100 * share:.0f} %" for share in shares)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pareto", description=__doc__)
    here = Path(__file__).parent
    parser.add_argument("--json", type=Path, default=here / "pareto.json", metavar="FILE")
    parser.add_argument("--markdown", type=Path, default=here / "pareto.md", metavar="FILE")
    parser.add_argument("--store", default=default_store(), metavar="DIR")
    return parser


if __name__ == "__main__":
    sys.exit(main())
