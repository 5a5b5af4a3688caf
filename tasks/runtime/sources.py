"""Where the bytes of a log are: in a file, at an URL (by fsspec), on standard input, in memory.

Nothing of an URL is kept on this machine: it is read anew each time. Standard input can be read
only once, so it is copied to a file without a name: nobody else can open that, and it is gone with
this process, however that ends. A table of a notebook is a file in memory, while it is released.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, BinaryIO, Final, TypeVar
from urllib.parse import urlsplit

from tasks.errors import DiskTrouble, InputError, UsageError

STANDARD_INPUT: Final = "<standard input>"
"""What `-` is called in messages and tables."""
TABLE: Final = "<table>"
"""What a table in memory is called there."""

Stamp = tuple[int, int, int]
T = TypeVar("T")


_IN_MEMORY: Final[ContextVar[BinaryIO | None]] = ContextVar("in_memory", default=None)


def is_file(name: str) -> bool:
    """Whether a source is a file of this machine."""
    return not is_own(name) and "://" not in name


def is_own(name: str) -> bool:
    """Whether a source is this process's alone."""
    return name == STANDARD_INPUT or (name == TABLE and _IN_MEMORY.get() is not None)


@contextmanager
def in_memory(write: Callable[[BinaryIO], None]) -> Iterator[str]:
    """A name by which the bytes that are written can be read, in this process and for now."""
    with os.fdopen(os.memfd_create("logveil"), "w+b") as stream:
        write(stream)
        stream.flush()
        token = _IN_MEMORY.set(stream)
        try:
            yield TABLE
        finally:
            _IN_MEMORY.reset(token)


def _own(name: str) -> int:
    """The open file that a source of this process is."""
    table = _IN_MEMORY.get()
    return (table if name == TABLE and table is not None else _spooled()).fileno()


def open_source(name: str) -> BinaryIO:
    """The bytes of a source, from their start.

    Raises:
        OSError: a file cannot be opened.
        InputError: an URL, or standard input, cannot be read.
    """
    if is_own(name):
        return open(f"/proc/self/fd/{_own(name)}", "rb")
    if "://" in name:
        opened: BinaryIO = _ask(name, lambda system, path: system.open(path, "rb"))
        return opened
    return open(name, "rb")


def source_stamp(name: str) -> Stamp:
    """What changes with a source and is cheap to look at: size, time of change, place."""
    if "://" in name:
        return _ask(name, _stamp_at)
    status = os.fstat(_own(name)) if is_own(name) else os.stat(name)
    return status.st_size, status.st_mtime_ns, status.st_ino


def source_size(name: str) -> int:
    return source_stamp(name)[0]


def sources_at(url: str) -> list[str]:
    """The files that an URL stands for: one, those directly in a folder, or those of a glob."""
    return _ask(url, _files_at)


def refuse_credentials(url: str) -> None:
    """An URL is shown in messages and kept in tables: it must not hold what opens it."""
    parts = urlsplit(url)
    if "@" in parts.netloc or (parts.scheme.startswith("http") and parts.query) or "::" in url:
        raise UsageError(
            "an URL of a log may hold no user, password, signature or chain (::): leave them to "
            "the settings of its storage, or pipe the log into: logveil run -"
        )


def _ask(url: str, question: Callable[[Any, str], T]) -> T:
    """Ask the system behind an URL; what network libraries raise may quote what they were told."""
    refuse_credentials(url)
    # Takes long, and most logs are files.
    import fsspec

    try:
        # A listing that is remembered would hide what has come since.
        system, path = fsspec.url_to_fs(url, use_listings_cache=False)
        return question(system, path)
    except InputError:
        raise
    except (ImportError, ValueError):
        complaint = InputError(
            f"cannot read {url}: its kind of URL is not known here; s3:// needs pip install "
            "'logveil[s3]', others the package that fsspec names for them"
        )
    except FileNotFoundError:
        complaint = InputError(f"{url} does not exist: check the address")
    except PermissionError:
        complaint = InputError(f"cannot read {url}: check the credentials that your settings give")
    except Exception as fault:
        complaint = DiskTrouble(
            f"cannot reach {url} ({type(fault).__name__}): check the address, the network and the "
            "credentials that your settings give"
        )
    raise complaint


def _stamp_at(system: Any, path: str) -> Stamp:
    known = hashlib.sha256(str(system.ukey(path)).encode()).digest()
    return int(system.size(path) or 0), int.from_bytes(known[:7], "big"), 0


def _files_at(system: Any, path: str) -> list[str]:
    if "*" in path or "[" in path:
        found = [name for name in system.glob(path) if system.isfile(name)]
        found = [name for name in found if not _is_hidden(name)]
    elif system.isdir(path):
        listed = system.ls(path, detail=True)
        found = [entry["name"] for entry in listed if entry["type"] == "file"]
        found = [name for name in found if not _is_hidden(name)]
    else:
        system.info(path)
        found = [path]
    if not found:
        raise InputError(f"no file is at {system.unstrip_protocol(path)}: check the address")
    return [str(system.unstrip_protocol(name)) for name in found]


def _is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")


@cache
def _spooled() -> BinaryIO:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("standard input is the terminal: pipe a log into it, or name a file")
    spool = tempfile.TemporaryFile(prefix="logveil-")  # noqa: SIM115 - as long as the process
    try:
        shutil.copyfileobj(sys.stdin.buffer, spool)
        spool.flush()
    except OSError:
        complaint = f"standard input does not fit into {tempfile.gettempdir()}: set TMPDIR, or save"
        raise InputError(f"{complaint} the log to a file first") from None
    return spool
