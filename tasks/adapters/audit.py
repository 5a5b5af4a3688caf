"""The audit: a private table of every row that was read, and of where it was published.

For checks by somebody else's code: it tells person and published row of each row of the log, so
whoever has it, the log and the release sees all that the release hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.adapters.provenance import Provenance
from tasks.core.columns import computed, joined, row_parts
from tasks.core.members import ROWS_PER_GROUP, members_of
from tasks.core.records import Flags, Ints, Longs, Narrow
from tasks.errors import printable
from tasks.runtime.files import write_for_owner

OF_RELEASE: Final = pa.schema(
    {
        "file": pa.string(),
        "row": pa.int64(),
        "person": pa.int64(),
        "release_row": pa.int64(),
        "reason": pa.string(),
    }
)
OF_EDITION: Final = OF_RELEASE.append(pa.field("release", pa.string()))


def write_audit(file: Path, schema: pa.Schema, parts: Iterable[pa.Table]) -> int:
    """As Parquet that nobody but its owner may ever read.

    Returns:
        How many lines it has.
    """
    lines = 0

    def write(stream: BinaryIO) -> None:
        nonlocal lines
        with pq.ParquetWriter(stream, schema) as writer:
            for part in parts:
                writer.write_table(part)
                lines += len(part)

    write_for_owner(file, write)
    return lines


def audit_of_release(table: Provenance) -> Iterator[pa.Table]:
    """One line per row read, file by file; some at a time."""
    read = table.read
    places = _file_by_file(read.origins, read.rows, len(read.files))
    return (_lines(table, read.files, own) for own in places)


def audit_of_edition(names: Sequence[str], tables: Sequence[Provenance]) -> Iterator[pa.Table]:
    """The same over all releases, given their names.

    A row that waited was read again, and counts as it was read last; its file may have been moved
    meanwhile, and is called as it was when it came.
    """
    files: dict[str, str] = {}
    for table in tables:
        for digest, name in zip(table.read.digests, table.read.files, strict=True):
            files.setdefault(digest, name)
    place = {digest: number for number, digest in enumerate(files)}
    bounds = np.cumsum([0, *(len(table.read.rows) for table in tables)])
    numbers = [np.array([place[d] for d in table.read.digests], np.int32) for table in tables]
    file_of = joined(
        int(bounds[-1]),
        np.int32,
        (
            own[table.read.origins[part]]
            for own, table in zip(numbers, tables, strict=True)
            for part in row_parts(len(table.read.origins))
        ),
    )
    rows = joined(int(bounds[-1]), np.int64, (table.read.rows for table in tables))
    for places in _file_by_file(file_of, rows, len(files)):
        last = np.ones(len(places), dtype=np.bool_)
        last[:-1] = (np.diff(rows[places]) != 0) | (np.diff(file_of[places]) != 0)
        yield _of_edition(names, tables, files, bounds, places[last])


def _of_edition(
    names: Sequence[str],
    tables: Sequence[Provenance],
    files: dict[str, str],
    bounds: Longs,
    places: Ints,
) -> pa.Table:
    """Lines of rows in all tables end to end, of which each begins at its bound."""
    parts, order = [], np.argsort(places, kind="stable")
    cuts = np.searchsorted(places[order], bounds).tolist()
    for name, table, first, (start, end) in zip(
        names, tables, bounds[:-1].tolist(), pairwise(cuts), strict=True
    ):
        own = places[order[start:end]] - first
        lines = _lines(table, [files[digest] for digest in table.read.digests], own)
        release = pa.array(
            np.full(len(own), name, dtype=object), pa.string(), mask=_hidden(table, own)
        )
        parts.append(lines.append_column("release", release))
    return pa.concat_tables(parts).take(np.argsort(order))


def _lines(table: Provenance, names: Sequence[str], places: Ints) -> pa.Table:
    """Lines of some rows, given the names of the files."""
    read = table.read
    unknown = places >= len(read.users)
    people = np.zeros(len(places), dtype=np.int64)
    people[~unknown] = read.people[read.users[places[~unknown]]]
    columns = [
        pa.array(map(printable, names), pa.string()).take(pa.array(read.origins[places])),
        pa.array(read.rows[places], pa.int64()),
        pa.array(people, mask=unknown),
        pa.array(places.astype(np.int64) + 1, mask=_hidden(table, places)),
        pa.array([word or None for word in read.reasons], pa.string()).take(
            pa.array(read.reason_of[places])
        ),
    ]
    return pa.table(columns, schema=OF_RELEASE)


def _hidden(table: Provenance, places: Ints) -> Flags:
    """Rows that are not published."""
    return places >= len(table.sets)


def _file_by_file(file_of: Narrow, rows: Ints | Longs, files: int) -> Iterator[Ints]:
    """All places by file, then by row; those of one row in one part, in their order.

    They are put in groups of a file and of neighbouring rows of it, which are sorted each by
    itself.
    """
    most = np.zeros(files, dtype=np.int64)
    for part in row_parts(len(rows)):
        np.maximum.at(most, file_of[part], rows[part])
    firsts = np.concatenate(([0], np.cumsum(most // ROWS_PER_GROUP + 1)))

    def group_of(own: slice) -> Longs:
        return np.asarray(firsts[file_of[own]] + rows[own].astype(np.int64) // ROWS_PER_GROUP)

    groups = computed(len(rows), np.int32, group_of)
    for _, places, _ in members_of(groups, int(firsts[-1])).parts():
        yield places[np.lexsort((rows[places], file_of[places]))]
