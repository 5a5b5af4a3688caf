"""`python -m flows.verify`: prove an existing release again, clause by clause."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flows.cli import new_parser
from flows.process import INTERRUPTED
from tasks.core.errors import InputError, LogveilError, VerificationFailed
from tasks.settings import default_store, private_folder

if TYPE_CHECKING:
    # Loaded late where they are used, so that --help answers at once.
    from tasks.adapters.provenance import Provenance

RELEASE_NAMES: Final = ("release.tsv", "release.parquet")
UNCHANGED: Final = "the file in this folder is the one that was released"
CHANGED: Final = f"{UNCHANGED}: broken, its content has changed"

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
    try:
        proven, faults = prove(options.release, options.store)
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


def prove(folder: Path, store: Path) -> tuple[list[str], list[str]]:
    """Judge every release file of a folder.

    Returns:
        What was proven and what is broken, a sentence each; if anything is broken, the first
        list is empty.

    Raises:
        InputError: the folder holds no release, or the store does not know it.
    """
    from tasks.core.verification.clauses import promised
    from tasks.phases.verify import faults_of_release

    releases = sorted(path for path in folder.glob("release-*") if path.is_dir())
    if releases:
        return _prove_edition(releases, store)
    known = [(file, *_behind(store, folder, file)) for file in _release_files(folder)]
    proven: list[str] = []
    faults: list[str] = []
    for file, behind, changed in known:
        found = [*([CHANGED] if changed else []), *faults_of_release(store, file, behind)]
        faults += [f"{file.name}: {fault}" for fault in found]
        proven += [f"{file.name}: {clause}" for clause in (UNCHANGED, *promised(behind.promise))]
    return ([], faults) if faults else (proven, [])


def _prove_edition(folders: list[Path], store: Path) -> tuple[list[str], list[str]]:
    """Judge the releases of an edition, each alone and all together."""
    from tasks.core.verification.clauses import promised
    from tasks.core.verification.union import union_promise
    from tasks.phases.verify import faults_of_edition

    files = [file for folder in folders for file in _release_files(folder)]
    known = [_behind(store, file.parent, file) for file in files]
    tables = [behind for behind, _ in known]
    faults = [
        f"{file.parent.name}: {CHANGED}"
        for file, (_, changed) in zip(files, known, strict=True)
        if changed
    ]
    faults += faults_of_edition(store, files, tables)
    promise = union_promise([behind.promise for behind in tables])
    proven = [f"each of {len(files)} releases, and all together: {c}" for c in promised(promise)]
    return ([], faults) if faults else (proven, [])


def _release_files(folder: Path) -> list[Path]:
    """The release of a folder; more than one file if somebody put another beside it."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: name the --out folder of a release")
    found = [folder / name for name in RELEASE_NAMES if (folder / name).is_file()]
    if not found:
        raise InputError(f"{folder} holds no {' or '.join(RELEASE_NAMES)}")
    return found


def _behind(store: Path, folder: Path, release_file: Path) -> tuple[Provenance, bool]:
    """The provenance to judge a file by, and whether the file is another than was released."""
    from tasks.adapters import provenance

    if provenance.knows(store, release_file):
        return provenance.load(store, release_file), False
    return provenance.load_registered(store, folder), True


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
