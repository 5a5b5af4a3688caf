"""The ledger's file: made whole or not at all, private, and never made anew over a damaged one."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tasks.errors import InputError, LogveilError, UnexpectedError
from tasks.runtime.files import LEDGER_NAME, sync_folder

SCHEMA_VERSION: Final = 3
BUSY_SECONDS: Final = 60.0
"""How long a change waits for another process's change, which takes milliseconds."""

PRIMARY_CODE: Final = 0xFF
"""The bits of SQLite's result codes that tell the kind of fault; the others tell its place."""

# Text that may hold bytes of a file name (`out`, `name`, `reason`) is kept as bytes: such bytes
# need not be UTF-8, and SQLite's text must be.
EVENTS: Final = """
CREATE TABLE events (
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    sha TEXT NOT NULL,
    keys BLOB NOT NULL,
    PRIMARY KEY (out, edition, sha),
    FOREIGN KEY (out, edition, sha) REFERENCES batches (out, edition, sha)
);
"""
# What was told with noise, and its price: `edition` is 0 for releases of their own.
COUNTS: Final = """
CREATE TABLE counts (
    fingerprint TEXT PRIMARY KEY,
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    files TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    delta REAL NOT NULL CHECK (delta > 0),
    content BLOB NOT NULL
);
"""
SCHEMA: Final = f"""
BEGIN;
CREATE TABLE editions (
    out BLOB NOT NULL,
    number INTEGER NOT NULL,
    settings TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('append', 'new')),
    PRIMARY KEY (out, number)
);
CREATE TABLE releases (
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    digest TEXT NOT NULL,
    PRIMARY KEY (out, edition, sequence)
);
CREATE TABLE batches (
    id INTEGER PRIMARY KEY,
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    sha TEXT NOT NULL,
    name BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('published', 'waiting', 'failed')),
    rows_read INTEGER NOT NULL CHECK (rows_read >= 0),
    rows_rejected INTEGER NOT NULL CHECK (rows_rejected BETWEEN 0 AND rows_read),
    sequence INTEGER CHECK ((sequence IS NOT NULL) = (state = 'published')),
    reason BLOB CHECK ((reason IS NOT NULL) = (state = 'failed')),
    UNIQUE (out, edition, sha),
    FOREIGN KEY (out, edition, sequence) REFERENCES releases
);
CREATE TABLE clusters (
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    number INTEGER NOT NULL,
    concepts TEXT NOT NULL,
    PRIMARY KEY (out, edition, number)
);
CREATE TABLE waiting (
    out BLOB NOT NULL,
    edition INTEGER NOT NULL,
    sha TEXT NOT NULL,
    rows BLOB NOT NULL,
    PRIMARY KEY (out, edition, sha),
    FOREIGN KEY (out, edition, sha) REFERENCES batches (out, edition, sha)
);
{EVENTS}
{COUNTS}
CREATE TABLE intents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    out BLOB NOT NULL UNIQUE,
    content TEXT NOT NULL
);
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
# Editions of that time lack what appending needs, and are refused later; new ones can be begun.
FROM_VERSION: Final = {
    1: f"BEGIN IMMEDIATE; {EVENTS} {COUNTS} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;",
    2: f"BEGIN IMMEDIATE; {COUNTS} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;",
}


@contextmanager
def open_ledger_file(
    store: Path, busy_seconds: float = BUSY_SECONDS
) -> Iterator[sqlite3.Connection]:
    """The ledger of a store, which is made if the store has none.

    Raises:
        InputError: it cannot be made or opened, or is damaged, or of a newer program.
    """
    path = store / LEDGER_NAME
    _make(path)
    with told_plainly(path):
        # Not made if it has gone meanwhile; transactions are begun and ended by hand.
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw",
            uri=True,
            timeout=busy_seconds,
            isolation_level=None,
        )
    with closing(connection):
        with told_plainly(path):
            _check(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        yield connection


@contextmanager
def told_plainly(path: Path) -> Iterator[None]:
    """Turn SQLite's faults into ours."""
    error: LogveilError
    try:
        yield
        return
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.IntegrityError as fault:
        error = UnexpectedError(f"the ledger refuses an entry ({fault.sqlite_errorname})")
    except sqlite3.DatabaseError as fault:
        # A text that is not UTF-8 has no code: Python finds it, not SQLite.
        code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        error = _told(path, code & PRIMARY_CODE)
    raise error


def damaged(path: Path) -> InputError:
    return InputError(
        f"the ledger {path} is damaged: restore it from a backup; without it, nobody knows what "
        "was published"
    )


def _told(path: Path, code: int) -> InputError:
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path)
    if code == sqlite3.SQLITE_BUSY:
        return InputError(f"another process keeps the ledger {path} busy: try again later")
    if code == sqlite3.SQLITE_FULL:
        return InputError(f"cannot write the ledger {path}: make room on the disk, then run again")
    return InputError(f"cannot use the ledger {path}: check the disk, and who may write there")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise InputError(
            f"the ledger {path} was written by a newer logveil: use that one, or restore the "
            "ledger from a backup made before"
        )
    if version in FROM_VERSION:
        _raise_version(connection, version)
        version = SCHEMA_VERSION
    if version < SCHEMA_VERSION or connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
        raise damaged(path)


def _raise_version(connection: sqlite3.Connection, before: int) -> None:
    """Turn an earlier ledger into one of today, unless another process was faster."""
    try:
        connection.executescript(FROM_VERSION[before])
    except sqlite3.OperationalError:
        connection.rollback()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == before:
            raise


def _make(path: Path) -> None:
    """Make an empty ledger unless there is one; whatever lies there already is left alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.chmod(0o700)
        if path.exists():
            path.chmod(0o600)
        elif path.with_name(f"{LEDGER_NAME}-wal").exists():
            # The ledger was taken away; its last changes would be mixed into a new one.
            raise damaged(path)
        else:
            _make_aside(path)
    except OSError as fault:
        raise InputError(f"cannot write to --store: {path}: {fault.strerror}") from None


def _make_aside(path: Path) -> None:
    """An empty or half-made file never gets the ledger's name: there it always means damage."""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".aside-")
    os.close(handle)
    try:
        with told_plainly(path), closing(sqlite3.connect(aside)) as connection:
            connection.executescript(SCHEMA)
        # Unlike a rename this fails if another process was faster, and then we use theirs.
        os.link(aside, path)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        os.unlink(aside)
