"""Who is still writing a file: Linux tells in /proc, as far as we may look; elsewhere nobody."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

Place = tuple[int, int]
"""Device and inode: a file by whatever name."""

PROCESSES: Final = Path("/proc")


def open_for_writing(files: Iterable[Path]) -> set[Path]:
    """Those files that some process has open for writing."""
    places = {place: path for path in files if (place := _place(path))}
    if not places:
        return set()
    return {
        places[place]
        for handle in _open_handles()
        if (place := _place(handle)) in places and _may_write(handle)
    }


def _open_handles() -> Iterator[Path]:
    """Each open file of each process that we may look into."""
    for process in _entries(PROCESSES):
        if process.name.isdigit():
            yield from _entries(process / "fd")


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def _place(path: Path) -> Place | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _may_write(handle: Path) -> bool:
    try:
        lines = (handle.parent.parent / "fdinfo" / handle.name).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
