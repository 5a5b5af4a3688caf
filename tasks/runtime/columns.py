"""Columns past memory: in files that have no name, which the system reads and writes as it needs.

A large column lies in a file that is removed as soon as it is made: nobody can open it, and nothing
is left of it however the run ends. The system keeps of it in memory what there is room for, and
takes it away when memory is short, so a run never needs more than what it looks at. Room on the
disk is taken when a column is made: a full disk is a fault told then, never a crash while the
column is filled. The folder is private, and what is written are numbers: ranks of people, numbers
of texts, seconds.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tasks.core.columns import columns_in, room
from tasks.errors import disk_fault
from tasks.runtime.files import make_private

IN_MEMORY: Final = 1 / 8
"""The part of a run's memory that columns may take before they lie in files."""
LEAST_BYTES: Final = 1 << 20
"""Smaller columns lie in memory whatever there is."""


@contextmanager
def past_memory(temp: str, gigabytes: float) -> Iterator[None]:
    """Work on logs larger than memory, of which there is so much for the whole run."""
    with columns_in(ColumnFiles(Path(temp), int(gigabytes * 1e9 * IN_MEMORY))):
        yield


def most_on_disk() -> int:
    """The most bytes of columns that have been in files."""
    own = room()
    return own.most_on_disk if isinstance(own, ColumnFiles) else 0


class ColumnFiles:
    """Columns lie in memory up to a limit, and in files beyond it.

    Attributes:
        on_disk: bytes of the files that there are.
        most_on_disk: the most that there have been.
    """

    def __init__(self, folder: Path, most_in_memory: int) -> None:
        """Files are made in `folder`; so many bytes of columns may be in memory."""
        self._folder = folder
        self._free = most_in_memory
        self._mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self.on_disk = 0
        self.most_on_disk = 0

    def column(self, shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        size = prod(shape) * kind.itemsize
        if size < LEAST_BYTES:
            return np.empty(shape, dtype=kind)
        if size <= self._free:
            return self._in_memory(shape, kind, size)
        return np.ndarray(shape, dtype=kind, buffer=self._in_file(size))

    def rest(self) -> None:
        """What of the files is in this process's memory goes back to the system, which may keep
        it."""
        for mapped in self._mapped:
            mapped.madvise(mmap.MADV_DONTNEED)

    def _in_memory(self, shape: tuple[int, ...], kind: np.dtype[Any], size: int) -> NDArray[Any]:
        self._free -= size
        found = np.empty(shape, dtype=kind)
        weakref.finalize(found, self._give_back, size).atexit = False
        # A view keeps what it is made of alive, and so does every view of that.
        return found[...]

    def _give_back(self, size: int) -> None:
        self._free += size

    def _in_file(self, size: int) -> mmap.mmap:
        try:
            make_private(self._folder)
            with TemporaryFile(dir=self._folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as fault:
            raise disk_fault(
                f"{self._folder} has no room for what does not fit into memory ({fault.strerror}): "
                f"{size / 1e9:.2f} GB more are needed beside {self.on_disk / 1e9:.2f} GB; name a "
                "folder on a larger disk with --temp DIR, or give more memory with --memory",
                fault,
            ) from None
        self._mapped.add(mapped)
        self.on_disk += size
        self.most_on_disk = max(self.most_on_disk, self.on_disk)
        weakref.finalize(mapped, self._gone, size).atexit = False
        return mapped

    def _gone(self, size: int) -> None:
        self.on_disk -= size
