"""`python -m tests.bench`: what logveil costs, and whether that is within its limits."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tasks.settings import Settings
from tests.bench.limits import judged_limits
from tests.bench.logs import generated_log
from tests.bench.peers import against_peers
from tests.bench.profiles import profiled
from tests.bench.program import fresh_store
from tests.bench.results import Results, machine_facts
from tests.bench.runs import Runs, size_for_workers
from tests.bench.start_up import start_up
from tests.bench.straight import against_nltk
from tests.bench.tables import rendered
from tests.bench.watched import RunFailed
from tests.bench.wordnet import preparation_seconds

PARTS: Final = ("growth", "batch", "workers", "dask", "nltk", "peers", "sample")
SIZES: Final = (10_000, 100_000, 1_000_000)
SMALL_LOG: Final = 10_000
"""Queries of the log for the parts that need some, but not many."""

DETAILS: Final = """\
parts:
  growth    flows.run on generated logs: cold (fresh store), warm (same store, other --out), again
            (same --out); how the time grows from size to size
  batch     95 % of the log, then all of it on the same store, against the cold run of all
  workers   one worker and two at 100,000 queries (or the next size below)
  dask      under Prefect, processes of its own and a Dask cluster on this machine: time, bytes, and
            the memory of a worker
  nltk      distances against a straight loop over NLTK and over Python sets, results equal
  peers     the same step by other programs; AnonyPyx only with --peers
  sample    start-up: the shipped sample with --bare, under Prefect, and an empty Prefect flow

examples:
  python -m tests.bench                                        everything; a million takes hours
  python -m tests.bench --sizes 10000 100000 --scopes all --only growth batch
  python -m tests.bench --only nltk sample
  python -m tests.bench --profile 100000 --scopes all          where the time goes

Run it on a quiet machine: the load before each run is in the JSON. The JSON is renewed after every
run, so an interrupted benchmark keeps what it has; "notes" in it are somebody's, and stay. The
tables are printed; docs/benchmarks.md is made of the JSON by python -m tests.bench.page.
Exit code 1: a step failed (see failures). Limits that do not hold are shown, and are no failure.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments name; returns the exit code."""
    options = parser().parse_args(arguments)
    with _work_folder(options.work) as folder:
        if options.profile:
            print(_profiles(options, folder))
            return 0
        results = Results.renewed(options.json)
        results.put("machine", machine_facts())
        said = sys.argv[1:] if arguments is None else arguments
        results.put("command", shlex.join(["python", "-m", "tests.bench", *said]))
        try:
            _measure(options, folder, results)
        finally:
            # Also after Ctrl-C: some hours of figures are worth a table.
            results.put("limits", judged_limits(results.content))
            print(rendered(results.content))
    return 1 if results.content.get("failures") else 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Measure logveil: time and memory by size, batches, workers, others.",
        epilog=DETAILS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_what(made.add_argument_group("what is measured"))
    _add_where(made.add_argument_group("where things go"))
    return made


def _add_what(group: argparse._ArgumentGroup) -> None:
    option = group.add_argument
    option(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="queries (10k, 100k, 1M)"
    )
    scopes = ("sensitive", "all")
    option("--scopes", nargs="+", choices=scopes, default=scopes, help="(both)")
    option("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="(all parts)")
    option("--workers", type=int, default=2, metavar="N", help="processes of the runs (2)")
    option("--repeats", type=int, default=3, metavar="N", help="rounds of what is short (3)")
    option("--peers", action="store_true", help="install peers into an environment of their own")
    option(
        "--wordnet",
        type=Path,
        metavar="STORE",
        help="cold runs find WordNet compiled, as in this store, instead of compiling it",
    )
    option(
        "--profile",
        type=int,
        metavar="N",
        help="measure nothing else: profile the phases of a run of N queries",
    )


def _add_where(group: argparse._ArgumentGroup) -> None:
    option = group.add_argument
    default = Path(__file__).parent / "results.json"
    option("--json", type=Path, default=default, metavar="FILE", help="(tests/bench/results.json)")
    option("--work", type=Path, metavar="DIR", help="logs, stores, releases (a temporary folder)")


@contextmanager
def _work_folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen.resolve()
        return
    with TemporaryDirectory(prefix="logveil-bench-") as folder:
        yield Path(folder)


def _measure(options: argparse.Namespace, folder: Path, results: Results) -> None:
    """All parts, smaller sizes first."""
    # A copy: the store that was named is somebody's.
    prepared = fresh_store(folder / "prepared", options.wordnet)
    seconds = {} if options.wordnet else preparation_seconds(prepared, options.repeats)
    results.put("wordnet_seconds", seconds)
    runs = Runs(folder, results, options.workers, options.wordnet, seconds, prepared)
    for name, step in _steps(options, runs):
        print(f"bench: {name}", file=sys.stderr, flush=True)
        try:
            step()
        except RunFailed as fault:
            results.add("failures", {"step": name, "message": str(fault)})


def _steps(options: argparse.Namespace, runs: Runs) -> Iterator[tuple[str, Callable[[], None]]]:
    for size in sorted(options.sizes):
        for scope in options.scopes:
            yield from _steps_of_size(options, runs, size, scope)
    others = {"nltk": _nltk, "peers": _peers, "sample": _sample}
    for part in (part for part in others if part in options.only):
        yield part, partial(others[part], options, runs)


def _steps_of_size(
    options: argparse.Namespace, runs: Runs, size: int, scope: str
) -> Iterator[tuple[str, Callable[[], None]]]:
    made = {
        **{"growth": runs.growth, "batch": runs.batch},
        **{"workers": runs.compare_workers, "dask": runs.on_dask},
    }
    for part, step in made.items():
        here = part != "workers" or size == size_for_workers(options.sizes)
        if part in options.only and here:
            yield f"{part} {size:,} {scope}", partial(step, size, scope)


def _nltk(options: argparse.Namespace, runs: Runs) -> None:
    log = generated_log(runs.folder, SMALL_LOG)
    runs.results.put("nltk", against_nltk(log, runs.prepared))


def _peers(options: argparse.Namespace, runs: Runs) -> None:
    log = generated_log(runs.folder, SMALL_LOG)
    found = against_peers(runs.folder, runs.prepared, log, install=options.peers)
    runs.results.put("peers", found)


def _sample(options: argparse.Namespace, runs: Runs) -> None:
    runs.results.put("sample", start_up(runs.folder, runs.prepared, options.repeats))


def _profiles(options: argparse.Namespace, folder: Path) -> str:
    log = generated_log(folder, options.profile)
    return "\n".join(
        profiled(
            log,
            Settings(
                logs=tuple(map(str, log.whole)),
                out=str(folder / f"profiled-{scope}"),
                store=str(fresh_store(folder / "profiled-store", options.wordnet)),
                scope=scope,
                workers=1,
            ),
        )
        for scope in options.scopes
    )


if __name__ == "__main__":
    sys.exit(main())
