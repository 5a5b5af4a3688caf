"""`python -m tests.bench.contest`: all methods and rivals by tasks, on logs of 100,000 queries.

Three shapes, both scopes, k = 5. Deterministic: the file it writes is a fact about the code.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tasks.core.choices import Scope
from tasks.evaluation.catalogue import METHODS, OURS, RIVALS
from tasks.evaluation.comparison import MethodComparison
from tasks.evaluation.contest import verdicts
from tasks.folders import default_store
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.information import SCOPES, generated
from tests.bench.results import machine_facts

SHAPES: Final = (
    "--queries 100000 --users 8000 --seed 11",
    "--queries 100000 --users 20000 --seed 12",
    "--queries 100000 --users 3000 --seed 13",
)
FLOORS: Final = ("root", "random", "untouched")
"""They are in every comparison of a log, and win nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    if options.only:
        before = json.loads(options.json.read_text(encoding="utf-8"))["cells"]
        cells = {(cell["sample"], cell["scope"]): cell for cell in before}
    for said in options.shapes:
        log = generated(said, options.work)
        for scope in options.scopes:
            known = cells.get((said, scope), {"methods": {}})["methods"]
            machine = machine_facts()
            about = {"sample": said, "scope": scope, "commit": machine["commit"]}
            cells[said, scope] = {**about, **_contest(log, scope, options, known)}
            told = {"machine": machine, "cells": list(cells.values())}
            options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.contest", description=__doc__)
    here, work = Path(__file__).parent, Path(tempfile.gettempdir()) / "logveil-contest"
    option = parser.add_argument
    option("--shapes", nargs="+", default=SHAPES, metavar="OPTIONS", help="of flows.sample")
    option("--scopes", nargs="+", choices=SCOPES, default=SCOPES)
    option("--json", type=Path, default=here / "contest.json", metavar="FILE")
    option("--only", nargs="+", metavar="METHOD", help="try these anew; the file has the others")
    option("--store", default=default_store(), metavar="DIR")
    option("--work", type=Path, default=work, metavar="DIR", help="of the logs")
    return parser


def _contest(
    log: Path, scope: Scope, options: argparse.Namespace, known: dict[str, Any]
) -> dict[str, Any]:
    settings = Settings(logs=(str(log),), scope=scope, store=options.store, workers=1)
    comparison = MethodComparison(settings, LocalExecutor(1))
    for method in (*METHODS, *RIVALS):
        if method.name not in FLOORS and method.name in (options.only or [method.name]):
            comparison.try_once(method)
            print(f"{log.stem} {scope}: {method.name}", file=sys.stderr, flush=True)
    methods = {**known, **comparison.tasks["methods"]}
    for own in methods.values():
        # The code says that.
        own.pop("source", None)
        own.pop("assumed", None)
    best = verdicts(methods, OURS, settings.k)
    return {"raw": comparison.tasks["raw"], "methods": methods, "verdicts": best}


if __name__ == "__main__":
    sys.exit(main())
