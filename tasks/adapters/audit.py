"""The audit: a private table of every row that was read, and of where it was published.

For checks by somebody else's code: it tells person and published row of each row of the log, so
whoever has it, the log and the release sees all that the release hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.adapters.provenance import Provenance
from tasks.core.records import Longs
from tasks.errors import printable
from tasks.runtime.files import write_for_owner


def write_audit(file: Path, lines: pa.Table) -> None:
    """As Parquet that nobody but its owner may ever read."""
    sink = pa.BufferOutputStream()
    pq.write_table(lines, sink)
    write_for_owner(file, sink.getvalue().to_pybytes())


def audit_of_release(table: Provenance) -> pa.Table:
    """One line per row read, file by file."""
    return _lines(table).take(np.lexsort((table.read.rows, table.read.origins)))


def audit_of_edition(names: Sequence[str], tables: Sequence[Provenance]) -> pa.Table:
    """The same over all releases, given their names.

    A row that waited was read again, and counts as it was read last; its file may have been moved
    meanwhile, and is called as it was when it came.
    """
    files: dict[str, str] = {}
    for table in tables:
        for digest, name in zip(table.read.digests, table.read.files, strict=True):
            files.setdefault(digest, name)
    parts = [
        _lines(table, files).append_column("release", _release_names(name, table))
        for name, table in zip(names, tables, strict=True)
    ]
    return pa.concat_tables(parts).take(_last_readings(list(files), tables))


def _lines(table: Provenance, name_of: dict[str, str] | None = None) -> pa.Table:
    """In the order of the provenance."""
    read, published, number = table.read, len(table.sets), np.arange(len(table.read.rows))
    names = [name_of[digest] for digest in read.digests] if name_of else read.files
    people = np.zeros(len(number), dtype=np.int64)
    people[: len(read.users)] = read.people[read.users]
    return pa.table(
        {
            "file": pa.array(map(printable, names), pa.string()).take(read.origins),
            "row": pa.array(read.rows, pa.int64()),
            "person": pa.array(people, mask=number >= len(read.users)),
            "release_row": pa.array(number + 1, mask=number >= published),
            "reason": pa.array([word or None for word in read.reasons]).take(read.reason_of),
        }
    )


def _release_names(name: str, table: Provenance) -> pa.Array:
    number = np.arange(len(table.read.rows))
    names = np.full(len(number), name, dtype=object)
    return pa.array(names, pa.string(), mask=number >= len(table.sets))


def _last_readings(digests: list[str], tables: Sequence[Provenance]) -> Longs:
    """Where the last reading of each row stands, file by file, in all tables end to end."""
    place = {digest: number for number, digest in enumerate(digests)}
    file_of = np.concatenate(
        [np.array([place[d] for d in t.read.digests], np.int64)[t.read.origins] for t in tables]
    )
    rows = np.concatenate([table.read.rows for table in tables])
    # Stable: readings of the same row keep the order of the releases.
    order = np.lexsort((rows, file_of))
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = (np.diff(rows[order]) != 0) | (np.diff(file_of[order]) != 0)
    return order[last]
