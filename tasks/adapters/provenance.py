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
    of_another_version,
    open_private_file,
    secret_of,
    table_mac,
)
from tasks.core.arrays import taken
from tasks.core.records import AttributeSets, Ints, Longs, Narrow, freeze
from tasks.core.verification.evidence import Behind, Promise
from tasks.runtime.codec import is_signed, unpack, write_signed
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
        users: who asked, an index into `people`; of a reject nobody knows.
        people: a number for each person, alike in all releases of a store.
        reasons: why rows are not published, in words; the first is that of published ones.
        reason_of: the reason of each row, shape (n,).
    """

    files: tuple[str, ...]
    digests: tuple[str, ...]
    origins: Narrow
    rows: Ints | Longs
    users: Ints
    people: Longs
    reasons: tuple[str, ...]
    reason_of: Narrow

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """Who stands behind the rows of a release.

    Attributes:
        read: all rows read; the first of them are those of the release.
        sets: an opaque number of the original sensitive set behind each row, or -1.
        units: who asked what behind each row: a keyed hash of person and text.
        mentions: which of the sets below each row's record mentions.
        mentioned: sets of concepts: all that a query mentions, not only what stands for others.
        wordnet: version of the WordNet that numbers the concepts.
        promise: what the release promises.
    """

    read: RowsRead
    sets: Ints
    units: Longs
    mentions: Ints
    mentioned: AttributeSets
    wordnet: str
    promise: Promise

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def users(self) -> Ints:
        """The person behind each row, as an index into `read.people`."""
        return self.read.users[: len(self.sets)]

    @property
    def people(self) -> Longs:
        """The person behind each row, numbered alike in all releases of a store."""
        return taken(self.read.people, self.users)


def save(store: Path, private: Path, provenance: Provenance) -> None:
    """Keep the provenance of a release in its private folder."""
    secret = secret_of(store)
    write_private(private / TABLE, lambda stream: write_signed(stream, secret, TABLE, provenance))


def load(store: Path, private: Path) -> Provenance:
    """The provenance in a private folder.

    Raises:
        InputError: there is none, or a damaged one, or one that this store has not signed.
    """
    path, secret = private / TABLE, secret_of(store)
    with open_private_file(path) as stream:
        if not is_signed(stream, secret, TABLE):
            raise damaged(path)
        try:
            found = unpack(stream)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise of_another_version(path) from None
    if not isinstance(found, Provenance):
        raise damaged(path)
    return found


def load_kept(store: Path, kept: Kept) -> Provenance:
    """The provenance of a release that the store knows, and of no other.

    Raises:
        InputError: as `load`, or the table is another release's.
    """
    if table_mac(kept.private) != kept.table:
        raise damaged(kept.private / TABLE)
    return load(store, kept.private)


def numbered_people(tables: Sequence[Provenance]) -> list[Behind]:
    """Who stands behind the rows of several releases, people numbered 0, 1, … alike in all."""
    people = [table.read.people for table in tables]
    _, numbers = np.unique(np.concatenate(people), return_inverse=True)
    parts = np.split(numbers.astype(np.int32), np.cumsum([*map(len, people)])[:-1])
    return [
        Behind(taken(own, table.users), table.units, table.sets, table.mentions, table.mentioned)
        for own, table in zip(parts, tables, strict=True)
    ]
