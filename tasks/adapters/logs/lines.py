"""Lines of a text log to fields: tabs (quotes are ordinary characters) and CSV (RFC 4180, by any
delimiter)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from tasks.adapters.logs.files import LINE_LIMIT, Line
from tasks.adapters.logs.values import BLANK_LINE, LINE_TOO_LONG, QUOTE_OPEN

Records = Iterator[tuple[int, list[str] | str]]
"""Number of the line a record starts on, and its fields or the reason why it has none."""

_QUOTED: Final = r'"((?:[^"]+|"")*+)"([^{}]*)'
_SPREAD_LIMIT: Final = 1 << 16
"""Characters a record may be spread over; keeps a stray quote from eating the file."""


def tab_records(lines: Iterable[Line]) -> Records:
    """Split lines at tabs."""
    for number, line in lines:
        # To ask here saves a call a line, where most have no fault.
        is_fine = len(line) <= LINE_LIMIT and line and not line.isspace()
        yield number, line.split("\t") if is_fine else line_fault(line)


def csv_records(lines: Iterable[Line], width: int | None = None, delimiter: str = ",") -> Records:
    """Split lines at a delimiter; a quoted field may go on over several lines.

    A record over several lines must keep to RFC 4180 and have the expected width (if one is
    given): otherwise its quote was a stray one, and would make one row of several people's. Its
    first line is then set aside, and the next line starts a new record.
    """
    ahead = _LinesAhead(lines)
    for number, line in ahead:
        yield number, line_fault(line) or _csv_fields(line, ahead, width, delimiter) or QUOTE_OPEN


def split_csv(text: str, delimiter: str = ",", *, strict: bool = False) -> list[str] | None:
    """Fields of a CSV record, None if it ends inside a quoted field.

    A quote inside an unquoted field is an ordinary character. Text behind a closing quote belongs
    to the field; to be strict is to find no fields at all then.
    """
    if '"' not in text:
        return text.split(delimiter)
    fields, start, quoted_field = [], 0, _quoted_field(delimiter)
    while start <= len(text):
        quoted = quoted_field.match(text, start)
        if quoted is None and text.startswith('"', start):
            return None
        if strict and quoted is not None and quoted[2]:
            return []
        end = quoted.end() if quoted else _end_of_field(text, start, delimiter)
        fields.append(quoted[1].replace('""', '"') + quoted[2] if quoted else text[start:end])
        start = end + 1
    return fields


def line_fault(line: str) -> str:
    """Why a line cannot hold a record, "" if it can."""
    if len(line) > LINE_LIMIT:
        return LINE_TOO_LONG
    return BLANK_LINE if not line or line.isspace() else ""


class _LinesAhead:
    """Lines that can be put back after a look at them."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = iter(lines)
        self._returned: deque[Line] = deque()

    def __iter__(self) -> _LinesAhead:
        return self

    def __next__(self) -> Line:
        return self._returned.popleft() if self._returned else next(self._lines)

    def put_back(self, lines: list[Line]) -> None:
        self._returned.extendleft(reversed(lines))


def _csv_fields(
    first: str, ahead: _LinesAhead, width: int | None, delimiter: str
) -> list[str] | None:
    """Fields of the record that starts with this line, None if its quote is a stray one."""
    fields = split_csv(first, delimiter)
    if fields is not None:
        return fields
    taken: list[Line] = []
    fields = _spread_fields(first, ahead, taken, delimiter)
    if not fields or width not in (None, len(fields)):
        ahead.put_back(taken)
        return None
    return fields


def _spread_fields(
    first: str, ahead: _LinesAhead, taken: list[Line], delimiter: str
) -> list[str] | None:
    """Fields of a record over several lines, none if a quote in it is a stray one."""
    parts, length = [first], len(first)
    for number, line in ahead:
        taken.append((number, line))
        parts.append(line)
        length += len(line) + 1
        if length > _SPREAD_LIMIT:
            return None
        if '"' in line:
            fields = split_csv("\n".join(parts).removesuffix("\r"), delimiter, strict=True)
            if fields is not None:
                return fields
    return None


@cache
def _quoted_field(delimiter: str) -> re.Pattern[str]:
    return re.compile(_QUOTED.replace("{}", re.escape(delimiter)))


def _end_of_field(text: str, start: int, delimiter: str) -> int:
    end = text.find(delimiter, start)
    return len(text) if end < 0 else end
