"""`python -m flows.verify`: prove an existing release again, clause by clause."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flows.cli import new_parser
from flows.process import INTERRUPTED
from tasks.errors import LogveilError, VerificationFailed
from tasks.settings import default_store, private_folder

DETAILS: Final = """\
The release file is read back and held against the private side table in the store, which tells
the person behind each row. No text of the release is printed: faults name clauses, counts and
row numbers, row 1 being the first below the header.

exit codes:
  0    every clause is proven
  2    wrong usage
  3    the folder or the store cannot be read
  5    verification failed: a clause is broken, or the release file was changed
  130  interrupted

examples:
  python -m flows.verify ./release
  python -m flows.verify ./published/edition-0001    all its releases, each alone and together
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove the release that the arguments name; return the exit code."""
    options = parser().parse_args(arguments)
    # Only now, so that --help answers at once.
    from tasks.phases.verify import prove_folder

    try:
        proven, faults = prove_folder(options.release, options.store)
    except LogveilError as fault:
        print(f"flows.verify: {fault}", file=sys.stderr)
        return fault.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    if options.json:
        print(json.dumps({"verified": not faults, "faults": faults}))
    else:
        _show(proven, faults)
    return VerificationFailed.exit_code if faults else 0


def _show(proven: Sequence[str], faults: Sequence[str]) -> None:
    for clause in proven:
        print(f"proven  {clause}")
    for fault in faults:
        print(f"BROKEN  {fault}")
    if faults:
        print(f"verification failed, {len(faults)} broken: withdraw this release")
    else:
        print(f"verified: all {len(proven)} clauses hold")


def parser() -> argparse.ArgumentParser:
    about = "Prove again that an existing release keeps what it promises."
    made = new_parser("python -m flows.verify", about, DETAILS)
    option = made.add_argument
    option(
        "release",
        type=Path,
        metavar="RELEASE_DIR",
        help="the --out folder of a release, or the folder of an edition",
    )
    option(
        "--store",
        type=lambda store: Path(private_folder(store)),
        default=default_store(),
        metavar="DIR",
        help="the private store the release was made with (default: %(default)s)",
    )
    option("--json", action="store_true", help="print the result as JSON, and nothing else")
    return made


if __name__ == "__main__":
    sys.exit(main())
