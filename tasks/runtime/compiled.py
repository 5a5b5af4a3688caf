"""Public data in the form in which it loads fastest: arrays and lists of strings in one file.

What is compiled lies in a store; it can be deleted at any time and is then made again.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.core.digests import digest
from tasks.core.records import Strings
from tasks.runtime.files import write_private

PACKED = "packed_"


def stamp(paths: Iterable[Path]) -> str:
    """Changes when one of the files does, by its size and date: to read them all takes longer."""
    facts = ((str(path), path.stat()) for path in paths)
    return digest([(path, fact.st_size, fact.st_mtime_ns) for path, fact in facts])


def save_fields(path: Path, fields: Mapping[str, NDArray[Any]]) -> None:
    """Save arrays of numbers, and of strings without line ends, by name."""
    buffer = io.BytesIO()
    np.savez(buffer, **dict(_packed(name, values) for name, values in fields.items()))
    write_private(path, buffer.getvalue())


def load_fields(path: Path) -> dict[str, NDArray[Any]]:
    """What `save_fields` saved."""
    with np.load(path, allow_pickle=False) as archive:
        return dict(_unpacked(name, archive[name]) for name in archive.files)


def _packed(name: str, values: NDArray[Any]) -> tuple[str, Any]:
    if values.dtype != np.object_:
        return name, values
    return PACKED + name, np.frombuffer("\n".join(values.tolist()).encode(), dtype=np.uint8)


def _unpacked(name: str, values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    if not name.startswith(PACKED):
        return name, values
    strings: Strings = np.array(values.tobytes().decode().split("\n"), dtype=object)
    return name.removeprefix(PACKED), strings
