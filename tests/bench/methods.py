"""`python -m tests.bench.methods`: every method at every k, on one generated log, in both scopes.

What the paper claims, what k costs, and whether `adaptive` is on the Pareto front of risk and loss.
Deterministic: the file it writes is a fact about the code.
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
from tasks.evaluation.catalogue import METHODS
from tasks.evaluation.comparison import MethodComparison
from tasks.folders import default_store
from tasks.runtime.executor import LocalExecutor
from tasks.settings import Settings
from tests.bench.information import SCOPES, generated
from tests.bench.results import machine_facts

Found = dict[str, Any]
SAMPLE: Final = "--queries 10000 --users 800 --seed 7"
KEPT: Final = (
    *("risk", "worst_risk", "symmetric_loss", "withheld", "rows_published", "information_kept"),
    *("groups", "largest", "records_below_k", "groups_below_0_45", "records_below_0_45"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    log = generated(SAMPLE, options.work)
    scopes = {scope: compared(log, scope, options.store) for scope in SCOPES}
    found = {"machine": machine_facts(), "sample": SAMPLE, "scopes": scopes}
    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def compared(log: Path, scope: Scope, store: str) -> Found:
    """The measures of all methods on a log, and the fronts."""
    settings = Settings(logs=(str(log),), scope=scope, store=store, workers=1)
    comparison = MethodComparison(settings, LocalExecutor(settings.workers))
    for part in ("compare", *(method.name for method in METHODS)):
        comparison.make(part)
        print(f"{scope}: {part}", file=sys.stderr, flush=True)
    found = comparison.found
    cells = {
        name: {k: {key: cell[key] for key in KEPT} for k, cell in method["by_k"].items()}
        for name, method in found["methods"].items()
    }
    return {"records": found["records"], "methods": cells, "fronts": found["fronts"]}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.methods", description=__doc__)
    here, work = Path(__file__).parent, Path(tempfile.gettempdir()) / "logveil-methods"
    parser.add_argument("--json", type=Path, default=here / "methods.json", metavar="FILE")
    parser.add_argument("--store", default=default_store(), metavar="DIR")
    parser.add_argument("--work", type=Path, default=work, metavar="DIR", help="of the log")
    return parser


if __name__ == "__main__":
    sys.exit(main())
