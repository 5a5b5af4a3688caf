"""The formats a log may have: AOL, CSV, TSV, JSON Lines and Parquet, as rows of three cells.

Each reader yields every row of its file under its number: the cells, or a reason why there are
none. In text files the number is that of the line the row starts on, the header included; in
Parquet that of the row.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.adapters.logs.columns import (
    Columns,
    choose_columns,
    column_numbers,
    header_names,
    names_are_certain,
)
from tasks.adapters.logs.files import HEAD_LINES, Line, LogStream, attempt, numbered_lines, open_log
from tasks.adapters.logs.lines import Records, csv_records, line_fault, tab_records
from tasks.adapters.logs.values import NOT_AN_OBJECT, WRONG_WIDTH, Cells
from tasks.errors import InputError

AOL_NAMES: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
AOL_WIDTHS: Final = (3, 5)  # without and with the two click columns

_BATCH_ROWS: Final = 1 << 14
_JSON: Final = json.JSONDecoder(strict=False)

Rows = Iterator[tuple[int, Cells | str]]
"""Row number, and the cells or the reason why the row has none."""


@dataclass(frozen=True, slots=True)
class Table:
    """A log opened for reading.

    Attributes:
        columns: None if the file is empty and so says nothing about its columns.
        rows: to be read once, while the stream is open.
    """

    columns: Columns | None
    rows: Rows


def open_table(stream: LogStream, format: str, mapping: Mapping[str, str]) -> Table:
    """Find the columns of an open log and start reading its rows.

    Raises:
        InputError: if the file cannot be read, or no column is known to hold the query.
        UsageError: if a mapped column does not exist.
    """
    return _READERS[format](stream, mapping)


def decode_json(line: str) -> object:
    """The value in a line of JSON, None if it is not JSON."""
    text = line.strip()
    try:
        value, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if end == len(text) else None


# Text


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first lines of a text file tell about it.

    Attributes:
        names: of the columns, empty if the file has no header.
        number: of the line with the names, 0 if there is none.
        width: of the header, else the most frequent one.
    """

    names: tuple[str, ...]
    number: int
    width: int


def _open_aol(stream: LogStream, mapping: Mapping[str, str]) -> Table:
    lines, head = _start(numbered_lines(stream, stream.first_line), tab_records, mapping)
    has_header = names_are_certain(head.names, mapping)
    names, header = (head.names, head.number) if has_header else (AOL_NAMES, 0)
    columns = choose_columns(stream.name, names, mapping, shown=names, numbered=True)
    widths = [width for width in AOL_WIDTHS if width > max(columns.positions)]
    return Table(columns, _text_rows(tab_records(lines), columns, widths, header))


def _open_tsv(stream: LogStream, mapping: Mapping[str, str]) -> Table:
    lines, head = _start(numbered_lines(stream, stream.first_line), tab_records, mapping)
    return _delimited(stream.name, tab_records(lines), head, mapping)


def _open_csv(stream: LogStream, mapping: Mapping[str, str]) -> Table:
    lines, head = _start(numbered_lines(stream), csv_records, mapping)
    return _delimited(stream.name, csv_records(lines, head.width), head, mapping)


def _start(
    lines: Iterator[Line],
    records_of: Callable[[Iterable[Line]], Records],
    mapping: Mapping[str, str],
) -> tuple[Iterator[Line], _Head]:
    """Look at the first lines; returns all lines again and what was seen."""
    first_lines = list(islice(lines, HEAD_LINES))
    found = [(n, fields) for n, fields in records_of(first_lines) if not isinstance(fields, str)]
    number, fields = found[0] if found else (0, [])
    names = header_names(fields, mapping)
    widths = Counter(len(fields) for _, fields in found)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    head = _Head(names, number if names else 0, len(names) or usual)
    return chain(first_lines, lines), head


def _delimited(name: str, records: Records, head: _Head, mapping: Mapping[str, str]) -> Table:
    if not head.width:
        return Table(None, _text_rows(records, Columns(0), (), 0))
    names = head.names or column_numbers(head.width)
    shown = names if not head.names or names_are_certain(names, mapping) else ()
    columns = choose_columns(name, names, mapping, shown=shown, numbered=True)
    return Table(columns, _text_rows(records, columns, (head.width,), head.number))


def _text_rows(records: Records, columns: Columns, widths: Collection[int], header: int) -> Rows:
    user, query, time = columns.positions
    for number, fields in records:
        if isinstance(fields, str):
            yield number, fields
        elif number != header:
            if len(fields) in widths:
                fields.append("")  # what the position -1 of a column that is not there points at
                yield number, (fields[user], fields[query], fields[time])
            else:
                yield number, WRONG_WIDTH


# JSON Lines


def _open_jsonl(stream: LogStream, mapping: Mapping[str, str]) -> Table:
    """Read twice, because a key may turn up late: user ids must not be missed for that."""
    layouts = _json_layouts(stream.name)
    if not layouts:
        return Table(None, _json_rows(stream, [None, None, None]))
    names = tuple(dict.fromkeys(chain.from_iterable(layouts)))
    shown = _usual_keys(layouts)
    columns = choose_columns(stream.name, names, mapping, shown=shown)
    keys = [names[place] if place >= 0 else None for place in columns.positions]
    return Table(columns, _json_rows(stream, keys))


def _json_layouts(name: str) -> Counter[tuple[str, ...]]:
    """How many objects of a file have which keys."""
    with open_log(name) as stream:
        return Counter(
            tuple(found) for _, found in _json_objects(stream) if not isinstance(found, str)
        )


def _usual_keys(layouts: Counter[tuple[str, ...]]) -> list[str]:
    """Keys of at least half of the objects; a rarer key may be data, and is never shown."""
    counts: Counter[str] = Counter()
    for keys, objects in layouts.items():
        counts.update(dict.fromkeys(keys, objects))
    return [key for key, objects in counts.items() if 2 * objects >= layouts.total()]


def _json_rows(stream: LogStream, keys: list[str | None]) -> Rows:
    user, query, time = keys
    for number, found in _json_objects(stream):
        if isinstance(found, str):
            yield number, found
        else:
            yield number, (found.get(user), found.get(query), found.get(time))


def _json_objects(stream: LogStream) -> Iterator[tuple[int, dict[Any, object] | str]]:
    """Every line as an object, or the reason why it is none."""
    for number, line in numbered_lines(stream, stream.first_line):
        fault = line_fault(line)
        found = None if fault else decode_json(line)
        yield number, found if isinstance(found, dict) else fault or NOT_AN_OBJECT


# Parquet


def _open_parquet(stream: LogStream, mapping: Mapping[str, str]) -> Table:
    complaint = (
        f"cannot read {stream.name} as Parquet: it is damaged, cut off or in another format; "
        "fetch it again, or name its format with --format"
    )
    source = pa.BufferReader(stream.read()) if stream.codec else stream.handle
    file = attempt(lambda: pq.ParquetFile(source), complaint)
    names = attempt(lambda: tuple(file.schema_arrow.names), complaint)
    columns = choose_columns(stream.name, names, mapping, shown=names)
    chosen = [names[place] if place >= 0 else None for place in columns.positions]
    batches = _parquet_batches(file, chosen)
    return Table(columns, _parquet_rows(batches, file.metadata.num_rows, complaint))


def _parquet_rows(batches: Iterator[list[Cells]], total: int, complaint: str) -> Rows:
    done = 0
    while (batch := attempt(lambda: next(batches, None), complaint)) is not None:
        yield from enumerate(batch, start=done + 1)
        done += len(batch)
    if done != total:  # pyarrow passes over some kinds of damage without a word
        raise InputError(complaint)


def _parquet_batches(file: Any, names: list[str | None]) -> Iterator[list[Cells]]:
    wanted = [name for name in names if name is not None]
    for batch in file.iter_batches(_BATCH_ROWS, columns=wanted):
        user, query, time = (_values(batch, name) for name in names)
        yield list(zip(user, query, time, strict=True))


def _values(batch: Any, name: str | None) -> list[object]:
    """A column as Python values, in forms that no content of the file can make fail."""
    if name is None:
        return [""] * batch.num_rows
    column = batch.column(batch.schema.names.index(name))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp(column.type.unit))  # as UTC, whatever its zone is called
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column = column.cast(pa.string())
    if column.type in (pa.string(), pa.large_string(), pa.string_view()):
        column = column.cast(pa.large_binary())
    values: list[object] = column.to_pylist()
    return values


_READERS: Final[Mapping[str, Callable[[LogStream, Mapping[str, str]], Table]]] = {
    "aol": _open_aol,
    "csv": _open_csv,
    "tsv": _open_tsv,
    "jsonl": _open_jsonl,
    "parquet": _open_parquet,
}
FORMATS: Final = tuple(_READERS)
