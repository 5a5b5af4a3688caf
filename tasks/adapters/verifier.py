"""The release read back from its file and judged; none of the writer's code is used.

A file that cannot be read is a broken promise, not a crash: the release must not be published.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.verification.clauses import Promise, faults
from tasks.core.verification.evidence import Behind, Knowledge, ReadBack
from tasks.core.verification.union import union_faults
from tasks.schema import COLUMNS

READABLE: Final = "the release file can be read"
TEXT_ONLY: Final = "a Parquet release holds text and nothing beside it"


@dataclass(frozen=True, slots=True)
class ReleaseContent:
    """What stands in a release file, and the faults of the file itself."""

    header: tuple[str, ...] = field(repr=False)
    rows: list[tuple[str, ...]] = field(repr=False)
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
        content = release_file.read_bytes()
    except OSError as fault:
        return ReleaseContent(
            (), [], [f"{READABLE}: broken, it cannot be opened ({fault.strerror})"]
        )
    try:
        return parse(content)
    except (OSError, ValueError, pa.ArrowException, csv.Error):
        # What the parser stumbled over may be somebody's words: its message is not passed on.
        return ReleaseContent(
            (), [], [f"{READABLE}: broken, it is not what its name says, or damaged"]
        )


def _parse_tsv(content: bytes) -> ReleaseContent:
    """Only line feeds end lines and only tabs end cells: any other sign belongs to a cell."""
    lines = content.decode("utf-8").split("\n")
    rest = lines.pop()
    if rest or not lines:
        return ReleaseContent((), [], [f"{READABLE}: broken, it ends within a line"])
    header, *rows = [tuple(line.split("\t")) for line in lines]
    return ReleaseContent(header, rows, [])


def _parse_csv(content: bytes) -> ReleaseContent:
    """Written again it must be the same: quotes that need not be there could mark single rows."""
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    again = io.StringIO(newline="")
    csv.writer(again, lineterminator="\n").writerows(rows)
    if again.getvalue().encode() != content or not rows:
        return ReleaseContent((), [], [f"{READABLE}: broken, it is not plain CSV"])
    header, *others = map(tuple, rows)
    return ReleaseContent(header, others, [])


def _parse_parquet(content: bytes) -> ReleaseContent:
    table = pq.read_table(pa.BufferReader(content))
    columns = [[str(cell) for cell in column.to_pylist()] for column in table.columns]
    rows = list(zip(*columns, strict=True))
    return ReleaseContent(tuple(table.column_names), rows, _beside_text(table))


def _beside_text(table: pa.Table) -> list[str]:
    """A missing cell beside an empty one, or a note in the schema, could mark single rows.

    What a column holds may be said there, in the words that are the same everywhere.
    """
    odd = [
        entry.type != pa.string() or not _is_described(entry) or column.null_count > 0
        for entry, column in zip(table.schema, table.columns, strict=True)
    ]
    found = [f"{TEXT_ONLY}: broken by {sum(odd)} columns"] if any(odd) else []
    notes = [f"{TEXT_ONLY}: broken by notes in the file"] if table.schema.metadata else []
    return found + notes


def _is_described(entry: pa.Field) -> bool:
    """Whether a column says of itself what is known anyway, or nothing."""
    known = {b"description": COLUMNS.get(entry.name, "").encode()}
    return entry.metadata is None or entry.metadata == known
