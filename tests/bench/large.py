"""`python -m tests.bench.large`: logs larger than memory, below a limit that the system enforces.

The run and all its processes stand in a control group: whoever takes more than the limit is killed.
What is measured from outside is the memory that nobody could take away from them (anonymous, of all
processes together, pages that they share counted once); files that are mapped are the system's
cache, and go when memory is short.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.bench.logs import SEED, users_of
from tests.bench.results import machine_facts
from tests.bench.watched import ROOT, family
from tests.helpers.figures import internal_measures

GROUPS: Final = Path("/sys/fs/cgroup/memory")
"""Where the system keeps groups of processes with limits of memory (version 1)."""
SECONDS_BETWEEN_LOOKS: Final = 2.0
GIGABYTE: Final = 10**9


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    log = generated(options.work, options.queries)
    found = measured(log, options)
    known = json.loads(options.json.read_text()) if options.json.exists() else {"runs": []}
    known["machine"] = machine_facts()
    known["runs"].append(found)
    options.json.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    return int(found["exit"] != 0)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    option = made.add_argument
    option("--queries", type=int, default=1_000_000, metavar="N")
    option("--scope", default="sensitive", choices=("sensitive", "all"))
    option("--memory", type=float, default=8.0, metavar="GB", help="said to the run, and its limit")
    option("--workers", type=int, default=2, metavar="N")
    option("--work", type=Path, required=True, metavar="DIR", help="logs, store, release")
    option("--json", type=Path, default=Path(__file__).parent / "large.json", metavar="FILE")
    return made


def generated(folder: Path, queries: int) -> Path:
    """The log of `flows.sample` of that size, made if it is not there."""
    log = folder / f"{queries}.tsv"
    if not log.exists():
        aside = log.with_suffix(".part")
        said = ("--queries", str(queries), "--users", str(users_of(queries)), "--seed", str(SEED))
        with aside.open("wb") as stream:
            command = (sys.executable, "-m", "flows.sample", *said)
            subprocess.run(command, cwd=ROOT, stdout=stream, check=True)
        aside.rename(log)
    return log


def measured(log: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One cold run, and the proof of what it has published, each below the limit."""
    store, out = options.work / "store", options.work / "out"
    for folder in (store, out):
        shutil.rmtree(folder, ignore_errors=True)
    where = ("--store", str(store))
    said = ("--memory", f"{options.memory:g}GB", "--workers", str(options.workers), "--bare")
    run = (str(log), *where, *said, "--out", str(out), "--scope", options.scope, "--quiet")
    limit = int(options.memory * GIGABYTE)
    released = below(limit, ("flows.run", *run))
    found = {
        **{name: getattr(options, name) for name in ("queries", "scope", "memory", "workers")},
        **released,
    }
    if released["exit"] == 0:
        measures = internal_measures(store, out)
        found["phases"], found["disk_mb"] = measures["seconds"], measures["peak_disk_mb"]
        found["verify"] = below(limit, ("flows.verify", str(out), *where))
    return found


def below(limit: int, command: Sequence[str]) -> dict[str, Any]:
    """Run a module below a limit; how it ended, and the most memory that it had."""
    with group_of(limit) as group:
        started = time.perf_counter()

        def join() -> None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

        process = subprocess.Popen(
            (sys.executable, "-m", *command), cwd=ROOT, stdout=subprocess.DEVNULL, preexec_fn=join
        )
        all_peak = flow_peak = 0
        while process.poll() is None:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            each = [anonymous_bytes(pid) for pid in family(process.pid)]
            all_peak, flow_peak = max(all_peak, sum(each)), max(flow_peak, *each[:1], 0)
        return {
            "exit": process.returncode,
            "wall_seconds": round(time.perf_counter() - started, 1),
            "all_processes_mb": round(all_peak / 2**20),
            "flow_mb": round(flow_peak / 2**20),
            "killed_for_memory": "oom_kill 0" not in (group / "memory.oom_control").read_text(),
        }


@contextmanager
def group_of(limit: int) -> Iterator[Path]:
    """A group of processes that may have so many bytes together."""
    group = GROUPS / f"logveil-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group
    finally:
        with suppress(OSError):
            group.rmdir()


def anonymous_bytes(pid: int) -> int:
    """What a process has in memory and in no file; of what several share its part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    own = next((line.split()[1] for line in lines if line.startswith("Pss_Anon:")), "0")
    return int(own) * 1024


if __name__ == "__main__":
    sys.exit(main())
