"""What counts as a user, a query and a time in a log row, whatever the format of the file.

Every format hands its cells to `judge`, so that a row is accepted or set aside by the same rules
wherever it comes from. Reasons never hold any of the row's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from tasks.adapters.logs.times import OUT_OF_RANGE
from tasks.core.counted import folded_id, is_nobody

Cells = tuple[object, object, object]
"""User, query and time of a row as they stand in the file."""

Accepted = tuple[str, str, int]
"""User id, query text and seconds since 1970 (UTC) or NO_TIME."""

SecondsOf = Callable[[str], int | None]

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
USER_NOBODY: Final = "user is a placeholder, nobody"
USER_NOT_TEXT: Final = "user is not text"
USER_NOT_UTF8: Final = "user is not valid UTF-8"
USER_WITH_NUL: Final = "user holds a NUL byte"
TIME_UNCLEAR: Final = "time not understood"
TIME_OUT_OF_RANGE: Final = "time outside the years 1 to 9999"
COUNT_UNCLEAR: Final = "count is not a number"
NOT_A_REQUEST: Final = "not a line of an access log"
NOT_A_SEARCH: Final = "not a search"
"""No reject: a request or event that holds no query is counted, and passed over."""

EMPTY_QUERIES: Final = ("", "-")  # AOL writes a dash where nothing was typed
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # what bytes that are not UTF-8 become


def judge(cells: Cells, has_users: bool, seconds_of: SecondsOf) -> Accepted | str:
    """Accept a row, or say in words why it is set aside.

    Args:
        cells: user, query and time; a missing column is an empty text.
        has_users: False if rows are counted; the user is then not looked at. Whose id it is, is
            judged by `user_fault`, once for each id.
        seconds_of: reads the times of this file, see `Dates`.
    """
    user, query, time = cells
    if not has_users:
        user = ""
    # Most cells are text, and to ask here saves a call for each.
    user = user.strip() if isinstance(user, str) else text_of(user)
    query = query.strip() if isinstance(query, str) else text_of(query)
    time = time.strip() if isinstance(time, str) else text_of(time)
    if query is None or user is None:
        return QUERY_NOT_TEXT if query is None else USER_NOT_TEXT
    fault = _query_fault(query)
    if fault:
        return fault
    seconds = None if time is None else seconds_of(time)
    if seconds is None or seconds == OUT_OF_RANGE:
        return TIME_UNCLEAR if seconds is None else TIME_OUT_OF_RANGE
    return user, query, seconds


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


def _query_fault(query: str) -> str:
    if query in EMPTY_QUERIES:
        return QUERY_EMPTY
    if len(query) > QUERY_LIMIT:
        return QUERY_TOO_LONG
    if "\0" in query:
        return QUERY_WITH_NUL
    return "" if query.isascii() or not _SURROGATE.search(query) else QUERY_NOT_UTF8


def user_fault(user: str) -> str:
    """Why an id stands for nobody, "" if it stands for somebody."""
    folded = folded_id(user)
    if not folded:
        return USER_MISSING
    if "\0" in user:
        return USER_WITH_NUL
    if is_nobody(folded):
        return USER_NOBODY
    return "" if user.isascii() or not _SURROGATE.search(user) else USER_NOT_UTF8
