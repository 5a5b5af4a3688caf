"""Tab-separated rows, many at a time as columns.

To look at a million rows one by one takes seconds, whatever is done with each. Most lines are
plain: printable ASCII with single blanks, as many fields as the others, and a query that nothing is
wrong with. These become columns without a Python object for each. What is right and wrong is
decided in one place (`values.py`): a line that is not plain is no worse, it is only read as a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.adapters.logs.files import LINE_LIMIT, Chunk, Line, LogStream, decoded, up_to_filled
from tasks.adapters.logs.times import FIRST, OUT_OF_RANGE
from tasks.adapters.logs.values import EMPTY_QUERIES, QUERY_LIMIT, Cells, SecondsOf
from tasks.core.records import NO_TIME, Flags, Ints, Longs

Bytes = NDArray[np.uint8]
RowsOf = Callable[[Iterable[Line]], Iterator[tuple[int, Cells | str]]]

_TAB, _FEED, _BLANK, _LAST_PRINTABLE = b"\t\n ~"
_LONGEST_EMPTY: Final = max(map(len, EMPTY_QUERIES))
_ISO_LENGTH: Final = len("2006-03-01 07:17:12")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the cells of tab-separated lines are.

    Attributes:
        positions: of user, query and time; -1 for a column that is not there.
        widths: numbers of fields that a row may have.
        header: the line with the names of the columns, 0 if there is none.
        rows_of: reads lines one by one.
    """

    positions: tuple[int, int, int]
    widths: Collection[int]
    header: int
    rows_of: RowsOf


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """Lines that are read together.

    Attributes:
        number: of the first line.
        starts, ends: where each line lies in the content.
        plain: which lines are plain. All else here is of these, in their order.
        cells: where the cells of user, query and time begin and end.
        empty: empty lines before these.
    """

    stream: LogStream
    layout: Layout
    number: int
    content: bytes
    starts: Longs
    ends: Longs
    plain: Longs
    cells: tuple[tuple[Longs, Longs], ...]
    empty: list[Line]

    @property
    def numbers(self) -> Longs:
        return self.plain + self.number

    def users(self, chosen: Flags) -> tuple[list[str], Ints]:
        """The different cells of some lines, and which of them each is."""
        starts, ends = self.cells[0]
        found = _cells(self.content, starts[chosen], ends[chosen]).dictionary_encode()
        return _strings(found.dictionary), found.indices.to_numpy()

    def seconds(self, seconds_of: SecondsOf) -> Longs:
        """Times as `seconds_of` has them; OUT_OF_RANGE also for one that is not understood."""
        starts, ends = self.cells[2]
        filled = np.flatnonzero(ends > starts)
        found = np.full(len(starts), NO_TIME)
        if len(filled):
            cells = _cells(self.content, starts[filled], ends[filled])
            usual = bool((ends - starts == _ISO_LENGTH)[filled].all())
            moments = _iso_seconds(cells) if usual else None
            if moments is None:
                each = (seconds_of(text.strip()) for text in _strings(cells))
                moments = np.array([OUT_OF_RANGE if own is None else own for own in each])
            found[filled] = moments
        return found

    def texts(self, chosen: Flags) -> tuple[bytes, Longs, Ints]:
        """Queries of some lines: different ones, one after the other; their ends; which each is."""
        starts, ends = self.cells[1]
        found = _cells(self.content, starts[chosen], ends[chosen]).dictionary_encode()
        _, offsets, content = found.dictionary.buffers()
        ends = np.frombuffer(offsets, np.int32)[1 : len(found.dictionary) + 1].astype(np.int64)
        size = int(ends[-1]) if len(ends) else 0
        return bytes(content)[:size], ends, found.indices.to_numpy()

    def rows_but(self, chosen: Flags) -> Iterator[tuple[int, Cells | str]]:
        """All lines as rows, but for some of the plain ones; to be read before the next block."""
        is_row = np.ones(len(self.starts), dtype=np.bool_)
        is_row[self.plain[chosen]] = False
        places, content = np.flatnonzero(is_row), self.content
        if not len(places):
            return iter(())
        if len(places) < len(is_row):
            bounds = zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True)
            content = b"\n".join([content[start:end] for start, end in bounds])
        texts = decoded(content, self.stream)
        lines = zip((places + self.number).tolist(), texts, strict=True)
        return self.layout.rows_of(up_to_filled(lines, self.empty))


def blocks_of(chunks: Iterable[Chunk], stream: LogStream, layout: Layout) -> Iterator[Block]:
    """Lines in chunks that follow each other."""
    empty: list[Line] = []
    for number, content in chunks:
        yield _block_of(stream, layout, number, content, empty)


def _block_of(
    stream: LogStream, layout: Layout, number: int, content: bytes, empty: list[Line]
) -> Block:
    found = np.frombuffer(content, np.uint8)
    feeds = np.flatnonzero(found == _FEED)
    starts, ends = np.concatenate(([0], feeds + 1)), np.append(feeds, len(content))
    is_sign = (found < _BLANK) | (found > _LAST_PRINTABLE)
    is_mostly_plain = 3 * np.count_nonzero(is_sign) <= len(content)
    # Whether an empty line is one is known when others follow, and these may be plain.
    has_empty = bool(empty) or int((ends - starts).min()) <= len("\r")
    if has_empty or not is_mostly_plain:
        plain, cells = feeds[:0], ((feeds[:0], feeds[:0]),) * len(layout.positions)
    else:
        plain, cells = _plain(layout, number, content, starts, ends, np.flatnonzero(is_sign))
    return Block(stream, layout, number, content, starts, ends, plain, cells, empty)


def _plain(
    layout: Layout, number: int, content: bytes, starts: Longs, ends: Longs, signs: Longs
) -> tuple[Longs, tuple[tuple[Longs, Longs], ...]]:
    """Which lines are plain, and where their cells are.

    Args:
        signs: where tabs, line feeds and all bytes are that are not printable ASCII.
    """
    found = np.frombuffer(content, np.uint8)
    kinds = found[signs]
    # The signs of a line, and the line feed or the end of the content behind it.
    signs = np.append(signs, len(content))
    first = np.concatenate(([0], np.flatnonzero(kinds == _FEED) + 1))
    tabs = np.diff(first, append=len(signs)) - 1

    is_plain = np.isin(tabs + 1, [*layout.widths]) & (ends - starts <= LINE_LIMIT)
    is_plain[np.cumsum(kinds == _FEED)[(kinds != _TAB) & (kinds != _FEED)]] = False
    if b"  " in content:
        blank = found == _BLANK
        doubled = np.flatnonzero(blank[1:] & blank[:-1])
        is_plain[np.searchsorted(starts, doubled, side="right") - 1] = False
    if 0 <= layout.header - number < len(is_plain):
        is_plain[layout.header - number] = False

    plain = np.flatnonzero(is_plain)
    _, query, _ = layout.positions
    query_starts, query_ends = _bounds(signs, first[plain], starts[plain], query)
    lengths = query_ends - query_starts
    fine = (lengths > _LONGEST_EMPTY) & (lengths <= QUERY_LIMIT)
    for place in (query_starts, query_ends - 1):
        fine[fine] = found[place[fine]] != _BLANK
    plain = plain[fine]
    bounds = (signs, first[plain], starts[plain])
    return plain, tuple(_bounds(*bounds, position) for position in layout.positions)


def _bounds(signs: Longs, first: Longs, starts: Longs, position: int) -> tuple[Longs, Longs]:
    """Where a cell of each of some lines begins and ends; of a column that is not there, nothing.

    Args:
        first: of each line, which sign is its first.
    """
    if position < 0:
        return starts, starts
    return signs[first + position - 1] + 1 if position else starts, signs[first + position]


def _cells(content: bytes, starts: Longs, ends: Longs) -> Any:
    """Some pieces, ascending, as an array of Arrow."""
    bounds = np.stack((starts, ends), axis=1).astype(np.int32).ravel()
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(content)]
    # Every other value is what lies between two cells.
    pieces = pa.Array.from_buffers(pa.binary(), max(0, len(bounds) - 1), buffers)
    return pieces.take(pa.array(np.arange(0, len(pieces), 2)))


def _strings(cells: Any) -> list[str]:
    texts: list[str] = cells.cast(pa.string()).to_pylist()
    return texts


def _iso_seconds(cells: Any) -> Longs | None:
    """Of dates and times of the usual length; None if one of them is not as Python has it."""
    try:
        moments = cells.cast(pa.string()).cast(pa.timestamp("s")).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    # Arrow knows a year 0.
    return moments if moments.min() >= FIRST else None
