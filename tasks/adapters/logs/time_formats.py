"""What the times of a log look like, in words: said to whoever inspects it, by kind alone."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import islice
from typing import Final

from tasks.adapters.logs.files import open_log
from tasks.adapters.logs.formats import dates_of, open_table
from tasks.adapters.logs.times import Dates
from tasks.adapters.logs.values import text_of
from tasks.core.log_options import LogOptions
from tasks.core.records import NO_TIME
from tasks.errors import UsageError

_ROWS: Final = 200
_DIGITS: Final = {
    8: "days as 8 digits",
    14: "14 digits",
    **{10: "seconds since 1970", 13: "milliseconds since 1970"},
    **{16: "microseconds since 1970", 19: "nanoseconds since 1970"},
}


def time_format(file: str, format: str, options: LogOptions) -> str:
    """The commonest format of the times at the start of a file, "" if there are none."""
    dates, kinds = dates_of(file, format, options), Counter[str]()
    with open_log(file, options.encoding) as stream:
        for _, row in islice(open_table(stream, format, options).rows, _ROWS):
            text = "" if isinstance(row, str) else text_of(row[2])
            if text:
                kinds[_kind(text, dates)] += 1
    return kinds.most_common(1)[0][0] if kinds else ""


def _kind(text: str, dates: Dates) -> str:
    digits, _, fraction = text.partition(".")
    if digits.isdigit() and (fraction or "0").isdigit():
        return _DIGITS.get(len(digits), "seconds since 1970")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _other_kind(text, dates)
    return "ISO 8601, zones given" if moment.tzinfo else "ISO 8601 without zone: UTC"


def _other_kind(text: str, dates: Dates) -> str:
    try:
        if dates.seconds_of(text) in (None, NO_TIME):
            return "not understood"
    except UsageError:
        return "day or month first: in doubt, say --date-order"
    if any(map(str.isalpha, text.partition(":")[0])):
        return "months by name"
    if text[:4].isdigit():
        return "the year first"
    return "the day first" if "." in text[:3] or dates.day_first else "the month first"
