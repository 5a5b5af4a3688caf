"""The cache of a store: blobs by key, on diskcache (the only door to it).

Whatever lies here can be made again: it may be deleted or evicted at any time, also by the size
limit, and results stay the same. Blobs are bytes with a checksum; diskcache would pickle anything
else, and a planted pickle runs when it is read (CVE-2025-69872), so this refuses both ways.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from diskcache import UNKNOWN, Cache, Disk, Timeout
from diskcache.core import MODE_BINARY, MODE_RAW

from tasks.core.errors import InputError
from tasks.runtime.private_files import make_private

Arrays = dict[str, np.ndarray[Any, Any]]
CHECKSUM_BYTES: Final = 16
EVICTED_AT_ONCE: Final = 2
"""Blobs that may go when one comes; diskcache's own ten are meant for small things."""
TROUBLES: Final = (OSError, sqlite3.Error, Timeout)


class BytesDisk(Disk):  # type: ignore[misc]
    """Stores bytes under strings, readable for the owner alone; refuses everything else."""

    def put(self, key: Any) -> tuple[Any, bool]:
        if type(key) is not str:
            raise TypeError("keys of the cache are strings")
        return key, True

    def get(self, key: Any, raw: bool) -> Any:
        if not raw:
            raise TypeError("keys of the cache are never pickled")
        return key

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Any:
        if type(value) is not bytes or read:
            raise TypeError("values of the cache are bytes")
        return super().store(value, read, key)

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:
        if mode not in (MODE_RAW, MODE_BINARY):
            raise OSError("not written by this cache")
        return super().fetch(mode, filename, value, read)

    def _write(self, full_path: str, iterator: Any, mode: str, encoding: Any = None) -> int:
        folder = Path(full_path).parent
        for each in (folder.parent, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(full_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as stream:
            # diskcache gives a stream of bytes, which would come line by line.
            return stream.write(iterator.getbuffer())


class BlobCache:
    """Blobs of one store.

    Attributes:
        unwritten: blobs that could not be kept, because the disk is full, say.
    """

    def __init__(self, store: Path, limit_bytes: int) -> None:
        self._folder = store / "cache"
        self._limit = limit_bytes
        self.unwritten = 0
        try:
            make_private(store)
            self._cache = self._open()
        except TROUBLES as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            raise InputError(f"cannot use --store {store}: {reason}") from None

    def _open(self) -> Any:
        try:
            return self._opened()
        except sqlite3.DatabaseError as fault:
            if fault.sqlite_errorcode not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            # Damaged beyond reading: nothing in it cannot be made again.
            shutil.rmtree(self._folder, ignore_errors=True)
            return self._opened()

    def _opened(self) -> Any:
        make_private(self._folder)
        # SQLite gives the files beside its database the same mode.
        (self._folder / "cache.db").touch(mode=0o600)
        return Cache(
            str(self._folder),
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

    def get(self, key: str) -> bytes | None:
        """What was kept under a key, or None; a damaged blob is dropped."""
        try:
            kept = cast("bytes | None", self._cache.get(key, retry=True))
        except (*TROUBLES, TypeError):
            return None
        if kept is None:
            return None
        checksum, content = kept[:CHECKSUM_BYTES], kept[CHECKSUM_BYTES:]
        if checksum == _checksum(key, content):
            return content
        self.drop(key)
        return None

    def put(self, key: str, content: bytes) -> None:
        """Keep a blob, if there is room."""
        try:
            self._cache.set(key, _checksum(key, content) + content, retry=True)
        except TROUBLES:
            self.unwritten += 1

    def drop(self, key: str) -> None:
        try:
            self._cache.delete(key, retry=True)
        except TROUBLES:
            self.unwritten += 1

    def get_arrays(self, key: str) -> Arrays | None:
        content = self.get(key)
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def put_arrays(self, key: str, arrays: Arrays) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        self.put(key, buffer.getvalue())

    def listed(self, name: str) -> list[str]:
        """Keys that were entered in a list, in that order; those behind them may be gone."""
        content = self.get(name)
        return content.decode().split("\n") if content else []

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
                self.put(name, "\n".join(change(self.listed(name))).encode())
        except TROUBLES:
            self.unwritten += 1


def _checksum(key: str, content: bytes) -> bytes:
    """Covers the key as well: a blob under another's name is noticed."""
    hashed = hashlib.blake2b(key.encode(), digest_size=CHECKSUM_BYTES)
    hashed.update(content)
    return hashed.digest()
