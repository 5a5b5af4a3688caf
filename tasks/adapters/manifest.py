"""The manifest of a release: what it consists of, how it was made and what it promises.

`manifest.json` names every file of a release folder with its size and SHA-256, so that whatever is
missing there, changed or added is seen: by anybody from the file itself, and by whoever has the
store from the copy that is kept there, which nobody can forge.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tasks.errors import InputError
from tasks.runtime.files import LOCK_NAME

MANIFEST: Final = "manifest.json"
RELEASE_NAMES: Final = ("release.tsv", "release.csv", "release.parquet")
MISSING: Final = "missing"
CHANGED: Final = "changed: it is not the file that was released"
ADDED: Final = "added: it was not released, take it away"
NOT_PLAIN: Final = "not a plain file"
TYPES: Final[Mapping[str, type]] = {"settings": dict, "versions": dict, "counted": str}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a release in an edition, both from 1 on."""

    edition: int
    release: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a release says of itself.

    Attributes:
        files: size and SHA-256 of every file but the manifest, by name.
        place: in an edition; None for a release of its own.
        counted: what k counts.
        settings, versions: as in the measures.
        promises: the clauses, in words.
    """

    files: Mapping[str, tuple[int, str]]
    place: Place | None
    counted: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    promises: Sequence[str] = field(repr=False)

    @property
    def release_name(self) -> str:
        (name,) = (name for name in RELEASE_NAMES if name in self.files)
        return name

    def as_json(self) -> bytes:
        place = self.place and {"number": self.place.edition, "release": self.place.release}
        told = {
            "edition": place,
            "counted": self.counted,
            "settings": self.settings,
            "versions": self.versions,
            "promises": self.promises,
            "files": {n: {"bytes": b, "sha256": d} for n, (b, d) in sorted(self.files.items())},
        }
        return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()


def read_manifest(content: bytes) -> Manifest | None:
    """A manifest that anybody may have written; None if it is none."""
    try:
        told = json.loads(content)
        place = told["edition"] and Place(
            int(told["edition"]["number"]), int(told["edition"]["release"])
        )
        files = {str(n): (int(f["bytes"]), str(f["sha256"])) for n, f in told["files"].items()}
        if not all(isinstance(told[name], kind) for name, kind in TYPES.items()):
            return None
        promises = tuple(map(str, told["promises"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    found = Manifest(files, place, told["counted"], told["settings"], told["versions"], promises)
    return found if sum(name in files for name in RELEASE_NAMES) == 1 else None


def release_file_in(folder: Path) -> Path:
    """The rows of a release that is in place."""
    return next(folder / name for name in RELEASE_NAMES if (folder / name).exists())


def files_in(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of the files of a draft."""
    return {path.name: _size_and_digest(path) for path in sorted(folder.iterdir())}


def differences(folder: Path, manifest: Manifest, as_published: bytes) -> list[str]:
    """What is missing in a folder, changed or added, by name; nothing if all is as it was released.

    Nothing else is tolerated there than the empty file that runs lock.

    Raises:
        InputError: the folder cannot be read.
    """
    itself = (len(as_published), hashlib.sha256(as_published).hexdigest())
    expected = {**manifest.files, MANIFEST: itself}
    try:
        found = {entry.name: entry for entry in os.scandir(folder)}
        faults = {name: MISSING for name in expected if name not in found}
        for name, entry in found.items():
            fault = _fault_of(entry, expected.get(name))
            if fault:
                faults[name] = fault
    except OSError as fault:
        raise InputError(f"cannot read {folder}: {fault.strerror}") from None
    return [f"{shown(name)}: {fault}" for name, fault in sorted(faults.items())]


def _fault_of(entry: os.DirEntry[str], expected: tuple[int, str] | None) -> str | None:
    if expected is None:
        return None if is_lock(entry) else ADDED
    if not entry.is_file(follow_symlinks=False):
        return NOT_PLAIN
    return None if _size_and_digest(Path(entry)) == expected else CHANGED


def is_plain(path: Path) -> bool:
    """Whether a file is there, and no link, pipe or device: to read those might never end."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def is_lock(entry: os.DirEntry[str]) -> bool:
    """An empty one: the name must not hide anything."""
    plain = entry.name == LOCK_NAME and entry.is_file(follow_symlinks=False)
    return plain and entry.stat(follow_symlinks=False).st_size == 0


def shown(name: str) -> str:
    """A name that somebody chose, fit for a line on a screen."""
    safe = name.encode("utf-8", "backslashreplace").decode()
    return safe if safe.isprintable() else ascii(safe)[1:-1]


def _size_and_digest(path: Path) -> tuple[int, str]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return stream.tell(), digest
