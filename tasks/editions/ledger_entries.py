"""What the ledger of batches says: editions, batches, and releases about to be made."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from tasks.core.records import Longs
from tasks.errors import UnexpectedError

Kind = Literal["append", "new"]
"""How an edition grows: by releases that leave the earlier ones alone, or not at all."""

State = Literal["published", "waiting", "failed"]
"""Of a batch: some of its rows came out, all of them still wait, or it could not be read."""

ROW_TYPE: Final = np.dtype("<i8")
"""Of row numbers, and of keys of events."""


@dataclass(frozen=True, slots=True)
class Edition:
    """Releases of one folder that are to be read together.

    Attributes:
        out: the folder's resolved path.
        settings: a digest of the settings that all of its releases share.
    """

    out: str
    number: int
    settings: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Release:
    """A published file: its place in the edition, from 1, and a digest of its bytes."""

    sequence: int
    digest: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One incoming file, known by the hash of its bytes.

    Attributes:
        name: the file's name where it was put aside.
        release: the one that first published rows of it.
        reason: why it failed.
    """

    sha: str
    name: str
    state: State
    rows_read: int = 0
    rows_rejected: int = 0
    release: Release | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Intent:
    """All that one release changes, written down before it is published.

    Attributes:
        batches: new ones, and those that waited until now; each with its state afterwards.
        release: the file about to be published, or none if all rows of the batches wait.
        clusters: new ones by number, with their concepts' names joined by `;`.
        waiting: by batch, the rows (from 1) that still wait afterwards, of the whole edition;
            a batch that is not named waits for nothing.
        events: by batch that came, the keys of the events that it has told first, each as often as
            it counts.
        id: given by the ledger.
    """

    edition: Edition
    batches: tuple[Batch, ...]
    release: Release | None
    clusters: Mapping[int, str]
    waiting: Mapping[str, Longs]
    events: Mapping[str, Longs]
    id: int | None = None


def row_blob(rows: Longs) -> bytes:
    """Row numbers in order, each once."""
    if len(rows) and rows.min() < 1:
        raise UnexpectedError("the ledger was given a row number below 1")
    return np.unique(rows).astype(ROW_TYPE).tobytes()


def rows_of(blob: bytes) -> Longs:
    return np.frombuffer(blob, dtype=ROW_TYPE).astype(np.int64)


def event_blob(keys: Longs) -> bytes:
    """Keys of events, ascending."""
    return np.sort(keys).astype(ROW_TYPE).tobytes()


def events_of(blobs: Iterable[bytes]) -> Longs:
    """The keys of several blobs, ascending."""
    return np.sort(np.frombuffer(b"".join(blobs), dtype=ROW_TYPE).astype(np.int64))


def intent_text(intent: Intent) -> str:
    """An intent as JSON in ASCII, which also holds file names that are not UTF-8."""
    waiting = {sha: _ascii(row_blob(rows)) for sha, rows in intent.waiting.items()}
    events = {sha: _ascii(event_blob(keys)) for sha, keys in intent.events.items()}
    return json.dumps(
        {
            "edition": asdict(intent.edition),
            "batches": [asdict(batch) for batch in intent.batches],
            "release": intent.release and asdict(intent.release),
            "clusters": list(intent.clusters.items()),
            "waiting": waiting,
            "events": events,
        }
    )


def intent_of(number: int, text: str) -> Intent:
    entry = json.loads(text)
    waiting = {sha: rows_of(_from_ascii(text)) for sha, text in entry["waiting"].items()}
    # A run of version 0.1 that was killed has noted none.
    noted = entry.get("events", {}).items()
    events = {sha: events_of([_from_ascii(text)]) for sha, text in noted}
    return Intent(
        edition=Edition(**entry["edition"]),
        batches=tuple(_batch_of(fields) for fields in entry["batches"]),
        release=_release_of(entry["release"]),
        clusters=dict(entry["clusters"]),
        waiting=waiting,
        events=events,
        id=number,
    )


def _ascii(blob: bytes) -> str:
    return base64.b64encode(blob).decode()


def _from_ascii(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _batch_of(fields: dict[str, Any]) -> Batch:
    return Batch(**{**fields, "release": _release_of(fields["release"])})


def _release_of(fields: dict[str, Any] | None) -> Release | None:
    return Release(**fields) if fields else None
