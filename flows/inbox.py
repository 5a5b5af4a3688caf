"""`python -m flows.inbox`: new files in a folder are released, one by one or as a new edition.

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
from flows.config_file import OF_THE_INBOX, print_config
from flows.process import leave_at_once, start_prefect
from tasks.errors import UsageError
from tasks.runtime.files import try_folder

if TYPE_CHECKING:
    from flows.batches import Order, Outcome
    from flows.display import Screen
    from tasks.settings import Settings

REMAINS: Final = "what was published stays, the other files are left for the next run"
EXAMPLES = """\
examples:
  python -m flows.inbox --inbox incoming --out published      each new file is one more release
  python -m flows.inbox --inbox incoming --out published --edition new    everything anew

in --out: edition-0001/release-0001/ with release.tsv, report.html, README.md,
measures.json, manifest.json
in --inbox: files that were released move to done/ (keep them: rows that wait are read there
again), files that cannot be used to failed/ beside the reason, files given twice to known/

append: what was published stays as it is; a row that no k people share yet waits for a later
file. new: everything so far is clustered and published as a whole; withdraw the edition before.

exit codes: 0 everything complete was released, or there was nothing; 2 wrong usage or settings;
3 a file was put aside, or something cannot be read or written; 4 (--edition new) nothing can be
released; 5 verification failed, that release was not published; 130 interrupted; 1 anything else
"""


def parser() -> argparse.ArgumentParser:
    made = new_parser(
        "python -m flows.inbox", "Release the log files that have come into a folder.", EXAMPLES
    )
    made.add_argument("--inbox", metavar="DIR", help="where log files come in")
    made.add_argument("--out", metavar="DIR", help="where editions go (./release)")
    made.add_argument("--edition", metavar="append|new", help="(append)")
    made.add_argument(
        "--settle", metavar="SECONDS", help="a file is complete once unchanged for (2)"
    )
    made.add_argument(
        "--keep-editions",
        metavar="N",
        help="with --edition new: withdraw all but the last N editions from --out (0: none)",
    )
    add_release_options(made)
    add_shown_options(made, "what became of the files")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(parser(), arguments, _work, REMAINS)


def _work(options: argparse.Namespace, screen: Screen) -> int:
    order = _order(options)
    if options.print_config:
        named = {"inbox": str(order.inbox), "edition": order.edition, "settle": order.settle}
        return print_config(order.settings, **named)
    try_folder(order.out)
    screen.say(f"logveil: {order.inbox} → {order.out}, k = {order.settings.k}")
    outcome = _release(order, screen, bare=options.bare)
    if options.json:
        print(json.dumps(outcome.as_dict(), indent=2))
    screen.say(outcome.told())
    return outcome.exit_code


def _order(options: argparse.Namespace) -> Order:
    """Check everything that was said; all faults come in one error."""
    from flows.batches import SETTLE_SECONDS, Order

    given = {name: getattr(options, name) for name in OF_THE_INBOX}
    said = {"edition": "append", "settle": SETTLE_SECONDS, **options.in_file}
    said |= {name: value for name, value in given.items() if value is not None}
    faults = [] if said.get("inbox") else ["name the folder of incoming files with --inbox"]
    if said["edition"] not in ("append", "new"):
        faults.append(f"edition must be append or new, not {said['edition']!r}")
    try:
        settle = max(0.0, float(said["settle"]))
    except ValueError:
        faults.append(f"settle must be a number, not {said['settle']!r}")
    try:
        settings = settings_from(options)
        faults += _faults_of_append(settings) if said["edition"] == "append" else []
    except UsageError as fault:
        faults.extend(fault.args)
    if faults:
        raise UsageError(*faults)
    return Order(settings, Path(said["inbox"]), said["edition"], settle)


def _faults_of_append(settings: Settings) -> list[str]:
    faults = []
    if settings.guarantee == "paper":
        faults.append("guarantee paper promises nothing that could be kept: use --edition new")
    if settings.rounding:
        faults.append(
            "rounding would leave people out whom their earlier rows still need: use --edition new"
        )
    return faults


def _release(order: Order, screen: Screen, *, bare: bool) -> Outcome:
    if bare:
        from flows.batches import InboxRun
        from flows.release import Phases
        from tasks.runtime.executor import LocalExecutor

        executor = LocalExecutor(order.settings.processes)
        return InboxRun(order, executor, lambda: Phases(screen)).run()
    store = Path(order.settings.store)
    folders = order.out.glob("edition-*")
    await_server = start_prefect(
        screen, lambda: leave_at_once(sorted(folders), store, REMAINS), store
    )
    from flows.anonymise import anonymise_inbox, shown_on, told_to_prefect
    from flows.batches import FilesPutAside, Outcome

    await_server()
    try:
        named = told_to_prefect(order.settings, str(order.inbox))
        with shown_on(screen), named as (settings, inbox):
            told = anonymise_inbox(settings, inbox, order.edition, order.settle)
    except FilesPutAside as fault:
        return fault.outcome
    return Outcome(**told)


if __name__ == "__main__":
    sys.exit(main())
