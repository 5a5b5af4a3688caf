"""A log as rows of three cells, whatever its format; and exports that count queries, not people.

Every row comes under a number by which the user can find it: that of the line it starts on (the
header included) in text, of the element in a JSON array, of the row in Parquet and workbooks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from tasks.adapters.logs.blocks import Block
from tasks.adapters.logs.columns import Columns, choose_columns
from tasks.adapters.logs.values import COUNT_UNCLEAR, NOT_A_SEARCH, Cells, text_of
from tasks.core.counted import plain_name
from tasks.core.log_options import LogOptions
from tasks.errors import UsageError

Rows = Iterator[tuple[int, Cells | str]]
"""Row number, and the cells or the reason why the row has none."""

COUNT_LIMIT: Final = 1000
"""So many rows at most stand for one row that counts: past that nobody is hidden any better."""
COPY: Final = 1 << 40
"""Added to a row's number for each further row that it stands for."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Table:
    """A log opened for reading.

    Attributes:
        columns: None if the file is empty and so says nothing about its columns.
        rows: to be read once, while the stream is open.
        delimiter: of delimited text.
        blocks: the same rows, many at a time, for whoever wants all of them.
    """

    columns: Columns | None
    rows: Rows
    delimiter: str = ""
    blocks: Iterator[Block] | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns of a log, and the one that counts how often a query was asked."""

    columns: Columns
    count: int | None


@dataclass(frozen=True, slots=True)
class _Export:
    """A kind of file in which a row is a query and how often it was asked, by nobody in particular.

    Attributes:
        signs: names of which all are there (each of these is one, or one of several).
        query, count: names of these columns, the best first.
    """

    called: str
    signs: tuple[tuple[str, ...], ...]
    query: tuple[str, ...]
    count: tuple[str, ...]


_EXPORTS: Final = (
    _Export(
        "a Search Console export",
        (("clicks",), ("impressions",), ("ctr", "position")),
        ("topqueries", "query", "queries"),
        ("impressions",),
    ),
    _Export(
        "a Matomo export",
        (("label", "keyword"), ("nbvisits", "nbhits", "visits", "searches", "uniquevisitors")),
        ("label", "keyword"),
        ("nbhits", "searches", "nbvisits", "visits"),
    ),
    _Export(
        "an Algolia export of searches",
        (("search",), ("count",)),
        ("search",),
        ("count",),
    ),
)


def choose(
    file: str,
    names: Sequence[str],
    options: LogOptions,
    *,
    shown: Sequence[str],
    numbered: bool = False,
    usual: Mapping[str, str] | None = None,
) -> Chosen:
    """Find the columns: as mapped by the user, else as `usual` in the format, else by their names.

    Raises:
        UsageError: if a mapped column does not exist, or queries are counted without people.
        InputError: if no column is mapped, or known by its name, to hold the query.
    """
    mapping = {**(usual or {}), **options.columns}
    counting = mapping.pop("count", None)
    export = None if counting or "user" in mapping else _export_of(names)
    if export is not None:
        query, counting = _first(names, export.query), _first(names, export.count)
        if options.person != "row":
            raise UsageError(
                f"{file} is {export.called}: it tells how often a query was asked (column "
                f"{counting}) and not by whom, so nobody can be counted. Use a log of single "
                "searches, or say --person row: then each search counts as one, and the release "
                "says everywhere that these are rows, not people"
            )
        mapping.setdefault("query", query)
    columns = choose_columns(file, names, mapping, shown=shown, numbered=numbered)
    if not counting:
        return Chosen(columns, None)
    # A column is looked up in one way: as if it held the query.
    asked = {"query": counting}
    counts = choose_columns(file, names, asked, shown=shown, numbered=numbered)
    return Chosen(columns, counts.query)


def is_export(names: Sequence[str]) -> bool:
    """Whether these are the columns of an export that counts queries."""
    return _export_of(names) is not None


def rows_of(
    records: Iterator[tuple[int, R | str]],
    cells_of: Callable[[R], Cells],
    count_of: Callable[[R], object] | None = None,
) -> Rows:
    """Cells of each record; one that counts n stands for n rows."""
    for number, record in records:
        if isinstance(record, str):
            yield number, record
        elif count_of is None:
            yield number, cells_of(record)
        else:
            yield from _repeated(number, cells_of(record), count_of(record))


def _repeated(number: int, cells: Cells, count: object) -> Rows:
    times = _whole_number(text_of(count))
    if times is None:
        yield number, COUNT_UNCLEAR
    elif times == 0:
        yield number, NOT_A_SEARCH
    else:
        yield from ((number + copy * COPY, cells) for copy in range(min(times, COUNT_LIMIT)))


def _whole_number(text: str | None) -> int | None:
    """1,234 and 1 234 are one number; thousands are all that an export cuts into groups."""
    try:
        value = float((text or "").replace(",", "").replace("\u202f", "").replace("\xa0", ""))
    except ValueError:
        return None
    return math.floor(value) if 0 <= value < math.inf else None


def _export_of(names: Sequence[str]) -> _Export | None:
    plain = {plain_name(name) for name in names}
    found = (export for export in _EXPORTS if all(plain & {*signs} for signs in export.signs))
    return next(found, None)


def _first(names: Sequence[str], known: Sequence[str]) -> str:
    plain = [plain_name(name) for name in names]
    return names[plain.index(next(name for name in known if name in plain))]
