"""Runs of the program as a user starts it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from diskcache import Cache

from tasks.runtime.store import BytesDisk
from tests.bench.ratios import with_sums
from tests.bench.watched import MEGABYTE, RunFailed, bytes_below, watch
from tests.helpers.figures import internal_measures

PUBLISHED: Final = ("release.tsv",)


@dataclass(frozen=True, slots=True)
class Order:
    """What to run; `kind` says in a word what the store knows before."""

    kind: str
    size: int
    scope: str
    logs: tuple[Path, ...]
    store: Path
    out: Path
    workers: int
    engine: tuple[str, ...] = ("--bare",)

    def command(self) -> list[str]:
        options = {
            "--scope": self.scope,
            "--store": self.store,
            "--out": self.out,
            "--workers": self.workers,
        }
        said = [str(text) for option in options.items() for text in option]
        logs = [str(path) for path in self.logs]
        return [sys.executable, "-m", "flows.run", *logs, *said, *self.engine, "--quiet", "--json"]


def run_program(order: Order) -> dict[str, Any]:
    """Run `flows.run` and return what it took, by its own account and from outside."""
    load_before = os.getloadavg()[0]
    # Under Prefect, with a database of its own: somebody's is larger, and slower.
    home = {"PREFECT_HOME": str(order.store.parent / "prefect")}
    shared = order.store / "shards"
    watched = watch(order.command(), {**os.environ, **home}, shared)
    measures = internal_measures(order.store, order.out)
    if not measures["verified"]:
        raise RunFailed("the release is not verified")
    return {
        **{name: getattr(order, name) for name in ("kind", "size", "scope", "workers")},
        "seconds": with_sums(measures["seconds"]),
        "wall_seconds": watched.seconds,
        "peak_memory_mb": watched.peak_memory_mb,
        "largest_child_mb": watched.largest_child_mb,
        "shared_mb": watched.folder_mb,
        "cpu_seconds": watched.cpu_seconds,
        "main_process_peak_memory_mb": measures["peak_memory_mb"],
        "pairs": measures["pairs"],
        "shards": measures.get("shards", {}),
        "store_mb": round(bytes_below(order.store) / MEGABYTE, 1),
        "sha256": digest_of_release(order.out),
        "load_before": round(load_before, 2),
    }


def digest_of_release(out: Path) -> str:
    """One hash over all that is published, but for measures and report, which hold times."""
    found = hashlib.sha256()
    for name in PUBLISHED:
        found.update((out / name).read_bytes())
    return found.hexdigest()


COMPILED: Final = ("compiled:", "nltk-folders:", "wordnet-version:")
"""How the names begin of what a store has of WordNet and the lists, and of nobody's log."""


def fresh_store(folder: Path, wordnet: Path | None) -> Path:
    """An empty store, or one that holds nothing but the compiled WordNet of another."""
    shutil.rmtree(folder, ignore_errors=True)
    if wordnet is not None:
        for name in ("wordnet", "cache"):
            shutil.copytree(wordnet / name, folder / name)
        folder.chmod(0o700)
        with closing(Cache(str(folder / "cache"), disk=BytesDisk)) as cache:
            for key in [key for key in cache.iterkeys() if not key.startswith(COMPILED)]:
                del cache[key]
    return folder


def same_bytes(runs: Sequence[dict[str, Any]]) -> bool:
    return len({run["sha256"] for run in runs}) == 1
