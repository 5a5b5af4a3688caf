"""Log files by their content: what makes two runs the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tasks.adapters.logs.paths import find_files
from tasks.core.errors import StillChanging, disk_fault
from tasks.core.records import Longs, QueryLog


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file as it was at one moment.

    `stamp` is its size, time of change and place on the disk: cheap to look at again.
    """

    name: str
    digest: str
    stamp: tuple[int, int, int]


def fingerprints(paths: Sequence[str | Path]) -> tuple[Fingerprint, ...]:
    """The files behind some paths, in the order in which they are read."""
    return tuple(fingerprint(name) for name in find_files(paths))


def fingerprint(name: str) -> Fingerprint:
    try:
        before = stamp(name)
    except OSError as fault:
        raise disk_fault(f"cannot read {name}: {fault.strerror}", fault) from None
    return Fingerprint(name, content_digest(Path(name)), before)


def content_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as fault:
        raise disk_fault(f"cannot read {path}: {fault.strerror}", fault) from None


def stamp(name: str) -> tuple[int, int, int]:
    status = os.stat(name)
    return status.st_size, status.st_mtime_ns, status.st_ino


def refuse_changed(files: Sequence[Fingerprint]) -> None:
    """What was read must be what was fingerprinted: the result is kept under that name."""
    for file in files:
        try:
            same = stamp(file.name) == file.stamp
        except OSError:
            same = False
        if not same:
            raise StillChanging(f"{file.name} changed while it was read: run again later")


def record_ids(files: Sequence[Fingerprint], log: QueryLog) -> Longs:
    """A number for each row of a log, the same wherever its file lies when it is read again."""
    bases = np.array([int(file.digest[:16], 16) for file in files], dtype=np.uint64)
    # An odd factor: within a file no two rows share a number.
    spread = log.rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (bases[log.origins] ^ spread).astype(np.int64)
