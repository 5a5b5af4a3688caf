"""`python -m tests.bench.sizing`: what larger logs would take, from the benchmark's figures.

Seconds are those of the largest log that was measured on Dask, of the flow and of the shards of
each kind, times how often it goes into the other; what grew faster than the log from one measured
size to the next goes on to do so. Bytes are a base and so much a query, by the two largest logs.
Nothing is taken off because texts and attribute sets repeat more in a larger log.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.bench.runs import WORKER_MEMORY
from tests.bench.tables import markdown_table
from tests.bench.watched import MEGABYTE

HERE: Final = Path(__file__).parent
GIGABYTE: Final = 10**9
LOGS: Final = {"AOL, 36 million": 36_000_000, "1 billion": 1_000_000_000}
WORKERS: Final = (2, 16, 64)
MACHINES: Final = (64, 256, 1024)
"""Gigabytes of the machine of the flow."""
ON_DASK: Final = "Prefect, dask"
"""The kind of the runs on Dask."""
FLOW: Final = "main_process_peak_memory_mb"
BYTES: Final = {
    "memory of the flow": FLOW,
    "shared files": "shared_mb",
    "private store": "store_mb",
}
MOST_ROWS: Final = 2**31
"""Rows of a log are numbered by 32 bits."""

Run = Mapping[str, Any]


class Sizing:
    """Two runs of different size, carried on to others."""

    def __init__(self, small: Run, large: Run) -> None:
        self._small, self._large = small, large
        self._step = large["size"] / small["size"]

    def flow_seconds(self, queries: int) -> float:
        """Of what stays in the process of the flow: all that it does not wait for shards."""
        small, large = _own_seconds(self._small), _own_seconds(self._large)
        return self._carried(small, large, queries)

    def shard_seconds(self, queries: int) -> float:
        """Of all shards, by a single worker."""
        before = self._small["shards"]
        return sum(
            self._carried(before.get(name, {"seconds": 0.0})["seconds"], own["seconds"], queries)
            for name, own in self._large["shards"].items()
        )

    def total_seconds(self, queries: int, workers: int) -> float:
        return self.flow_seconds(queries) + self.shard_seconds(queries) / workers

    def _carried(self, small: float, large: float, queries: int) -> float:
        """Seconds at another size, given those of the two runs."""
        exponent = max(1.0, math.log(large / small, self._step)) if small and large else 1.0
        return float(large * (queries / self._large["size"]) ** exponent)

    def gigabytes(self, name: str, queries: float) -> float:
        more = queries - self._large["size"]
        megabytes: float = self._large[name] + self._per_query(name) * more
        return megabytes * MEGABYTE / GIGABYTE

    def most_queries(self, name: str, gigabytes: float) -> float:
        """How many queries fit."""
        free = gigabytes * GIGABYTE / MEGABYTE - self._large[name]
        return float(self._large["size"] + free / self._per_query(name))

    def _per_query(self, name: str) -> float:
        """Megabytes."""
        more = max(0.0, self._large[name] - self._small[name])
        return float(more / (self._large["size"] - self._small["size"]))


def _own_seconds(run: Run) -> float:
    waited = sum(own["waited_seconds"] for own in run["shards"].values())
    return float(run["seconds"]["total"] - waited)


def sizing_of(runs: Sequence[Run], scope: str) -> Sizing:
    """By the two largest runs on Dask."""
    found = [run for run in runs if (run["kind"], run["scope"]) == (ON_DASK, scope)]
    if len(found) < 2:
        raise SystemExit(f"sizing: two sizes are needed of runs on Dask, scope {scope}")
    return Sizing(*sorted(found, key=lambda run: int(run["size"]))[-2:])


def report(dask: Mapping[str, Any]) -> str:
    return f"{sizes(dask)}\n\n{measured(dask)}"


def sizes(dask: Mapping[str, Any]) -> str:
    """What larger logs would take, and what breaks first."""
    runs = dask["runs"]
    logs = [f"Scope `{scope}`:\n\n{_logs(runs, scope)}" for scope in ("sensitive", "all")]
    return "\n\n".join([*logs, _limits(runs)])


def measured(dask: Mapping[str, Any]) -> str:
    """What that is reckoned from."""
    runs = dask["runs"]
    shards = f"Shards, measured (the largest log, scope `all`):\n\n{_shards(runs)}"
    return f"{shards}\n\nWorkers, measured:\n\n{_workers(runs)}"


def _logs(runs: Sequence[Run], scope: str) -> str:
    sizing = sizing_of(runs, scope)
    hours = (f"hours, {count} workers" for count in WORKERS)
    bytes_of = {
        "memory of the flow": FLOW,
        "shared files": "shared_mb",
        "private store": "store_mb",
    }
    header = ("log", *hours, "of it in the flow", *(f"{name}, GB" for name in bytes_of))
    rows = (
        (
            name,
            *(sizing.total_seconds(queries, count) / 3600 for count in WORKERS),
            sizing.flow_seconds(queries) / 3600,
            *(sizing.gigabytes(figure, queries) for figure in BYTES.values()),
        )
        for name, queries in LOGS.items()
    )
    return markdown_table(header, rows)


def _shards(runs: Sequence[Run]) -> str:
    header = ("shard", "calls", "seconds a call", "the longest", "MB sent a call", "MB returned")
    on_dask = [run for run in runs if (run["kind"], run["scope"]) == (ON_DASK, "all")]
    shards = max(on_dask, key=lambda run: int(run["size"]))["shards"]
    rows = (
        (
            f"`{name}`",
            own["calls"],
            own["seconds"] / own["calls"],
            own["longest_seconds"],
            own["arguments_mb"] / own["calls"],
            own["results_mb"] / own["calls"],
        )
        for name, own in shards.items()
    )
    return markdown_table(header, rows)


def _workers(runs: Sequence[Run]) -> str:
    header = ("queries", "scope", "limit of a worker, MB", "its peak, MB")
    limit = round(WORKER_MEMORY * GIGABYTE / MEGABYTE)
    peaks: dict[tuple[int, str], float] = {}
    for run in runs:
        if run["kind"] == ON_DASK:
            key = run["size"], run["scope"]
            peaks[key] = max(peaks.get(key, 0.0), run["largest_child_mb"])
    return markdown_table(header, ((*key, limit, peak) for key, peak in peaks.items()))


def _limits(runs: Sequence[Run]) -> str:
    """What breaks first, and what is left room for."""
    sizing = sizing_of(runs, "all")
    fits = (f"{sizing.most_queries(FLOW, size) / 1e6:,.0f} in {size:,}" for size in MACHINES)
    return (
        "What breaks first is the memory of the flow, which holds the log and its records: so many "
        f"million queries fit (scope `all`): {', '.join(fits)} GB. Rows are numbered by 32 bits: "
        f"{MOST_ROWS / 1e9:.1f} billion."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sizing", description=__doc__)
    results = HERE / "dask.json"
    parser.add_argument("--dask", type=Path, default=results, help="results of the part dask")
    options = parser.parse_args(arguments)
    print(report(json.loads(options.dask.read_text("utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
