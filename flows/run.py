"""`python -m flows.run`: one release from log files.

Heavy libraries are imported only after the first line is on the screen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flows.cli import (
    add_release_options,
    add_shown_options,
    new_parser,
    run_command,
    settings_from,
)
from flows.config_file import print_config
from flows.process import leave_at_once, set_prefect_defaults, start_prefect
from tasks.runtime.files import try_folder

if TYPE_CHECKING:
    from flows.display import Screen
    from tasks.schema import FinalMeasures
    from tasks.settings import Settings

REMAINS: Final = "nothing was published; what was read and compared is kept for the next run"
LARGE_LOG: Final = 1_000_000
"""Bytes of a log that several processes are likely to read sooner than one."""
EXAMPLES = """\
examples:
  python -m flows.run                                 the shipped sample log, to ./release
  python -m flows.run aol/*.txt.gz --k 10 --out r10   AOL files, ten people behind every record
  python -m flows.run log.csv --columns user=uid,query=q,time=ts
  python -m flows.run log.jsonl --scope all --bare    all nouns and verbs; without Prefect
  zcat access.*.gz | python -m flows.run - --person auth    an access log on standard input
  python -m flows.run /nfs/logs --runner dask --dask-address tcp://scheduler:8786 --store s3://b/p

in --out: release.tsv (query, concepts, time, cluster), report.html (the certificate), README.md
(the data card), measures.json, manifest.json, datapackage.json and croissant.json for programs that
load it, with --counts dp counts.tsv (kind, term, people); rows set aside are listed in the private
store, where the last lines say

exit codes: 0 released and verified; 2 wrong usage or settings; 3 input cannot be read or output
cannot be written; 4 nothing can be released (fewer than k users); 5 verification failed, nothing
published; 130 interrupted; 1 anything else
"""


def parser() -> argparse.ArgumentParser:
    about = "Turn query logs into a release in which every record stands for k people."
    made = new_parser("python -m flows.run", about, EXAMPLES)
    known = "files, folders, globs, URLs or - (sample)"
    made.add_argument("logs", nargs="*", metavar="LOG", help=known)
    made.add_argument("--out", metavar="DIR", help="where the release goes (./release)")
    made.add_argument(
        "--replace",
        action="store_true",
        help="put the new release in the place of one that --out holds",
    )
    add_release_options(made)
    add_shown_options(made, "measures")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(parser(), arguments, _work, REMAINS)


def _work(options: argparse.Namespace, screen: Screen) -> int:
    settings = settings_from(options)
    if options.print_config:
        return print_config(settings)
    _prepare_workers(settings)
    try_folder(Path(settings.out))
    screen.say(f"logveil: {len(settings.logs)} log(s) → {settings.out}, k = {settings.k}")
    measures = _release(settings, screen, bare=options.bare)
    if options.json:
        print(json.dumps(measures, indent=2))
    screen.summary(measures, settings.out)
    return 0


def _prepare_workers(settings: Settings) -> None:
    """Let workers begin to import what they need while this process does the same."""
    from tasks.adapters.logs.paths import total_size
    from tasks.runtime.executor import IMPORTED_ON_DASK, prepare_workers

    if settings.runner == "dask":
        if not settings.dask_address:
            set_prefect_defaults()
            prepare_workers(IMPORTED_ON_DASK)
    elif settings.workers > 1 and total_size(settings.logs) >= LARGE_LOG:
        prepare_workers()


def _release(settings: Settings, screen: Screen, *, bare: bool) -> FinalMeasures:
    if bare:
        from flows.release import Phases, release_into_folder
        from tasks.phases.job import Job
        from tasks.runtime.executor import LocalExecutor

        job = Job.of(settings, LocalExecutor(settings.processes), screen.progress)
        return release_into_folder(job, Phases(screen, started=screen.started))
    folders, store = [Path(settings.out)], Path(settings.store)
    await_server = start_prefect(screen, lambda: leave_at_once(folders, store, REMAINS), store)
    from flows.anonymise import anonymise, shown_on, told_to_prefect

    await_server()
    with shown_on(screen), told_to_prefect(settings) as (told, _):
        return anonymise(told)


if __name__ == "__main__":
    sys.exit(main())
