"""`python -m tests.bench.sizing`: what larger logs would take, from the benchmark's figures.

Every figure is one that was measured at the largest size, times how often that size goes into the
log; where a phase grew faster than the log from the size before, it goes on to do so. Nothing is
taken off because texts and attribute sets repeat more in a larger log, so these are upper bounds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tasks.workbench import PHASES
from tests.bench.tables import markdown_table

HERE: Final = Path(__file__).parent
SHARDED: Final = ("analyse", "cluster")
"""Phases whose work is done by workers; the others stay in the process of the flow."""
LOGS: Final = {"AOL, 36 M": 36_000_000, "1 billion": 1_000_000_000}
WORKERS: Final = (2, 16, 64)
MACHINES_GB: Final = (64, 256, 1024)
ROWS_BY_NUMBER: Final = 2**31
"""Rows of a log are numbered by 32 bits."""

Run = Mapping[str, Any]


class Line(NamedTuple):
    """What a quantity was at two sizes."""

    small: float
    large: float

    def at(self, queries: float, sizes: tuple[int, int]) -> float:
        """What it would be at another size: a base and so much a query."""
        per_query = max(0.0, self.large - self.small) / (sizes[1] - sizes[0])
        return self.large + per_query * (queries - sizes[1])


class Sizing:
    """The cold runs of one scope at the two largest sizes, carried on."""

    def __init__(self, runs: Sequence[Run], scope: str) -> None:
        cold = {run["size"]: run for run in runs if (run["kind"], run["scope"]) == ("cold", scope)}
        self.sizes = tuple(sorted(cold)[-2:])
        if len(self.sizes) < 2:
            raise SystemExit(f"sizing: two sizes of cold runs are needed, scope {scope}")
        self._small, self._large = (cold[size] for size in self.sizes)

    def seconds(self, phase: str, queries: int) -> float:
        """By one worker, if it is one for workers."""
        small, large = self._small["seconds"][phase], self._large["seconds"][phase]
        step = self.sizes[1] / self.sizes[0]
        exponent = max(1.0, math.log(large / small, step)) if small > 0 and large > 0 else 1.0
        alone = self._large["workers"] if phase in SHARDED else 1
        return float(large * alone * (queries / self.sizes[1]) ** exponent)

    def flow_seconds(self, queries: int) -> float:
        return sum(self.seconds(phase, queries) for phase in PHASES if phase not in SHARDED)

    def worker_seconds(self, queries: int) -> float:
        return sum(self.seconds(phase, queries) for phase in SHARDED)

    def flow_gigabytes(self, queries: float) -> float:
        return self._line("main_process_peak_memory_mb").at(queries, self._pair) * 2**20 / 1e9

    def store_gigabytes(self, queries: int) -> float:
        return self._line("store_mb").at(queries, self._pair) * 2**20 / 1e9

    def most_queries(self, gigabytes: float) -> float:
        """Queries whose flow fits into a machine."""
        at_large = self.flow_gigabytes(self.sizes[1])
        per_query = (self.flow_gigabytes(2 * self.sizes[1]) - at_large) / self.sizes[1]
        return self.sizes[1] + (gigabytes - at_large) / per_query

    @property
    def _pair(self) -> tuple[int, int]:
        return self.sizes[0], self.sizes[1]

    def _line(self, name: str) -> Line:
        return Line(self._small[name], self._large[name])


def table_of_logs(sizing: Sizing) -> str:
    header = ["log", *(f"hours, {count} workers" for count in WORKERS)]
    header += ["of them in the flow", "memory of the flow, GB", "private store, GB"]
    return markdown_table(header, (_row(sizing, name, LOGS[name]) for name in LOGS))


def _row(sizing: Sizing, name: str, queries: int) -> list[object]:
    flow, work = sizing.flow_seconds(queries), sizing.worker_seconds(queries)
    hours = [(flow + work / count) / 3600 for count in WORKERS]
    sizes = sizing.flow_gigabytes(queries), sizing.store_gigabytes(queries)
    return [name, *hours, flow / 3600, *sizes]


def table_of_machines(sizing: Sizing) -> str:
    header = ("memory of the flow's machine, GB", "queries at most, millions")
    rows = ((size, sizing.most_queries(size) / 1e6) for size in MACHINES_GB)
    return markdown_table(header, rows)


def shard_figures(dask: Mapping[str, Any]) -> str:
    """What was measured of workers."""
    header = (
        "queries",
        "scope",
        "limit of a worker, MB",
        "its peak, MB",
        "time by the plain run's",
    )
    rows = (
        (
            *(found[name] for name in ("size", "scope")),
            round(found["worker_limit_gb"] * 1e9 / 2**20),
            *(found[name] for name in ("worker_peak_mb", "wall")),
        )
        for found in dask.get("dask", [])
    )
    return markdown_table(header, rows)


def report(results: Mapping[str, Any], dask: Mapping[str, Any]) -> str:
    parts = []
    for scope in ("sensitive", "all"):
        sizing = Sizing(results["runs"], scope)
        parts += [f"Scope `{scope}`:", table_of_logs(sizing), table_of_machines(sizing)]
    return "\n\n".join([*parts, "Dask workers, measured:", shard_figures(dask), _first_to_break()])


def _first_to_break() -> str:
    return (
        "What breaks first is the memory of the flow, which holds the log and its records; then the"
        f" numbers of rows (32 bits: {ROWS_BY_NUMBER / 1e9:.1f} billion)."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sizing", description=__doc__)
    option = parser.add_argument
    option("--results", type=Path, default=HERE / "results.json", help="of the part growth")
    option("--dask", type=Path, default=HERE / "dask.json", help="of the part dask")
    options = parser.parse_args(arguments)
    found = (json.loads(path.read_text("utf-8")) for path in (options.results, options.dask))
    print(report(*found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
