"""`python -m flows.verify`: prove an existing release again, clause by clause."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flows.cli import add_config_option, new_parser
from flows.config_file import config_of
from flows.process import INTERRUPTED, speak_to_any_terminal
from tasks.errors import LogveilError, UsageError, VerificationFailed
from tasks.folders import cache_folder, default_store, private_folder

if TYPE_CHECKING:
    from tasks.phases.prove import Verdict

DETAILS: Final = """\
All files of RELEASE_DIR are held against the manifest that the store has of them: whatever is
missing, changed or added is named. The release file is read back and held against the private side
table in the store, which tells the person behind each row. No text of the release is printed:
faults name clauses, counts and row numbers, row 1 being the first below the header. A copy of a
release elsewhere is proven as well, and said to be one.

--public is for whoever got the folder and has no store: the files are held against manifest.json
beside them, the rows against what it promises: columns, order, at least k rows of each kind, no
identifiers, concepts that exist and words that name them, times. The last lines say what nobody
can check without the store.

--audit FILE writes a table of every row that was read, for checks by somebody else's code: file,
row, person, release_row and reason (Parquet; of an edition also the release). It undoes the
release: it is private, and must not lie in RELEASE_DIR.

exit codes:
  0    every clause is proven
  2    wrong usage, or an audit that would be published
  3    the folder or the store cannot be read, or the store does not know the release
  5    verification failed: a clause is broken, or a file is missing, changed or added
  130  interrupted

examples:
  python -m flows.verify ./release
  python -m flows.verify ./published/edition-0001    all its releases, each alone and together
  python -m flows.verify ./release --audit ~/private/audit.parquet
  python -m flows.verify --public ./downloaded       what a recipient can check
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove the release that the arguments name; return the exit code."""
    speak_to_any_terminal()
    options = parser().parse_args(arguments)
    # Only now, so that --help answers at once.
    from tasks.phases.prove import audit_folder, prove_folder, refuse_public_audit
    from tasks.phases.prove_public import prove_public
    from tasks.runtime.columns import past_memory
    from tasks.settings import half_the_memory

    lines = None
    try:
        if options.audit and options.public:
            raise UsageError("an audit needs the store: leave out --public")
        if options.audit:
            refuse_public_audit(options.release, options.audit)
        said = options.store or config_of(options.config).get("store") or default_store()
        store = Path(private_folder(said))
        prove = prove_public if options.public else prove_folder
        with past_memory(str(cache_folder(store) / "columns"), half_the_memory()):
            verdict = prove(options.release, store)
            if options.audit:
                lines = audit_folder(options.release, store, options.audit)
    except LogveilError as fault:
        print(f"flows.verify: {fault}", file=sys.stderr)
        return fault.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    if options.json:
        print(json.dumps({"verified": not verdict.faults, "faults": verdict.faults}))
    else:
        _show(verdict)
        if lines is not None:
            print(f"audit: {lines} rows read, in {options.audit}: private, never publish it")
    return VerificationFailed.exit_code if verdict.faults else 0


def _show(verdict: Verdict) -> None:
    for clause in verdict.proven:
        print(f"proven  {clause}")
    for fault in verdict.faults:
        print(f"BROKEN  {fault}")
    for note in verdict.notes:
        print(f"note    {note}")
    if verdict.faults:
        print(f"verification failed, {len(verdict.faults)} broken: withdraw this release")
    else:
        print(f"verified: all {len(verdict.proven)} clauses hold")


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
        metavar="DIR",
        help=f"the private store the release was made with ({default_store()})",
    )
    add_config_option(made)
    option(
        "--public",
        action="store_true",
        help="check what can be checked without the store that the release was made with",
    )
    option(
        "--audit",
        type=Path,
        metavar="FILE",
        help="also write what became of every row read, and of whose: private, never publish it",
    )
    option("--json", action="store_true", help="print the result as JSON, and nothing else")
    return made


if __name__ == "__main__":
    sys.exit(main())
