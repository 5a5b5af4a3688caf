"""`python -m flows.sample`: a synthetic query log in AOL's format on standard output."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final

from flows.cli import new_parser
from flows.process import INTERRUPTED, speak_to_any_terminal
from tasks.errors import LogveilError

if TYPE_CHECKING:
    from tasks.synthetic.log import Row

HEADER: Final = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"

EXAMPLES: Final = """\
examples:
  python -m flows.sample > log.tsv
      3,000 queries of 300 people
  python -m flows.sample --queries 10000 --users 800 --seed 7 | gzip > log.tsv.gz
      a larger log, another seed
  python -m flows.sample --sensitive 2 --topics-per-user 2 > log.tsv
      narrow interests, sensitive ones twice as common

The same arguments give the same bytes on every machine. Nothing in the log was ever typed by
anybody: people, queries and identifiers are invented by rule.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the log that the arguments describe; return the exit code."""
    speak_to_any_terminal()
    options = parser().parse_args(arguments)
    from tasks.synthetic.log import synthetic_log
    from tasks.synthetic.vocabulary import load_vocabulary

    try:
        rows = synthetic_log(load_vocabulary(), **vars(options))
        _write(rows)
    except LogveilError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _write(rows: Iterable[Row]) -> None:
    """Write the rows with a header; stop quietly if the reader (head, less) has seen enough."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        sys.stdout.write(HEADER)
        sys.stdout.writelines(
            f"{u}\t{query}\t{time}\t{rank}\t{url}\n" for u, query, time, rank, url in rows
        )
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter flushes once more on its way out
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> argparse.ArgumentParser:
    about = "Write a synthetic query log in AOL's format to standard output."
    made = new_parser("python -m flows.sample", about, EXAMPLES)
    option = made.add_argument
    option("--queries", type=int, default=3000, metavar="N", help="rows (default 3000)")
    option("--users", type=int, default=300, metavar="M", help="people (default 300)")
    option("--seed", type=int, default=1, metavar="S", help="another seed, another log (default 1)")
    option(
        "--topics-per-user",
        type=int,
        default=5,
        metavar="T",
        help="interests of a person: from 2 to T of about 45 (default 5)",
    )
    option(
        "--sensitive",
        type=float,
        default=1.0,
        metavar="F",
        help="how common sensitive interests are (default 1; 2 = twice as common, 0 = none)",
    )
    return made


if __name__ == "__main__":
    sys.exit(main())
