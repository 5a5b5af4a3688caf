"""Provenance: who stands behind each row of a release, and what became of every row that was read.

A private table in the private folder of its release (`private_folders.py`), under the secret of the
store: nobody can forge one without it. People, attribute sets and concepts are plain numbers; no
text and no user id is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tasks.adapters.private_folders import (
    TABLE,
    Kept,
    damaged,
    read_private,
    secret_of,
)
from tasks.core.records import AttributeSets, Ints, Longs, freeze
from tasks.core.verification.evidence import Behind, Promise
from tasks.runtime.codec import MAC_BYTES, pack, signed, unpack, unsigned
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
        sets: an opaque number of the original sensitive set behind each row, or -1.
        records: the record behind each row, numbered alike in all releases of the same files.
        units: who asked what behind each row: a keyed hash of person and text.
        mentions: which of the sets below each row's record mentions.
        mentioned: sets of concepts: all that a query mentions, not only what stands for others.
        wordnet: version of the WordNet that numbers the concepts.
        promise: what the release promises.
    """

    read: RowsRead
    sets: Ints
    records: Longs
    units: Longs
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


def save(store: Path, private: Path, provenance: Provenance) -> None:
    """Keep the provenance of a release in its private folder."""
    write_private(private / TABLE, signed(secret_of(store), TABLE, pack(provenance)))


def load(store: Path, private: Path) -> Provenance:
    """The provenance in a private folder.

    Raises:
        InputError: there is none, or a damaged one, or one that this store has not signed.
    """
    path = private / TABLE
    content = unsigned(secret_of(store), TABLE, read_private(path))
    if content is None:
        raise damaged(path)
    try:
        found = unpack(content)
    except (TypeError, ValueError, KeyError, AttributeError):
        # Written by another version of this program, which keeps other things.
        raise damaged(path) from None
    if not isinstance(found, Provenance):
        raise damaged(path)
    return found


def load_kept(store: Path, kept: Kept) -> Provenance:
    """The provenance of a release that the store knows, and of no other.

    Raises:
        InputError: as `load`, or the table is another release's.
    """
    if read_private(kept.private / TABLE)[:MAC_BYTES].hex() != kept.table:
        raise damaged(kept.private / TABLE)
    return load(store, kept.private)


def numbered_people(tables: Sequence[Provenance]) -> list[Behind]:
    """Who stands behind the rows of several releases, people numbered 0, 1, … alike in all."""
    users = _numbered([table.users for table in tables])
    return [
        Behind(own, table.units, table.sets, table.mentions, table.mentioned)
        for own, table in zip(users, tables, strict=True)
    ]


def _numbered(parts: Sequence[Longs]) -> list[Ints]:
    """Equal values of all parts get equal numbers from 0 on."""
    _, numbers = np.unique(np.concatenate(parts), return_inverse=True)
    return np.split(numbers.astype(np.int32), np.cumsum([*map(len, parts)])[:-1])
