"""Rejects: rows that were set aside, listed in the store: names of files and rows are private."""

from __future__ import annotations

import hashlib
import os
from itertools import chain
from pathlib import Path
from typing import Final

from tasks.adapters.private_folders import UNRELEASED
from tasks.core.records import QueryLog
from tasks.errors import printable
from tasks.runtime.files import write_private

REJECTS: Final = "rejects.tsv"


def rejects_without_release(store: Path, out: Path) -> Path:
    """Where the rejects of a run lie that could not release anything to a folder."""
    place = hashlib.sha256(os.fsencode(out.resolve())).hexdigest()[:32]
    return store / UNRELEASED / place / REJECTS


def write_rejects(path: Path, log: QueryLog) -> None:
    """File, row number and reason of every row set aside, never its text; for the owner alone."""
    files = [printable(name) for name in log.sources]
    rows = zip(
        map(files.__getitem__, log.reject_sources),
        map(str, log.reject_rows),
        map(printable, log.reject_reasons),
        strict=True,
    )
    lines = ("\t".join(row) + "\n" for row in chain([("file", "row", "reason")], rows))
    write_private(path, lambda stream: stream.writelines(line.encode() for line in lines))
