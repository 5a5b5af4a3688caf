"""Delimited text: AOL's format, tab-separated values (quotes are ordinary characters), and CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, tee
from operator import itemgetter
from typing import Final

from tasks.adapters.logs.blocks import Layout, blocks_of
from tasks.adapters.logs.columns import (
    Columns,
    column_numbers,
    header_names,
    names_are_certain,
)
from tasks.adapters.logs.files import (
    HEAD_LINES,
    Chunk,
    Line,
    LogStream,
    line_chunks,
    lines_of,
    numbered_lines,
)
from tasks.adapters.logs.lines import Records, csv_records, line_fault, split_csv, tab_records
from tasks.adapters.logs.table import Chosen, Rows, Table, choose, is_export, rows_of
from tasks.adapters.logs.values import WRONG_WIDTH
from tasks.core.log_options import LogOptions
from tasks.errors import UsageError

AOL_NAMES: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
AOL_WIDTHS: Final = (3, 5)  # without and with the two click columns
DELIMITERS: Final = (",", ";", "|", "\t")
_NAMED_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


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


def open_aol(stream: LogStream, options: LogOptions) -> Table:
    chunks, first_lines = _first_lines(stream)
    head = _head_of(tab_records(first_lines), options)
    has_header = names_are_certain(head.names, options.columns)
    names, header = (head.names, head.number) if has_header else (AOL_NAMES, 0)
    chosen = choose(stream.name, names, options, shown=names, numbered=True)
    known = {*AOL_WIDTHS, head.width} if has_header else {*AOL_WIDTHS}
    widths = [width for width in known if width > max(chosen.columns.positions)]
    return _tab_table(stream, chunks, chosen, widths, header)


def open_tsv(stream: LogStream, options: LogOptions) -> Table:
    chunks, first_lines = _first_lines(stream)
    _refuse_wrong_delimiter(stream.name, [line for _, line in first_lines], "\t")
    head = _head_of(tab_records(first_lines), options)
    if not head.width:
        return _no_table(tab_records(lines_of(chunks, stream)))
    chosen = _chosen(stream, head, options)
    return _tab_table(stream, chunks, chosen, (head.width,), head.number)


def open_csv(stream: LogStream, options: LogOptions) -> Table:
    lines = numbered_lines(stream)
    first_lines = list(islice(lines, HEAD_LINES))
    delimiter = stated_delimiter(options) or find_delimiter([line for _, line in first_lines])
    _refuse_wrong_delimiter(stream.name, [line for _, line in first_lines], delimiter)
    split = partial(csv_records, delimiter=delimiter)
    head = _head_of(split(first_lines), options)
    records = split(chain(first_lines, lines), width=head.width)
    if not head.width:
        return _no_table(records)
    chosen = _chosen(stream, head, options)
    rows = _rows(records, chosen, (head.width,), head.number)
    return Table(chosen.columns, rows, delimiter)


def stated_delimiter(options: LogOptions) -> str:
    """The delimiter that the user named, "" if none.

    Raises:
        UsageError: if it is not one character.
    """
    named = options.delimiter
    delimiter = _NAMED_DELIMITERS.get(named.lower(), named)
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise UsageError(f"--delimiter {named}: one character, or tab")
    return delimiter


def find_delimiter(lines: list[str]) -> str:
    """The delimiter, of those in the first line, by which most lines have equally many fields.

    Later lines may be the middle of a quoted field.
    """
    filled = [line for line in lines if not line_fault(line)]
    first = filled[0] if filled else ""
    in_first = [each for each in DELIMITERS if len(split_csv(first, each) or ()) > 1]
    return max(in_first or DELIMITERS, key=lambda delimiter: _agreeing(filled, delimiter))


def _refuse_wrong_delimiter(file: str, lines: list[str], delimiter: str) -> None:
    filled = [line for line in lines if not line_fault(line)]
    found = find_delimiter(filled)
    if filled and not any(delimiter in line for line in filled) and is_delimited(filled, found):
        raise UsageError(
            f"{file} has no {_called(delimiter)} between its fields, but {_called(found)}: leave "
            "--format and --delimiter out, or name the right one"
        )


def _called(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else repr(delimiter)


def is_delimited(lines: list[str], delimiter: str) -> bool:
    """Whether most lines have the same number of fields, and more than one."""
    return 2 * _agreeing(lines, delimiter)[0] > len(lines)


def _agreeing(lines: list[str], delimiter: str) -> tuple[int, int]:
    """How many lines have the most frequent number of fields, and that number; 0 if it is one."""
    widths = Counter(len(split_csv(line, delimiter) or ()) for line in lines)
    del widths[1], widths[0]
    width, count = max(widths.items(), key=itemgetter(1, 0), default=(0, 0))
    return count, width


def _first_lines(stream: LogStream) -> tuple[Iterator[Chunk], list[Line]]:
    """All chunks of a file, and its first lines."""
    chunks, first = tee(line_chunks(stream, stream.first_line))
    return chunks, list(islice(lines_of(first, stream), HEAD_LINES))


def _head_of(records: Records, options: LogOptions) -> _Head:
    """What the first records tell."""
    found = [(n, fields) for n, fields in records if not isinstance(fields, str)]
    number, fields = found[0] if found else (0, [])
    names = header_names(fields, options.columns)
    if not names and is_export(fields):
        names = tuple(field.strip() for field in fields)
    widths = Counter(len(fields) for _, fields in found)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    return _Head(names, number if names else 0, len(names) or usual)


def _chosen(stream: LogStream, head: _Head, options: LogOptions) -> Chosen:
    names = head.names or column_numbers(head.width)
    is_certain = names_are_certain(names, options.columns) or is_export(names)
    shown = names if not head.names or is_certain else ()
    return choose(stream.name, names, options, shown=shown, numbered=True)


def _no_table(records: Records) -> Table:
    """Of a file in which no line has fields."""
    return Table(None, _rows(records, Chosen(Columns(0), None), (), 0))


def _tab_table(
    stream: LogStream,
    chunks: Iterator[Chunk],
    chosen: Chosen,
    widths: Collection[int],
    header: int,
) -> Table:
    def rows_of_lines(lines: Iterable[Line]) -> Rows:
        return _rows(tab_records(lines), chosen, widths, header)

    layout = Layout(chosen.columns.positions, widths, header, rows_of_lines)
    blocks = blocks_of(chunks, stream, layout) if chosen.count is None else None
    return Table(chosen.columns, rows_of_lines(lines_of(chunks, stream)), "\t", blocks)


def _rows(records: Records, chosen: Chosen, widths: Collection[int], header: int) -> Rows:
    user, query, time = chosen.columns.positions
    if chosen.count is not None:
        cells_of = itemgetter(user, query, time)
        return rows_of(_fitting(records, widths, header), cells_of, itemgetter(chosen.count))
    return _text_rows(records, (user, query, time), widths, header)


def _text_rows(
    records: Records, positions: tuple[int, int, int], widths: Collection[int], header: int
) -> Rows:
    user, query, time = positions
    for number, fields in records:
        if isinstance(fields, str):
            yield number, fields
        elif number != header:
            if len(fields) in widths:
                fields.append("")  # what the position -1 of a column that is not there points at
                yield number, (fields[user], fields[query], fields[time])
            else:
                yield number, WRONG_WIDTH


def _fitting(records: Records, widths: Collection[int], header: int) -> Records:
    """Records of the expected width, with an empty field behind them."""
    for number, fields in records:
        if isinstance(fields, str):
            yield number, fields
        elif number != header:
            yield number, [*fields, ""] if len(fields) in widths else WRONG_WIDTH
