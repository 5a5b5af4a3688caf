"""Files by name that processes on several machines share: a folder, NFS, or `s3://` (fsspec).

Each file carries a checksum and is there whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import fsspec

from tasks.core.errors import DiskTrouble, InputError
from tasks.runtime.private_files import remove_asides, write_private

CHECKSUM_BYTES: Final = 16


class SharedFiles:
    """The files below one address; in a folder they are readable for their owner alone."""

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            # A listing that is remembered would hide what another process has written since.
            self._system, self._root = fsspec.url_to_fs(address, use_listings_cache=False)
        except (ImportError, ValueError) as fault:
            raise InputError(f"cannot use --store {address}: {fault}") from None

    def put(self, name: str, content: bytes) -> None:
        whole = _checksum(name, content) + content
        if self._is_folder:
            write_private(Path(self._path(name)), whole)
            return
        try:
            self._system.pipe_file(self._path(name), whole)
        except Exception as fault:
            raise self._failed(fault) from None

    def get(self, name: str) -> bytes | None:
        """The content of a file, None if it is missing; a damaged one is removed."""
        try:
            whole = self._system.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        except Exception as fault:
            raise self._failed(fault) from None
        checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
        if checksum == _checksum(name, content):
            return bytes(content)
        self.remove([name])
        return None

    def holds(self, name: str) -> bool:
        try:
            return bool(self._system.exists(self._path(name)))
        except Exception as fault:
            raise self._failed(fault) from None

    def remove(self, names: Collection[str]) -> None:
        """Remove files as far as they are there, and what a lost worker left half written."""
        for name in names:
            if self.holds(name):
                self._system.rm_file(self._path(name))
        if self._is_folder:
            remove_asides(Path(self._path(name)) for name in names)

    @property
    def _is_folder(self) -> bool:
        return "file" in self._system.protocol

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _failed(self, fault: Exception) -> InputError:
        """Network libraries raise what they like; what they say holds no row of a log."""
        lasting = isinstance(fault, PermissionError | FileNotFoundError)
        kind = InputError if lasting else DiskTrouble
        return kind(f"cannot use --store {self.address}: {type(fault).__name__}: {fault}")


def _checksum(name: str, content: bytes) -> bytes:
    """Covers the name as well: a file under another's name is noticed."""
    hashed: Any = hashlib.blake2b(name.encode(), digest_size=CHECKSUM_BYTES)
    hashed.update(content)
    return bytes(hashed.digest())
