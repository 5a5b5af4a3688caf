"""The parts of the benchmark that run the whole program: growth, batch, workers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.bench.logs import Log, generated_log
from tests.bench.program import Order, fresh_store, run_program, same_bytes
from tests.bench.ratios import batch_ratios, growth, less_wordnet, phase_ratios, ratio
from tests.bench.results import Results

PARALLEL: Final = ("analyse", "cluster")
WORKERS_SIZE: Final = 100_000
PAIRS_OF_RUNS: Final = 3
"""With Dask and without, in turn."""
FEW: Final = 300
WORKER_MEMORY: Final = 2.0
"""Gigabytes of a Dask worker, the default."""

Run = dict[str, Any]


@dataclass
class Runs:
    """Runs of the program on generated logs, in a folder for logs, stores and releases.

    Attributes:
        wordnet: a store whose compiled WordNet cold runs are given; None if they compile it.
        wordnet_seconds: what WordNet's compilation costs the phases of a cold run.
        prepared: a store that holds the compiled WordNet, for runs that are compared by phase.
    """

    folder: Path
    results: Results
    workers: int
    wordnet: Path | None
    wordnet_seconds: dict[str, float]
    prepared: Path
    _cold: dict[tuple[int, str], Run] = field(default_factory=dict)

    def growth(self, size: int, scope: str) -> None:
        """Cold; the same again to another folder; the same again to the same folder."""
        self._forget_stores()
        log = generated_log(self.folder, size)
        self.cold(log, scope)
        for kind in ("warm", "again"):
            self._run(Order(kind, size, scope, log.whole, self._store, self._out, self.workers))
        self._sum_up_growth(scope)

    def cold(self, log: Log, scope: str) -> Run:
        """The run of the whole on a fresh store, which is made once."""
        key = log.size, scope
        if key not in self._cold:
            store = fresh_store(self._store, self.wordnet)
            out = self.folder / "cold"
            order = Order("cold", log.size, scope, log.whole, store, out, self.workers)
            self._cold[key] = self._run(order)
        return self._cold[key]

    def batch(self, size: int, scope: str) -> None:
        """95 % of the log, then all of it on the same store, beside the cold run of all."""
        log = generated_log(self.folder, size)
        cold = self.cold(log, scope)
        self._forget_stores()
        store = fresh_store(self.folder / "growing", self.wordnet)
        files = {"first 95 %": (log.first,), "batch of 5 %": log.whole}
        # A folder of its own for each: a release is not replaced by that of another log.
        outs = self.folder / "cold", self._out
        _, batch = (
            self._run(Order(kind, size, scope, logs, store, out, self.workers))
            for (kind, logs), out in zip(files.items(), outs, strict=True)
        )
        seconds = less_wordnet(cold["seconds"], self.wordnet_seconds)
        found = {
            **{"size": size, "scope": scope, "ratios": batch_ratios(cold, batch)},
            "ratios_less_wordnet": batch_ratios({**cold, "seconds": seconds}, batch),
            "same_bytes": same_bytes([cold, batch]),
        }
        self.results.add("batch", found)

    def compare_workers(self, size: int, scope: str) -> None:
        """One worker and two, each on a store that holds WordNet and nothing else."""
        log = generated_log(self.folder, size)
        one, two = (self._with_workers(log, scope, count) for count in (1, 2))
        found = {
            **{"size": size, "scope": scope, "same_bytes": same_bytes([one, two])},
            "ratios": phase_ratios(two["seconds"], one["seconds"], PARALLEL),
            "total": ratio(two["seconds"]["total"], one["seconds"]["total"]),
        }
        self.results.add("workers", found)

    def _with_workers(self, log: Log, scope: str, count: int) -> Run:
        self._forget_stores()
        store = fresh_store(self._store, self.prepared)
        kind = f"{count} worker{'s' if count > 1 else ''}"
        return self._run(Order(kind, log.size, scope, log.whole, store, self._out, count))

    def on_dask(self, size: int, scope: str) -> None:
        """The same number of workers under Prefect, as processes of its own and as Dask's."""
        log = generated_log(self.folder, size)
        self._create_prefect_database()
        pairs = PAIRS_OF_RUNS if size <= WORKERS_SIZE else 1
        made = [
            self._run(self._under_prefect(log, scope, kind))
            for _ in range(pairs)
            for kind in ("dask", "local")
        ]
        dask, plain = made[::2], made[1::2]
        on_dask, here = ([run["seconds"] for run in side] for side in (dask, plain))
        found = {
            **{"size": size, "scope": scope, "same_bytes": same_bytes(made)},
            "wall": _median_ratio(dask, plain, "wall_seconds"),
            "cpu": _median_ratio(dask, plain, "cpu_seconds"),
            "phases": {phase: _median_ratio(on_dask, here, phase) for phase in PARALLEL},
            "worker_peak_mb": max(run["largest_child_mb"] for run in dask),
            "worker_limit_gb": WORKER_MEMORY,
            "shared_mb": max(run["shared_mb"] for run in dask),
        }
        self.results.add("dask", found)

    def _create_prefect_database(self) -> None:
        """A new one takes seconds that the first of several runs would be charged with."""
        order = self._under_prefect(generated_log(self.folder, FEW), "sensitive", "local")
        run_program(order)

    def _under_prefect(self, log: Log, scope: str, runner: str) -> Order:
        self._forget_stores()
        store = fresh_store(self._store, self.prepared)
        memory = ("--worker-memory", str(WORKER_MEMORY))
        engine = ("--runner", runner, *(memory if runner == "dask" else ()))
        kind = f"Prefect, {runner}"
        files = log.size, scope, log.whole, store, self._out
        return Order(kind, *files, self.workers, engine)

    @property
    def _store(self) -> Path:
        return self.folder / "store"

    @property
    def _out(self) -> Path:
        return self.folder / "out"

    def _run(self, order: Order) -> Run:
        made = run_program(order)
        self.results.add("runs", made)
        return made

    def _forget_stores(self) -> None:
        """Stores of a million queries are large, and a release in place need not be made."""
        for name in ("store", "growing", "cold", "out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _sum_up_growth(self, scope: str) -> None:
        """Growth over the sizes so far, as measured and without WordNet's compilation."""
        runs = {size: run["seconds"] for (size, of), run in self._cold.items() if of == scope}
        less = {size: less_wordnet(run, self.wordnet_seconds) for size, run in runs.items()}
        found = {"cold": growth(runs), "cold_less_wordnet": growth(less)}
        self.results.put("growth", {**self.results.content.get("growth", {}), scope: found})


def _median_ratio(runs: Sequence[Run], others: Sequence[Run], figure: str) -> float | None:
    """Of the medians of a figure: one run says little on a machine that others use as well."""
    return ratio(*(median(run[figure] for run in side) for side in (runs, others)))


def size_for_workers(sizes: list[int]) -> int:
    """The size at which workers are compared: the one issue 5 names, or the next below."""
    return max((size for size in sizes if size <= WORKERS_SIZE), default=min(sizes))
