"""`python -m tests.bench.sizing`: what larger logs would take, from the benchmark's figures.

Seconds are those of the largest log that was measured, times how often it goes into the other, and
a phase that grew faster than the log from one measured size to the next goes on to do so. Bytes
are a base and so much a query, by the two largest logs. Nothing is taken off because texts and
attribute sets repeat more in a larger log.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tasks.workbench import PHASES
from tests.bench.runs import WORKER_MEMORY
from tests.bench.tables import markdown_table
from tests.bench.watched import MEGABYTE

HERE: Final = Path(__file__).parent
GIGABYTE: Final = 10**9
SHARDED: Final = ("analyse", "cluster")
"""Phases whose work is done by workers; the others stay in the process of the flow."""
LOGS: Final = {"AOL, 36 million": 36_000_000, "1 billion": 1_000_000_000}
WORKERS: Final = (2, 16, 64)
MACHINES: Final = (64, 256, 1024)
"""Gigabytes of the machine of the flow."""
ON_DASK: Final = "Prefect, dask"
"""The kind of the runs on Dask."""
FLOW: Final = "main_process_peak_memory_mb"
MOST_ROWS: Final = 2**31
"""Rows of a log are numbered by 32 bits."""

Run = Mapping[str, Any]


class Sizing:
    """Two runs of different size, carried on to others."""

    def __init__(self, small: Run, large: Run) -> None:
        self._small, self._large = small, large
        self._step = large["size"] / small["size"]

    def seconds(self, phase: str, queries: int) -> float:
        """Of a phase; of one for workers, by a single worker."""
        small, large = (run["seconds"][phase] for run in (self._small, self._large))
        exponent = max(1.0, math.log(large / small, self._step)) if small and large else 1.0
        alone = self._large["workers"] if phase in SHARDED else 1
        return float(large * alone * (queries / self._large["size"]) ** exponent)

    def flow_seconds(self, queries: int) -> float:
        return sum(self.seconds(phase, queries) for phase in PHASES if phase not in SHARDED)

    def total_seconds(self, queries: int, workers: int) -> float:
        work = sum(self.seconds(phase, queries) for phase in SHARDED)
        return self.flow_seconds(queries) + work / workers

    def gigabytes(self, name: str, queries: float) -> float:
        more = queries - self._large["size"]
        return (self._large[name] + self._per_query(name) * more) * MEGABYTE / GIGABYTE

    def most_queries(self, name: str, gigabytes: float) -> float:
        """How many queries fit."""
        free = gigabytes * GIGABYTE / MEGABYTE - self._large[name]
        return float(self._large["size"] + free / self._per_query(name))

    def _per_query(self, name: str) -> float:
        """Megabytes."""
        more = max(0.0, self._large[name] - self._small[name])
        return float(more / (self._large["size"] - self._small["size"]))


def sizing_of(runs: Sequence[Run], kind: str, scope: str) -> Sizing:
    """By the two largest runs of a kind."""
    found = [run for run in runs if (run["kind"], run["scope"]) == (kind, scope)]
    if len(found) < 2:
        raise SystemExit(f"sizing: two sizes are needed of runs {kind!r}, scope {scope}")
    return Sizing(*sorted(found, key=lambda run: int(run["size"]))[-2:])


def report(results: Mapping[str, Any], dask: Mapping[str, Any]) -> str:
    logs = [f"Scope `{scope}`:\n\n{_logs(results, scope)}" for scope in ("sensitive", "all")]
    return "\n\n".join([*logs, f"Dask, measured:\n\n{_workers(dask)}", _limits(results, dask)])


def _logs(results: Mapping[str, Any], scope: str) -> str:
    cold = sizing_of(results["runs"], "cold", scope)
    hours = (f"hours, {count} workers" for count in WORKERS)
    header = ("log", *hours, "of it in the flow", "memory of the flow, GB", "private store, GB")
    rows = (
        (
            name,
            *(cold.total_seconds(queries, count) / 3600 for count in WORKERS),
            cold.flow_seconds(queries) / 3600,
            cold.gigabytes(FLOW, queries),
            cold.gigabytes("store_mb", queries),
        )
        for name, queries in LOGS.items()
    )
    return markdown_table(header, rows)


def _workers(dask: Mapping[str, Any]) -> str:
    header = ("queries", "scope", "limit of a worker, MB", "its peak, MB", "shared files, MB")
    limit = round(WORKER_MEMORY * GIGABYTE / MEGABYTE)
    rows = (
        (run["size"], run["scope"], limit, run["largest_child_mb"], run["shared_mb"])
        for run in dask["runs"]
        if run["kind"] == ON_DASK
    )
    return markdown_table(header, rows)


def _limits(results: Mapping[str, Any], dask: Mapping[str, Any]) -> str:
    """What breaks first, and what is left room for."""
    cold = sizing_of(results["runs"], "cold", "all")
    fits = ", ".join(f"{cold.most_queries(FLOW, size) / 1e6:,.0f} in {size:,}" for size in MACHINES)
    shared = sizing_of(dask["runs"], ON_DASK, "all")
    files = ", ".join(f"{shared.gigabytes('shared_mb', LOGS[name]):,.0f} ({name})" for name in LOGS)
    return (
        "What breaks first is the memory of the flow, which holds the log and its records: so many "
        f"million queries fit (scope `all`): {fits} GB. Rows are numbered by 32 bits: "
        f"{MOST_ROWS / 1e9:.1f} billion. Shared files at their most, GB: {files}."
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
