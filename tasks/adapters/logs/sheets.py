"""Tables in binary files: Parquet, and workbooks as Excel and LibreOffice write them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

from tasks.adapters.logs.columns import column_numbers, header_names, names_are_certain
from tasks.adapters.logs.files import LogStream, attempt
from tasks.adapters.logs.table import Table, choose, is_export, rows_of
from tasks.adapters.logs.values import BLANK_LINE, text_of
from tasks.core.log_options import LogOptions
from tasks.errors import InputError, UsageError

Record = tuple[object, ...]
"""User, query, time and count, as they stand in the file."""

_BATCH_ROWS: Final = 1 << 14
_WORKBOOK_BYTES: Final = 4 << 30
"""A workbook of a million rows unpacks to a tenth of it."""

# Parquet


def open_parquet(stream: LogStream, options: LogOptions) -> Table:
    complaint = (
        f"cannot read {stream.name} as Parquet: it is damaged, cut off or in another format; "
        "fetch it again, or name its format with --format"
    )
    source = pa.BufferReader(stream.read()) if stream.codec else stream.handle
    file = attempt(lambda: pq.ParquetFile(source), complaint)
    names = attempt(lambda: tuple(file.schema_arrow.names), complaint)
    chosen = choose(stream.name, names, options, shown=names)
    places = [*chosen.columns.positions, -1 if chosen.count is None else chosen.count]
    batches = _parquet_batches(file, [names[place] if place >= 0 else None for place in places])
    records = _parquet_records(batches, file.metadata.num_rows, complaint)
    count_of = None if chosen.count is None else itemgetter(3)
    return Table(chosen.columns, rows_of(records, itemgetter(0, 1, 2), count_of))


def _parquet_records(
    batches: Iterator[list[Record]], total: int, complaint: str
) -> Iterator[tuple[int, Record]]:
    done = 0
    while (batch := attempt(lambda: next(batches, None), complaint)) is not None:
        yield from enumerate(batch, start=done + 1)
        done += len(batch)
    if done != total:  # pyarrow passes over some kinds of damage without a word
        raise InputError(complaint)


def _parquet_batches(file: Any, names: list[str | None]) -> Iterator[list[Record]]:
    wanted = [name for name in names if name is not None]
    for batch in file.iter_batches(_BATCH_ROWS, columns=wanted):
        yield list(zip(*(_values(batch, name) for name in names), strict=True))


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


# Workbooks


def open_workbook(stream: LogStream, options: LogOptions) -> Table:
    """One sheet of a workbook; rows are numbered as the program that wrote it shows them."""
    complaint = (
        f"cannot read {stream.name} as a workbook: it is damaged, cut off or in another format; "
        "save it anew, or as CSV"
    )
    content = stream.read()
    if not content:
        return Table(None, iter(()))
    _refuse_bomb(stream.name, content)
    book = _open_book(stream.name, content, complaint)
    name, cells = _only_sheet(stream.name, book, options, complaint)
    if not cells:
        raise InputError(f"{stream.name} has no cells with anything in them: name another file")
    first = [text_of(cell) or "" for cell in cells[0]]
    names = tuple(first) if is_export(first) else header_names(first, options.columns)
    start = _first_row(book, name)
    is_certain = is_export(names) or names_are_certain(names, options.columns)
    shown = names if is_certain else ()
    all_names = names or column_numbers(len(cells[0]))
    chosen = choose(stream.name, all_names, options, shown=shown, numbered=True)
    user, query, time_ = chosen.columns.positions
    count_of = None if chosen.count is None else itemgetter(chosen.count)
    records = _sheet_records(cells, start, skip=bool(names))
    return Table(chosen.columns, rows_of(records, itemgetter(user, query, time_), count_of))


def _open_book(name: str, content: bytes, complaint: str) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(content))
    except PasswordError:
        complaint = f"{name} is encrypted: save it without a password first"
    except KeyboardInterrupt:
        raise
    except BaseException:  # what panics in Rust is no Exception
        pass
    raise InputError(complaint)


def _only_sheet(
    file: str, book: CalamineWorkbook, options: LogOptions, complaint: str
) -> tuple[str, list[list[Any]]]:
    """Name and cells of the sheet that was asked for, else of the only one that has any."""
    names = [own.name for own in book.sheets_metadata if own.typ == SheetTypeEnum.WorkSheet]
    if options.sheet and options.sheet not in names:
        raise UsageError(f"--sheet {options.sheet}: not in {file} (it has {_listed(names)})")
    wanted = [options.sheet] if options.sheet else names
    cells = {name: _cells_of(book, name, complaint) for name in wanted}
    filled = [name for name in wanted if cells[name]]
    if len(filled) > 1:
        raise UsageError(f"{file} has several sheets ({_listed(filled)}): choose one with --sheet")
    return (filled[0], cells[filled[0]]) if filled else ("", [])


def _cells_of(book: CalamineWorkbook, name: str, complaint: str) -> list[list[Any]]:
    try:
        return book.get_sheet_by_name(name).to_python()
    except KeyboardInterrupt:
        raise
    except BaseException:  # as above
        pass
    raise InputError(complaint)


def _first_row(book: CalamineWorkbook, name: str) -> int:
    """Number of the first row that has anything in it."""
    start = book.get_sheet_by_name(name).start
    return (start[0] if start else 0) + 1


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name[:40]) for name in names[:20])


def _sheet_records(
    cells: list[list[Any]], start: int, skip: bool
) -> Iterator[tuple[int, Record | str]]:
    for number, row in enumerate(cells[skip:], start=start + skip):
        filled = any(cell != "" for cell in row)
        yield number, (*map(_plain, row), "") if filled else BLANK_LINE


def _plain(cell: object) -> object:
    """Dates as text; Excel knows no zones."""
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    return None if isinstance(cell, time | timedelta | bool) else cell


def _refuse_bomb(name: str, content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except Exception:  # an old workbook is no archive
        return
    if unpacked > _WORKBOOK_BYTES:
        raise InputError(f"{name} would unpack to {unpacked} bytes: save it as CSV first")
