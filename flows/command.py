"""What the commands that make releases have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from flows.interruption import interrupted, noting_interrupts
from tasks.core.errors import LogveilError

if TYPE_CHECKING:
    from flows.screen import Screen

Work = Callable[[argparse.Namespace, "Screen"], int]
"""Does what the options ask for, shows it, and returns the exit code."""


def new_parser(prog: str, description: str, examples: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_shown_options(parser: argparse.ArgumentParser, json_shows: str) -> None:
    shown = parser.add_argument_group("what you see")
    shown.add_argument("--quiet", action="store_true", help="errors only")
    shown.add_argument("--json", action="store_true", help=f"{json_shows} on standard output")
    shown.add_argument("--bare", action="store_true", help="the same phases without Prefect")


def run_command(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, work: Work, kept: str
) -> int:
    """Run a command; returns the exit code.

    Args:
        kept: what to say of an interrupted run.
    """
    options = parser.parse_args(arguments)
    from flows.screen import Screen

    try:
        with noting_interrupts():
            return work(options, Screen(quiet=options.quiet, stderr=options.json))
    except LogveilError as fault:
        print(f"logveil: {fault}", file=sys.stderr)
        return fault.exit_code
    except TimeoutError:
        print(f"logveil: the run took longer than LOGVEIL_TIMEOUT_SECONDS; {kept}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return interrupted(kept)
