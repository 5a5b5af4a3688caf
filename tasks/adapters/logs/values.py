"""What counts as a user, a query and a time in a log row, whatever the format of the file.

Every format hands its cells to `judge`, so that a row is accepted or set aside by the same rules
wherever it comes from. Reasons never hold any of the row's text.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from tasks.core.records import NO_TIME

Cells = tuple[object, object, object]
"""User, query and time of a row as they stand in the file."""

Accepted = tuple[str, str, int]
"""User id, query text and seconds since 1970 (UTC) or NO_TIME."""

QUERY_LIMIT: Final = 10_000

BLANK_LINE: Final = "blank line"
WRONG_WIDTH: Final = "wrong number of fields"
LINE_TOO_LONG: Final = "line longer than 1,048,576 characters"
QUOTE_OPEN: Final = "quoted field not closed"
NOT_AN_OBJECT: Final = "not a JSON object"
QUERY_EMPTY: Final = "query is empty"
QUERY_TOO_LONG: Final = "query longer than 10,000 characters"
QUERY_NOT_TEXT: Final = "query is not text"
QUERY_NOT_UTF8: Final = "query is not valid UTF-8"
QUERY_WITH_NUL: Final = "query holds a NUL byte"
USER_MISSING: Final = "user is missing"
USER_NOT_TEXT: Final = "user is not text"
USER_NOT_UTF8: Final = "user is not valid UTF-8"
USER_WITH_NUL: Final = "user holds a NUL byte"
TIME_UNCLEAR: Final = "time not understood"

_EMPTY_QUERIES: Final = ("", "-")  # AOL writes a dash where nothing was typed
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # what bytes that are not UTF-8 become
_NUMBER: Final = re.compile(r"([0-9]+)(?:\.[0-9]*)?")
_COMPACT_DATE_DIGITS: Final = 8
_SECONDS_DIGITS: Final = 10  # either number of digits reaches to the year 2286
_MILLISECONDS_DIGITS: Final = 13
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_WITHOUT_ZONE: Final = datetime(1970, 1, 1)


def judge(cells: Cells, has_users: bool) -> Accepted | str:
    """Accept a row, or say in words why it is set aside.

    Args:
        cells: user, query and time; a missing column is an empty text.
        has_users: False if the file has no user column; the user is then not looked at.
    """
    user, query, time = text_of(cells[0]), text_of(cells[1]), text_of(cells[2])
    if query is None or user is None:
        return QUERY_NOT_TEXT if query is None else USER_NOT_TEXT
    fault = _query_fault(query) or (has_users and _user_fault(user))
    if fault:
        return fault
    seconds = None if time is None else seconds_of(time)
    return TIME_UNCLEAR if seconds is None else (user, query, seconds)


def text_of(value: object) -> str | None:
    """A cell as stripped text: "" if there is nothing in it, None if it cannot be text."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape").strip()
    if value is None or value != value:  # NaN is how pandas writes "nothing"
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else None


def seconds_of(text: str) -> int | None:
    """Seconds since 1970 (UTC), NO_TIME for an empty text, None if it is not understood.

    Understood are ISO 8601 (with a space or T, zone and fraction optional, no zone is UTC), dates,
    and numbers: up to 10 digits are seconds, up to 13 milliseconds. Eight digits are a date
    (20060301), because as seconds they would lie before 1974.
    """
    if not text:
        return NO_TIME
    # Numbers first: fromisoformat would take 1101010112345 for a day in the year 1101.
    number = None if text[4:5] == "-" else _NUMBER.fullmatch(text)
    if number is not None and len(number[1]) != _COMPACT_DATE_DIGITS:
        return _seconds_of_number(number[1])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    past = moment - (_EPOCH_WITHOUT_ZONE if moment.tzinfo is None else _EPOCH)
    return past.days * 86_400 + past.seconds


def looks_like_value(text: str) -> bool:
    """Whether a text is a number or a time, so that it cannot be the name of a column."""
    return bool(_NUMBER.fullmatch(text)) or seconds_of(text) not in (None, NO_TIME)


def _seconds_of_number(digits: str) -> int | None:
    if len(digits) <= _SECONDS_DIGITS:
        return int(digits)
    return int(digits) // 1000 if len(digits) <= _MILLISECONDS_DIGITS else None


def _query_fault(query: str) -> str:
    if query in _EMPTY_QUERIES:
        return QUERY_EMPTY
    if len(query) > QUERY_LIMIT:
        return QUERY_TOO_LONG
    if "\0" in query:
        return QUERY_WITH_NUL
    return "" if query.isascii() or not _SURROGATE.search(query) else QUERY_NOT_UTF8


def _user_fault(user: str) -> str:
    if not user:
        return USER_MISSING
    if "\0" in user:
        return USER_WITH_NUL
    return "" if user.isascii() or not _SURROGATE.search(user) else USER_NOT_UTF8
