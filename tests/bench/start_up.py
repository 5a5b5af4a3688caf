"""The part `sample`: what a run of the shipped sample takes on a warm store, from the shell."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from flows.process import PREFECT_DEFAULTS
from tests.bench.watched import watch

EMPTY_FLOW: Final = '''\
"""A flow that does nothing: what Prefect itself costs."""

from prefect import flow


@flow
def nothing() -> None:
    pass


nothing()
'''


def start_up(folder: Path, store: Path, repeats: int) -> dict[str, Any]:
    """Wall seconds of `--bare`, of a run under Prefect's embedded server, of an empty flow.

    Every release goes to a new folder: what is in place already need not be made.
    """
    command = (sys.executable, "-m", "flows.run", "--quiet", "--store", str(store), "--out")
    watch((*command, str(folder / "sample"), "--bare"))
    bare = [
        watch((*command, str(folder / f"bare-{number}"), "--bare")).seconds
        for number in range(repeats)
    ]
    return {**_summary("bare", bare), **_under_prefect(folder, command, repeats)}


def _under_prefect(folder: Path, command: Sequence[str], repeats: int) -> dict[str, Any]:
    """The two by turns, to see the same machine, after one of each to prepare Prefect's home."""
    environment = _embedded(folder)
    flow = folder / "empty_flow.py"
    flow.write_text(EMPTY_FLOW, encoding="utf-8")
    watch((sys.executable, str(flow)), environment)
    watch((*command, str(folder / "flow")), environment)
    empty, ours = [], []
    for number in range(repeats):
        empty.append(watch((sys.executable, str(flow)), environment).seconds)
        ours.append(watch((*command, str(folder / f"flow-{number}")), environment).seconds)
    extra = statistics.median(ours) - statistics.median(empty)
    return {
        **_summary("empty_flow", empty),
        **_summary("prefect", ours),
        "prefect_less_empty_flow_seconds": round(extra, 3),
    }


def _summary(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    return {f"{name}_seconds": round(statistics.median(seconds), 3), f"{name}_rounds": seconds}


def _embedded(folder: Path) -> Mapping[str, str]:
    """Prefect with a home of its own and no server but the embedded one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return {**kept, **PREFECT_DEFAULTS, "PREFECT_HOME": str(folder / "prefect")}
