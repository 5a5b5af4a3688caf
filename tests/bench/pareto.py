"""`python -m tests.bench.pareto`: is `adaptive` on the Pareto front of risk and loss?

On generated logs of three shapes, in both scopes, at every k, against every method of
`flows.compare`. Deterministic: the file it writes is a fact about the code.
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
from tasks.evaluation.catalogue import METHODS
from tasks.evaluation.comparison import MethodComparison
from tasks.folders import default_store
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.results import machine_facts

Found = dict[str, Any]
SHAPES: Final = {
    "people of mixed interests": "--queries 10000 --users 800 --seed 7",
    "few people of narrow, sensitive interests": (
        "--queries 6000 --users 300 --seed 11 --topics-per-user 2 --sensitive 2"
    ),
    "many people who ask little, of many things": (
        "--queries 8000 --users 4000 --seed 23 --topics-per-user 9 --sensitive 0.5"
    ),
}
SCOPES: Final[tuple[Scope, ...]] = ("sensitive", "all")
KEPT: Final = (
    *("risk", "worst_risk", "loss", "symmetric_loss", "withheld", "rows_published"),
    *("information_kept", "groups", "largest", "records_below_k", "groups_below_0_45"),
    "records_below_0_45",
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    cells = [
        {"shape": shape, "sample": said, "scope": scope, **compared(said, scope, options.store)}
        for shape, said in SHAPES.items()
        for scope in SCOPES
    ]
    found = {"machine": machine_facts(), "cells": cells}
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def compared(said: str, scope: Scope, store: str) -> Found:
    """The measures of all methods on a generated log, and the fronts."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        with log.open("w", encoding="utf-8") as stream, redirect_stdout(stream):
            sample.main(said.split())
        settings = Settings(logs=(str(log),), scope=scope, store=store, workers=1)
        comparison = MethodComparison(settings, LocalExecutor(settings.workers))
        for part in ("compare", *(method.name for method in METHODS)):
            comparison.make(part)
        found = comparison.found
    print(f"{said}, {scope}: {found['seconds']} s", file=sys.stderr, flush=True)
    cells = {
        name: {k: {key: cell[key] for key in KEPT} for k, cell in method["by_k"].items()}
        for name, method in found["methods"].items()
    }
    return {"records": found["records"], "methods": cells, "fronts": found["fronts"]}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pareto", description=__doc__)
    here = Path(__file__).parent
    parser.add_argument("--json", type=Path, default=here / "pareto.json", metavar="FILE")
    parser.add_argument("--store", default=default_store(), metavar="DIR")
    return parser


if __name__ == "__main__":
    sys.exit(main())
