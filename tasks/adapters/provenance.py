"""Provenance: who stands behind each row of a release, and what became of every row that was read.

A private table in `<store>/releases`, under the hash of its release file's bytes, so it fits that
file and no other. A published folder is registered under the hash of its path, so that a file
changed in place can still be held against the table of the file that was released there.
People, attribute sets and concepts are plain numbers; no text and no user id is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tasks.core.records import AttributeSets, Ints, Longs, freeze
from tasks.core.verification.evidence import Behind, Promise
from tasks.errors import InputError
from tasks.runtime.codec import pack, sealed, unpack, unsealed
from tasks.runtime.files import write_private


@dataclass(frozen=True, slots=True, eq=False)
class RowsRead:
    """Every row that was read for a release, and what became of it.

    First the published rows in the order of the release, then those withheld, then the rejects.

    Attributes:
        files: names of the files, as in `rejects.tsv`.
        digests: of their contents.
        origins: file of each row, shape (n,).
        rows: its number there, as in `rejects.tsv`, shape (n,).
        people: who asked, numbered alike in all releases of a store; of a reject nobody knows.
        reasons: why rows are not published, in words; the first is that of published ones.
        reason_of: the reason of each row, shape (n,).
    """

    files: tuple[str, ...]
    digests: tuple[str, ...]
    origins: Ints
    rows: Longs
    people: Longs
    reasons: tuple[str, ...]
    reason_of: Ints

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """Who stands behind the rows of a release.

    Attributes:
        read: all rows read; the first of them are those of the release.
        sets: an opaque number of the original attribute set behind each row, or -1.
        records: the record behind each row, numbered alike in all releases of the same files.
        mentions: which of the sets below each row's record mentions.
        mentioned: sets of concepts: all that a query mentions, not only what stands for others.
        wordnet: version of the WordNet that numbers the concepts.
        promise: what the release promises.
    """

    read: RowsRead
    sets: Ints
    records: Longs
    mentions: Ints
    mentioned: AttributeSets
    wordnet: str
    promise: Promise

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def users(self) -> Longs:
        """The person behind each row."""
        return self.read.people[: len(self.sets)]


KEY_LENGTH: Final = 32
KEY: Final = re.compile(f"[0-9a-f]{{{KEY_LENGTH}}}")
REMEDY: Final = "run flows.run again to make the release anew"


def save(store: Path, release_file: Path, provenance: Provenance) -> None:
    """Keep the provenance of a written release, which may still lie in a temporary folder."""
    key = release_key(release_file)
    write_private(_table_path(store, key), sealed(key, pack(provenance)))


def load(store: Path, release_file: Path) -> Provenance:
    """The provenance of exactly this file.

    Raises:
        InputError: the file cannot be read, or the store has no such table, or a damaged one.
    """
    return _load(store, release_key(release_file))


def knows(store: Path, release_file: Path) -> bool:
    """Whether the store has the provenance of exactly this file."""
    return _table_path(store, release_key(release_file)).exists()


def register(store: Path, folder: Path, release_file: Path, fingerprint: str) -> None:
    """Remember which release was published in a folder; a later one takes its place.

    Args:
        fingerprint: of all that decided it.
    """
    pointer = {**_contents(folder, release_file), "fingerprint": fingerprint}
    write_private(_pointer_path(store, folder), json.dumps(pointer).encode())


def forget(store: Path, folder: Path) -> None:
    """Forget who stands behind the release of a folder, unless another folder holds the same."""
    pointer = _pointer_path(store, folder)
    try:
        key = str(json.loads(pointer.read_bytes())["release"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    pointer.unlink()
    others = (other.read_text(encoding="utf-8") for other in pointer.parent.glob("*.json"))
    if KEY.fullmatch(key) and not any(key in other for other in others):
        _table_path(store, key).unlink(missing_ok=True)


def is_in_place(store: Path, folder: Path, release_file: Path, fingerprint: str) -> bool:
    """Whether a folder holds, unchanged, what these decisions led to before, and its proof."""
    try:
        pointer = json.loads(_pointer_path(store, folder).read_bytes())
        found = {**_contents(folder, release_file), "fingerprint": fingerprint}
        return bool(pointer == found) and knows(store, release_file)
    except (OSError, ValueError, InputError):
        return False


def _contents(folder: Path, release_file: Path) -> dict[str, str]:
    rejects = folder / "rejects.tsv"
    return {"release": release_key(release_file), "rejects": release_key(rejects)}


def load_registered(store: Path, folder: Path) -> Provenance:
    """The provenance of the release last published in a folder, whatever lies there now.

    Raises:
        InputError: nothing was published there with this store, or its table is damaged.
    """
    path = _pointer_path(store, folder)
    try:
        key = str(json.loads(_read(path))["release"])
    except (ValueError, KeyError, TypeError):
        raise _damaged(path) from None
    if KEY.fullmatch(key) is None:
        raise _damaged(path)
    return _load(store, key)


def release_key(release_file: Path) -> str:
    """The name of a release file by its content."""
    try:
        with release_file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:KEY_LENGTH]
    except OSError as fault:
        raise InputError(f"cannot read {release_file}: {fault.strerror}") from None


def numbered_people(tables: Sequence[Provenance]) -> list[Behind]:
    """Who stands behind the rows of several releases, people numbered 0, 1, … alike in all."""
    everybody = np.concatenate([table.users for table in tables])
    _, numbers = np.unique(everybody, return_inverse=True)
    bounds = np.cumsum([len(table.users) for table in tables])[:-1]
    users = np.split(numbers.astype(np.int32), bounds)
    return [
        Behind(own, table.sets, table.mentions, table.mentioned)
        for own, table in zip(users, tables, strict=True)
    ]


def _table_path(store: Path, key: str) -> Path:
    return store / "releases" / f"{key}.npz"


def _pointer_path(store: Path, folder: Path) -> Path:
    key = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:KEY_LENGTH]
    return store / "releases" / f"{key}.json"


def _load(store: Path, key: str) -> Provenance:
    path = _table_path(store, key)
    content = unsealed(key, _read(path))
    if content is None:
        raise _damaged(path)
    try:
        found = unpack(content)
    except (TypeError, ValueError, KeyError, AttributeError):
        # Written by another version of this program, which keeps other things.
        raise _damaged(path) from None
    if not isinstance(found, Provenance):
        raise _damaged(path)
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"the store {path.parent.parent} does not know that release: "
            "was the release file changed, or made with another --store?"
        ) from None
    except OSError as fault:
        raise InputError(f"cannot read {path}: {fault.strerror}") from None


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged: {REMEDY}")
