"""Fingerprints: names made of all that decides a result, so that equal names mean equal results.

Of a phase that is the content of the log files, the settings that matter, and the code: the phase's
own module and every module of `tasks` that it imports, directly or not, with the lists in `data/`
folders beside them, and the versions of the libraries that decide results. So a change of the
report's style discards nothing, and a change of the tokeniser discards whatever was analysed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.core.digests import digest
from tasks.core.records import Ints, Longs, Narrow
from tasks.errors import StillChanging, disk_fault
from tasks.runtime.sources import open_source, source_stamp

ROOT: Final = Path(__file__).parents[2]
LIBRARIES: Final = (
    *("drug-named-entity-recognition", "faker", "names", "nicknames", "nltk", "numpy"),
    *("phonenumbers", "presidio-analyzer", "scipy", "spacy", "symspellpy", "wn"),
)
# Also imports within functions and for types alone: one too many only costs time.
_IMPORT: Final = re.compile(
    r"^\s*(?:from\s+(tasks[\w.]*)\s+import\s+(?:\(([^)]*)\)|([^\n(]+))|import\s+(tasks[\w.]*))",
    re.MULTILINE,
)
_COMMENT: Final = re.compile(r"#[^\n]*")


@lru_cache(maxsize=64)
def code_fingerprint(module: str, root: Path = ROOT) -> str:
    """Changes with the code that a module runs, with its data, and with the libraries."""
    files = sorted({path for each in code_of(module, root) for path in _with_data(each)})
    contents = [(str(path.relative_to(root)), _digest_of(path, file_stamp(path))) for path in files]
    return digest(contents, _versions())


@lru_cache(maxsize=1)
def program_fingerprint() -> str:
    """Changes with any code of this program: machines that work together must have the same."""
    files = sorted((ROOT / "tasks").rglob("*.py"))
    return digest([(str(path.relative_to(ROOT)), digest(path.read_bytes())) for path in files])


def code_of(module: str, root: Path = ROOT) -> set[Path]:
    """The files of a module and of all that it imports of this program, directly or not."""
    found: set[Path] = set()
    new = [*_files([module], root)]
    while new:
        path = new.pop()
        if path not in found:
            found.add(path)
            new += _imported(path, root, file_stamp(path))
    return found


# Phases have most of their code in common: of each file this is found once a process.
@cache
def _imported(path: Path, root: Path, stamp: tuple[int, int, int]) -> tuple[Path, ...]:
    return tuple(_files(_imports(path.read_text(encoding="utf-8")), root))


@cache
def _digest_of(path: Path, stamp: tuple[int, int, int]) -> str:
    return digest(path.read_bytes())


@lru_cache(maxsize=1)
def _versions() -> list[tuple[str, str]]:
    return [(name, version(name)) for name in LIBRARIES]


def _imports(source: str) -> Iterator[str]:
    """Names that are imported: modules, and what is taken from them, which may be modules."""
    for package, in_brackets, in_line, module in _IMPORT.findall(_COMMENT.sub("", source)):
        yield package or module
        for name in (in_brackets or in_line).split(","):
            yield f"{package}.{name.split(' as ')[0].strip()}"


def _files(modules: Iterable[str], root: Path) -> Iterator[Path]:
    """Of those that are modules."""
    paths = (root.joinpath(*module.split(".")).with_suffix(".py") for module in modules)
    return (path for path in paths if path.is_file())


def _with_data(path: Path) -> Iterator[Path]:
    yield path
    data = path.parent / "data"
    if data.is_dir():
        yield from (own for own in data.iterdir() if own.is_file())


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log as it was at one moment.

    Attributes:
        digest: of its content.
        stamp: its size, time of change and place on the disk: cheap to look at again.
    """

    name: str
    digest: str
    stamp: tuple[int, int, int]


def log_file(name: str) -> LogFile:
    try:
        before = source_stamp(name)
    except OSError as fault:
        raise disk_fault(f"cannot read {name}: {fault.strerror}", fault) from None
    return LogFile(name, content_digest(name), before)


def content_digest(name: str | Path) -> str:
    """SHA-256 of the bytes of a log, in hexadecimal.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        stream: Any
        with open_source(str(name)) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as fault:
        raise disk_fault(f"cannot read {name}: {fault.strerror}", fault) from None


def file_stamp(name: str | Path) -> tuple[int, int, int]:
    status = os.stat(name)
    return status.st_size, status.st_mtime_ns, status.st_ino


def refuse_changed(files: Sequence[LogFile]) -> None:
    """What was read must be what was fingerprinted: the result is kept under that name."""
    for file in files:
        try:
            same = source_stamp(file.name) == file.stamp
        except OSError:
            same = False
        if not same:
            raise StillChanging(f"{file.name} changed while it was read: run again later")


def record_ids(digests: Sequence[str], origins: Narrow, rows: Ints | Longs) -> Longs:
    """A number for each row of some files, the same wherever its file lies when it is read again.

    Args:
        digests: of the files' contents.
        origins: file of each row, shape (n,).
        rows: its number there, shape (n,).
    """
    bases = np.array([int(digest[:16], 16) for digest in digests], dtype=np.uint64)
    # An odd factor: within a file no two rows share a number.
    spread = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (bases[origins] ^ spread).astype(np.int64)
