"""The release read back from its file and judged; none of the writer's code is used.

A file that cannot be read is a broken promise, not a crash: the release must not be published.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.records import Flags
from tasks.core.verification.clauses import Promise, faults
from tasks.core.verification.evidence import PART, Behind, FileRows, Knowledge, ReadBack, Row
from tasks.core.verification.union import union_faults
from tasks.schema import COLUMNS

READABLE: Final = "the release file can be read"
TEXT_ONLY: Final = "a Parquet release holds text and nothing beside it"


@dataclass(frozen=True, slots=True)
class ReleaseContent:
    """What stands in a release file, and the faults of the file itself."""

    header: tuple[str, ...] = field(repr=False)
    rows: FileRows = field(repr=False)
    faults: list[str]


def verify_file(
    release_file: Path, behind: Behind, promise: Promise, knowledge: Knowledge
) -> list[str]:
    """Read a written release back and judge it by its provenance.

    Returns:
        One sentence per broken clause, none of which quotes the release; empty if all hold.
    """
    reading = read_release(release_file)
    if not reading.header:
        return reading.faults
    broken = faults(ReadBack(reading.header, reading.rows, behind, promise), knowledge)
    return [*reading.faults, *broken]


def verify_union(
    release_files: Sequence[Path],
    people: Sequence[tuple[Behind, Promise]],
    promise: Promise,
    knowledge: Knowledge,
) -> list[str]:
    """Read the releases of an edition back and judge each alone and all together.

    Args:
        release_files: one or more, in the order of their numbers.
        people: the provenance of each, people numbered alike in all.
        promise: what the edition promises, with the counts of the union.

    Returns:
        One sentence per broken clause, with the numbers of releases and rows, never a cell.
    """
    readings = [read_release(release_file) for release_file in release_files]
    broken = [
        f"release {number}: {fault}"
        for number, reading in enumerate(readings, start=1)
        for fault in reading.faults
    ]
    if not all(reading.header for reading in readings):
        return broken
    releases = [
        ReadBack(reading.header, reading.rows, *table)
        for reading, table in zip(readings, people, strict=True)
    ]
    return broken + union_faults(releases, promise, knowledge)


def read_release(release_file: Path) -> ReleaseContent:
    """The columns and rows of a release; none, and a fault, if it cannot be read."""
    parse = {".parquet": _parse_parquet, ".csv": _parse_csv}.get(release_file.suffix, _parse_tsv)
    try:
        with release_file.open("rb") as stream:
            return _parsed(parse, stream)
    except OSError as fault:
        return _unreadable(f"it cannot be opened ({fault.strerror})")


def _parsed(
    parse: Callable[[BufferedReader], ReleaseContent], stream: BufferedReader
) -> ReleaseContent:
    with suppress(OSError, ValueError, pa.ArrowException, csv.Error):
        content = parse(stream)
        if content.header or content.faults:
            return content
    # What the parser stumbled over may be somebody's words: its message is not passed on.
    return _unreadable("it is not what its name says, or damaged")


def _unreadable(reason: str) -> ReleaseContent:
    return ReleaseContent((), FileRows.of([]), [f"{READABLE}: broken, {reason}"])


def _parse_tsv(stream: BufferedReader) -> ReleaseContent:
    """Only line feeds end lines and only tabs end cells: any other sign belongs to a cell."""

    def cells(line: bytes) -> Row:
        return tuple(line.removesuffix(b"\n").decode("utf-8").split("\t"))

    header, rows = cells(stream.readline()), FileRows.of(stream, cells)
    stream.seek(max(0, stream.tell() - 1))
    if stream.read() != b"\n":
        return _unreadable("it ends within a line")
    return ReleaseContent(header, rows, [])


def _parse_csv(stream: BufferedReader) -> ReleaseContent:
    """Written again it must be the same: quotes that need not be there could mark single rows."""
    own, again = hashlib.file_digest(stream, "sha256"), hashlib.sha256()
    stream.seek(0)
    hashed = SimpleNamespace(write=lambda text: again.update(text.encode()))
    writer = csv.writer(hashed, lineterminator="\n")

    def rows() -> Iterator[Row]:
        for row in csv.reader(TextIOWrapper(stream, "utf-8", newline=""), strict=True):
            writer.writerow(row)
            yield tuple(row)

    lines = rows()
    header, others = next(lines, ()), FileRows.of(lines)
    if not header or again.digest() != own.digest():
        return _unreadable("it is not plain CSV")
    return ReleaseContent(header, others, [])


def _parse_parquet(stream: BufferedReader) -> ReleaseContent:
    file = pq.ParquetFile(stream)
    nulls = np.zeros(len(file.schema_arrow), dtype=np.int64)

    def rows() -> Iterator[Row]:
        for batch in file.iter_batches(PART):
            nulls[:] += [column.null_count for column in batch.columns]
            yield from zip(*(map(str, column.to_pylist()) for column in batch.columns), strict=True)

    content = FileRows.of(rows())
    schema = file.schema_arrow
    return ReleaseContent(tuple(schema.names), content, _beside_text(schema, nulls > 0))


def _beside_text(schema: pa.Schema, lacking: Flags) -> list[str]:
    """A missing cell beside an empty one, or a note in the schema, could mark single rows.

    What a column holds may be said there, in the words that are the same everywhere.

    Args:
        lacking: columns with missing cells.
    """
    odd = [
        entry.type != pa.string() or not _is_described(entry) or lacks
        for entry, lacks in zip(schema, lacking.tolist(), strict=True)
    ]
    found = [f"{TEXT_ONLY}: broken by {sum(odd)} columns"] if any(odd) else []
    notes = [f"{TEXT_ONLY}: broken by notes in the file"] if schema.metadata else []
    return found + notes


def _is_described(entry: pa.Field) -> bool:
    """Whether a column says of itself what is known anyway, or nothing."""
    known = {b"description": COLUMNS.get(entry.name, "").encode()}
    return entry.metadata is None or entry.metadata == known
