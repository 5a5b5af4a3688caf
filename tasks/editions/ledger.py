"""The ledger of batches: which files came in, what was published of them, what still waits.

A release touches two places, the folder it goes to and the ledger, and a run may be killed
between them. So all that a release changes is written down as an intent first, then the
release is published, then the intent is applied. An intent found later tells that somebody was
killed on the way: if its release lies in the folder it is committed, otherwise rolled back.
Until then readers see nothing of it. Each of the steps is one transaction.

There is no query text and no user id in it: numbers, hashes, names of files and concepts, and what
differentially private counts tell, words of k people or more.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from tasks.adapters.private_counts import Price
from tasks.core.records import Longs
from tasks.editions.ledger_entries import (
    Batch,
    Edition,
    Intent,
    Kind,
    Release,
    event_blob,
    events_of,
    intent_of,
    intent_text,
    row_blob,
    rows_of,
)
from tasks.editions.ledger_file import (
    BUSY_SECONDS,
    damaged,
    open_ledger_file,
    told_plainly,
)
from tasks.errors import UnexpectedError
from tasks.phases.count import Spending
from tasks.runtime.files import LEDGER_NAME

Write = Callable[..., sqlite3.Cursor]
"""Executes a statement in the transaction that is open."""

BATCHES: Final = """
SELECT sha, name, state, rows_read, rows_rejected, sequence, digest, reason
FROM batches LEFT JOIN releases USING (out, edition, sequence)
WHERE out = ? AND edition = ?
"""
# What was published stays; a batch that waits or failed may be tried again.
RECORD_BATCH: Final = """
INSERT INTO batches (out, edition, sha, name, state, rows_read, rows_rejected, sequence, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (out, edition, sha) DO UPDATE SET
    name = excluded.name, state = excluded.state, rows_read = excluded.rows_read,
    rows_rejected = excluded.rows_rejected, sequence = excluded.sequence, reason = excluded.reason
WHERE state = 'failed' OR (state = 'waiting' AND excluded.state <> 'failed')
"""


@contextmanager
def open_ledger(store: Path, busy_seconds: float = BUSY_SECONDS) -> Iterator[Ledger]:
    """The ledger of a store, which is made if the store has none.

    Raises:
        InputError: it cannot be made or opened, or is damaged, or of a newer program.
    """
    with open_ledger_file(store, busy_seconds) as connection:
        yield Ledger(connection, store / LEDGER_NAME)


class Ledger:
    """An open ledger; for one thread, beside any number of other processes.

    Every method raises `InputError` if the file cannot be read or written, and
    `UnexpectedError` if it is asked for what must not happen.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def current_edition(self, out: Path) -> Edition | None:
        """The newest edition of a folder that has anything in it."""
        return self._newest(_resolved(out))

    def begin_edition(self, out: Path, settings: str, kind: Kind) -> Edition:
        """The edition to come. It becomes the current one with its first committed intent."""
        folder = _resolved(out)
        newest = self._newest(folder)
        return Edition(folder, newest.number + 1 if newest else 1, settings, kind)

    def batch(self, edition: Edition, sha: str) -> Batch | None:
        rows = self._rows(f"{BATCHES} AND sha = ?", (*_key(edition), sha))
        return _batch_of(rows[0]) if rows else None

    def batches(self, edition: Edition) -> list[Batch]:
        """All batches of an edition in the order in which they came up first."""
        return [_batch_of(row) for row in self._rows(f"{BATCHES} ORDER BY id", _key(edition))]

    def releases(self, edition: Edition) -> list[Release]:
        """The releases of an edition, in order."""
        rows = self._rows(
            "SELECT sequence, digest FROM releases WHERE out = ? AND edition = ? ORDER BY sequence",
            _key(edition),
        )
        return [Release(*row) for row in rows]

    def known(self, edition: Edition, sha: str) -> bool:
        """Whether a file needs nothing more: it was published, or it waits."""
        batch = self.batch(edition, sha)
        return batch is not None and batch.state != "failed"

    def waiting(self, edition: Edition) -> dict[str, Longs]:
        """The rows that wait, by batch; a batch without such rows is left out."""
        rows = self._rows(
            "SELECT sha, rows FROM waiting WHERE out = ? AND edition = ? ORDER BY sha",
            _key(edition),
        )
        return {sha: rows_of(blob) for sha, blob in rows}

    def clusters(self, edition: Edition) -> dict[int, str]:
        """The published clusters: concepts' names by number."""
        return dict(
            self._rows(
                "SELECT number, concepts FROM clusters WHERE out = ? AND edition = ? "
                "ORDER BY number",
                _key(edition),
            )
        )

    def events(self, edition: Edition) -> Longs:
        """The keys of all events that the files of an edition have told, ascending."""
        rows = self._rows("SELECT keys FROM events WHERE out = ? AND edition = ?", _key(edition))
        return events_of(blob for (blob,) in rows)

    def pending(self, out: Path) -> Intent | None:
        """The intent of a folder that was neither committed nor rolled back."""
        return self._intent("out = ?", _bytes(_resolved(out)))

    def prepare(self, intent: Intent) -> int:
        """Write an intent down, unseen by readers, and return its id for commit or rollback.

        It is applied for trial: one that could not be committed later is refused now, before
        anything is published.
        """
        with self._transaction() as write:
            write("SAVEPOINT trial")
            self._apply(intent, write)
            write("ROLLBACK TO trial")
            entry = (_bytes(intent.edition.out), intent_text(intent))
            added = write("INSERT INTO intents (out, content) VALUES (?, ?)", entry).lastrowid
        assert added is not None
        return added

    def commit(self, intent_id: int) -> None:
        """Apply an intent: from now on readers see it."""
        with self._transaction() as write:
            intent = self._intent("id = ?", intent_id)
            if intent is None:
                raise UnexpectedError("the ledger was told to commit an intent it does not have")
            self._apply(intent, write)
            write("DELETE FROM intents WHERE id = ?", (intent_id,))

    def rollback(self, intent_id: int) -> None:
        """Forget an intent."""
        with self._transaction() as write:
            write("DELETE FROM intents WHERE id = ?", (intent_id,))

    def fail(self, edition: Edition, sha: str, name: str, reason: str) -> None:
        """Note that a file could not be used; it may be tried again."""
        with self._transaction() as write:
            _record(edition, Batch(sha, name, "failed", reason=reason), write)

    def book(self, edition: Edition | None) -> CountsBook:
        """The prices of counts: of an edition, or of releases of their own."""
        return CountsBook(self, edition)

    def told_counts(self, fingerprint: str) -> tuple[bytes, Price] | None:
        rows = self._rows(
            "SELECT content, epsilon, delta FROM counts WHERE fingerprint = ?", (fingerprint,)
        )
        return (rows[0][0], rows[0][1:]) if rows else None

    def spent(self, edition: Edition | None, files: Sequence[str]) -> list[Price]:
        """Prices of the edition's counts, and of all others of any of these files."""
        key = _key(edition) if edition else (b"", 0)
        rows = self._rows("SELECT out, edition, files, epsilon, delta FROM counts", ())
        return [
            (epsilon, delta)
            for out, number, counted, epsilon, delta in rows
            if (edition and (out, number) == key) or {*files} & {*counted.split()}
        ]

    def spend(
        self, edition: Edition | None, spending: Spending, fits: Callable[[list[Price]], bool]
    ) -> bool:
        """Keep what is about to be told unless it does not fit what was spent, at one go."""
        with self._transaction() as write:
            if not fits(self.spent(edition, spending.files)):
                return False
            key = _key(edition) if edition else (b"", 0)
            counted = (" ".join(spending.files), *spending.price, spending.content)
            entry = (spending.fingerprint, *key, *counted)
            write("INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?)", entry)
        return True

    def _apply(self, intent: Intent, write: Write) -> None:
        edition, (out, number) = intent.edition, _key(intent.edition)
        self._require_current(edition, write)
        if intent.release:
            release = (out, number, intent.release.sequence, intent.release.digest)
            write("INSERT INTO releases VALUES (?, ?, ?, ?)", release)
        for batch in intent.batches:
            _record(edition, batch, write)
        for cluster, concepts in intent.clusters.items():
            write("INSERT INTO clusters VALUES (?, ?, ?, ?)", (out, number, cluster, concepts))
        write("DELETE FROM waiting WHERE out = ? AND edition = ?", (out, number))
        for sha, rows in intent.waiting.items():
            if len(rows):
                write("INSERT INTO waiting VALUES (?, ?, ?, ?)", (out, number, sha, row_blob(rows)))
        for sha, keys in intent.events.items():
            if len(keys):
                entry = (out, number, sha, event_blob(keys))
                write("INSERT INTO events VALUES (?, ?, ?, ?)", entry)

    def _require_current(self, edition: Edition, write: Write) -> None:
        """Only the newest edition grows; the one after it takes its place here."""
        newest = self._newest(edition.out)
        if edition == newest:
            return
        if edition.number != (newest.number + 1 if newest else 1):
            raise UnexpectedError(
                "the ledger was given an intent of an edition that is not current"
            )
        entry = (*_key(edition), edition.settings, edition.kind)
        write("INSERT INTO editions VALUES (?, ?, ?, ?)", entry)

    def _newest(self, folder: str) -> Edition | None:
        rows = self._rows(
            "SELECT number, settings, kind FROM editions WHERE out = ? "
            "ORDER BY number DESC LIMIT 1",
            (_bytes(folder),),
        )
        return Edition(folder, *rows[0]) if rows else None

    def _intent(self, condition: str, value: bytes | int) -> Intent | None:
        rows = self._rows(f"SELECT id, content FROM intents WHERE {condition}", (value,))
        try:
            return intent_of(*rows[0]) if rows else None
        except (ValueError, KeyError, TypeError):
            pass
        raise damaged(self._path)

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with told_plainly(self._path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[Write]:
        """All of it or nothing; no other process writes meanwhile."""
        with told_plainly(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise


class CountsBook(NamedTuple):
    """The ledger as the phase of counts has it (tasks/phases/count.py)."""

    ledger: Ledger
    edition: Edition | None

    def told(self, fingerprint: str) -> tuple[bytes, Price] | None:
        return self.ledger.told_counts(fingerprint)

    def spent(self, files: Sequence[str]) -> list[Price]:
        return self.ledger.spent(self.edition, files)

    def spend(self, spending: Spending, fits: Callable[[list[Price]], bool]) -> bool:
        return self.ledger.spend(self.edition, spending, fits)


def _record(edition: Edition, batch: Batch, write: Write) -> None:
    entry = (
        *_key(edition),
        batch.sha,
        _bytes(batch.name),
        batch.state,
        batch.rows_read,
        batch.rows_rejected,
        batch.release and batch.release.sequence,
        None if batch.reason is None else _bytes(batch.reason),
    )
    if write(RECORD_BATCH, entry).rowcount != 1:
        raise UnexpectedError("the ledger was told to change a batch that is settled")


def _batch_of(row: tuple[Any, ...]) -> Batch:
    sha, name, state, read, rejected, sequence, digest, reason = row
    return Batch(
        sha,
        _text(name),
        state,
        rows_read=read,
        rows_rejected=rejected,
        release=None if sequence is None else Release(sequence, digest),
        reason=None if reason is None else _text(reason),
    )


def _resolved(out: Path) -> str:
    return os.fspath(out.resolve())


def _key(edition: Edition) -> tuple[bytes, int]:
    return _bytes(edition.out), edition.number


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
