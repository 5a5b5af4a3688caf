"""Public data in the form in which it loads fastest: arrays and lists of strings in one file.

What is compiled lies in a store; it can be deleted at any time and is then made again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.core.digests import digest
from tasks.core.records import Strings

PACKED = "packed_"


def stamp(paths: Iterable[Path]) -> str:
    """Changes when one of the files does, by its size and date: to read them all takes longer."""
    facts = ((str(path), path.stat()) for path in paths)
    return digest([(path, fact.st_size, fact.st_mtime_ns) for path, fact in facts])


def write_aside(path: Path, content: bytes) -> None:
    """Write a file of which nobody ever sees a half."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, aside = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    os.replace(aside, path)


def save_fields(path: Path, fields: Mapping[str, NDArray[Any]]) -> None:
    """Save arrays of numbers, and of strings without line ends, by name."""
    packed = dict(_packed(name, values) for name, values in fields.items())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".npz")
    with os.fdopen(handle, "wb") as stream:
        np.savez(stream, **packed)
    os.replace(aside, path)


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
