"""The store: whatever is kept from run to run, on diskcache (the only door to it).

Values lie under keys that name all that decides them, through one codec, behind one checksum; a
large one is never in memory as bytes.
Whatever lies here can be made again: it may be deleted or evicted at any time, also by the size
limit, and results stay the same. diskcache would pickle what is not bytes, and a planted pickle
runs when it is read (CVE-2025-69872), so this refuses both ways. (The ledger and the provenance of
releases cannot be made again, and are not here.)
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar, cast

from diskcache import UNKNOWN, Cache, Disk, Timeout
from diskcache.core import MODE_BINARY, MODE_RAW

from tasks.errors import InputError
from tasks.folders import cache_folder
from tasks.runtime.codec import Packed, is_sealed, unpack
from tasks.runtime.files import make_private, store_secret

EVICTED_AT_ONCE: Final = 2
"""Values that may go when one comes; diskcache's own ten are meant for small things."""
NO_LIMIT: Final = 2**62
"""Of who only reads: it evicts nothing."""
GIGABYTE: Final = 10**9
LARGE: Final = 1 << 24
"""A value of so many bytes is written to its file and read from there some at a time."""
ODD: Final = (ValueError, TypeError, AttributeError, LookupError)
"""What diskcache raises if its own entries are damaged."""
TROUBLES: Final = (OSError, sqlite3.Error, Timeout, *ODD)
DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
Value = TypeVar("Value")


class Large(NamedTuple):
    """A value that is written to its file some at a time, behind its checksum."""

    key: str
    packed: Packed


class BytesDisk(Disk):  # type: ignore[misc]
    """Stores bytes under strings, readable for the owner alone; refuses everything else."""

    def put(self, key: Any) -> tuple[Any, bool]:
        if type(key) is not str:
            raise TypeError("keys of the store are strings")
        return key, True

    def get(self, key: Any, raw: bool) -> Any:
        if not raw:
            raise TypeError("keys of the store are never pickled")
        return key

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Any:
        if type(value) is Large:
            filename, path = self.filename(key, value)
            with _own_file(path) as stream:
                value.packed.write_sealed(stream, value.key)
            return Path(path).stat().st_size, MODE_BINARY, filename, None
        if type(value) is not bytes or read:
            raise TypeError("values of the store are bytes")
        return super().store(value, read, key)

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:
        own = mode == MODE_RAW or (mode == MODE_BINARY and self._is_own(filename))
        if not own:
            raise OSError("not written by this store")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: Any) -> None:
        if self._is_own(file_path):
            super().remove(file_path)

    def _is_own(self, filename: Any) -> bool:
        """Whoever can write to the database could name any file, to be read or deleted."""
        folder = Path(self._directory).resolve()
        return type(filename) is str and (folder / filename).resolve().is_relative_to(folder)

    def _write(self, full_path: str, iterator: Any, mode: str, encoding: Any = None) -> int:
        with _own_file(full_path) as stream:
            # diskcache gives a stream of bytes, which would come line by line.
            return stream.write(iterator.getbuffer())


@contextmanager
def _own_file(path: str) -> Iterator[IO[bytes]]:
    """A new file; gone again if it cannot be written to the end."""
    folder = Path(path).parent
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        with os.fdopen(handle, "w+b") as stream:
            yield stream
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


class Store:
    """What one store keeps.

    Attributes:
        folder: where it lies.
        unwritten: values that could not be kept, because the disk is full, say.
    """

    def __init__(self, folder: str | Path, limit_bytes: int = NO_LIMIT) -> None:
        self.folder = Path(folder)
        self._limit = limit_bytes
        self.unwritten = 0
        try:
            make_private(self.folder)
            self._cache = self._open()
        except TROUBLES as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            raise InputError(f"cannot use --store {folder}: {reason}") from None

    @cached_property
    def secret(self) -> bytes:
        """The key of all hashes of texts and people."""
        return store_secret(self.folder)

    def _open(self) -> Any:
        try:
            return self._opened()
        except ODD:
            pass
        except sqlite3.DatabaseError as fault:
            # A text that is not UTF-8 has no code: Python finds it, not SQLite.
            if getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) not in DAMAGED:
                raise
        # Damaged beyond reading: nothing in it cannot be made again.
        shutil.rmtree(cache_folder(self.folder) / "cache", ignore_errors=True)
        return self._opened()

    def _opened(self) -> Any:
        folder = cache_folder(self.folder) / "cache"
        make_private(folder)
        # SQLite gives the files beside its database the same mode.
        (folder / "cache.db").touch(mode=0o600)
        return Cache(
            str(folder),
            disk=BytesDisk,
            size_limit=self._limit,
            eviction_policy="least-recently-stored",
            cull_limit=EVICTED_AT_ONCE,
        )

    def close(self) -> None:
        self._cache.close()

    def __contains__(self, key: str) -> bool:
        try:
            return key in self._cache
        except TROUBLES:
            return False

    def load(self, key: str, kind: type[Value]) -> Value | None:
        """What is kept under a key, if it is of that kind; a damaged value is dropped."""
        stream = self._stream(key)
        if stream is None:
            return None
        with stream:
            value = unpack(stream)
        return value if isinstance(value, kind) else None

    def _stream(self, key: str) -> IO[bytes] | None:
        """What is kept, behind its checksum, which is right."""
        try:
            found = cast("bytes | IO[bytes] | None", self._cache.get(key, read=True, retry=True))
            if found is None:
                return None
            stream = BytesIO(found) if isinstance(found, bytes) else found
            if is_sealed(stream, key):
                return stream
        except TROUBLES:
            return None
        stream.close()
        self.drop(key)
        return None

    def save(self, key: str, value: Any) -> None:
        """Keep a value, if there is room."""
        packed = Packed(value)
        content = Large(key, packed) if packed.size >= LARGE else packed.sealed(key)
        try:
            self._cache.set(key, content, retry=True)
        except TROUBLES:
            self.unwritten += 1

    def remember(self, key: str, kind: type[Value], make: Callable[[], Value]) -> Value:
        """What is kept under a key, or else what is made now and kept."""
        known = self.load(key, kind)
        if known is not None:
            return known
        made = make()
        self.save(key, made)
        return made

    def drop(self, key: str) -> None:
        try:
            self._cache.delete(key, retry=True)
        except TROUBLES:
            self.unwritten += 1

    def listed(self, name: str) -> list[str]:
        """Keys that were entered in a list, in that order; those behind them may be gone."""
        return self.load(name, list) or []

    def enlist(self, name: str, key: str) -> None:
        """Enter a key in a list, after all others."""
        self._change_list(name, lambda keys: [*(k for k in keys if k != key), key])

    def relist(self, name: str, keys: list[str], gone: list[str]) -> None:
        """Put some keys in the place of others, which are dropped."""
        self._change_list(name, lambda listed: [*(k for k in listed if k not in gone), *keys])
        for key in set(gone) - set(keys):
            self.drop(key)

    def _change_list(self, name: str, change: Callable[[list[str]], list[str]]) -> None:
        try:
            with self._cache.transact(retry=True):
                self.save(name, change(self.listed(name)))
        except TROUBLES:
            self.unwritten += 1
