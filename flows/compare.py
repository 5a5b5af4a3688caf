"""`python -m flows.compare`: all methods on one log, side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flows.cli import (
    add_reading_options,
    add_shown_options,
    new_parser,
    run_command,
    settings_from,
)
from flows.process import heed_interrupts, leave_at_once, start_prefect
from tasks.runtime.files import try_folder

if TYPE_CHECKING:
    from flows.display import Screen
    from tasks.evaluation.comparison import MethodComparison
    from tasks.settings import Settings

REMAINS: Final = "no comparison was written; what was read and compared is kept for the next run"
OUT: Final = "comparison"
EXAMPLES: Final = """\
examples:
  python -m flows.compare                             the shipped sample log, to ./comparison
  python -m flows.compare log.tsv --scope all --k 10 --out c10
  python -m flows.compare log.tsv --bare --json       without Prefect; numbers on standard output

Every method gets the same records and k, and is measured by the same loss and risk, for k = 2, 3,
5, 10, 20, 50 and --k, as far as the log has people. At --k they and what others publish
(thresholds, allow-lists, differential privacy) are tried by six tasks, and a k is recommended.
Nothing is released: the files hold numbers and names of methods only.

in --out: comparison.html (tables and figures on one page), comparison.json (all numbers), tasks,
which-k, figure-4-cohesion, figure-5-loss-by-size, figure-6-random, loss-by-k, risk-loss (.svg)

exit codes: 0 compared; 2 wrong usage or settings; 3 input cannot be read or output cannot be
written; 4 nothing can be compared (fewer than k users); 130 interrupted; 1 anything else
"""


def parser() -> argparse.ArgumentParser:
    about = "Compare all methods, baselines and peers on the same records of a log."
    made = new_parser("python -m flows.compare", about, EXAMPLES)
    made.add_argument("logs", nargs="*", metavar="LOG", help="files, folders or globs (sample)")
    made.add_argument("--out", metavar="DIR", default=OUT, help=f"where the files go (./{OUT})")
    made.add_argument(
        "-k", "--k", metavar="N", help="people of the table and of Figures 4 to 6 (5)"
    )
    add_reading_options(made)
    add_shown_options(made, "the numbers")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(parser(), arguments, _work, REMAINS)


def _work(options: argparse.Namespace, screen: Screen) -> int:
    from flows.display import comparison_table, contest_table
    from tasks.evaluation.figures import say_which_k as which_k_in_words

    settings = settings_from(options)
    try_folder(Path(settings.out))
    screen.say(f"logveil: {len(settings.logs)} log(s), all methods → {settings.out}")
    found = _compared(settings, screen, bare=options.bare)
    if options.json:
        print(json.dumps(found, indent=2))
    screen.console.print(comparison_table(found))
    screen.console.print(contest_table(found))
    screen.say(which_k_in_words(found))
    screen.say(f"figures and tables: {Path(settings.out) / 'comparison.html'}")
    return 0


def _compared(settings: Settings, screen: Screen, *, bare: bool) -> dict[str, Any]:
    if bare:
        return compare_all(settings, screen, lambda comparison, part: comparison.make(part))
    folders, store = [Path(settings.out)], Path(settings.store)
    await_server = start_prefect(screen, lambda: leave_at_once(folders, store, REMAINS), store)
    from flows.comparison import compare_on

    await_server()
    return compare_on(screen, settings)


def compare_all(
    settings: Settings, screen: Screen, run_part: Callable[[MethodComparison, str], object]
) -> dict[str, Any]:
    """Every part once, in order; returns what was found."""
    from tasks.evaluation.comparison import MethodComparison
    from tasks.runtime.columns import past_memory
    from tasks.runtime.executor import READY_SECONDS, LocalExecutor

    executor = LocalExecutor(settings.processes)
    memory = past_memory(settings.temp, settings.memory)
    with memory, executor.running(READY_SECONDS) as run:
        comparison = MethodComparison(settings, executor, screen.progress, run)
        for part in comparison.parts:
            heed_interrupts()
            with screen.phase(part):
                run_part(comparison, part)
        return comparison.found


if __name__ == "__main__":
    sys.exit(main())
