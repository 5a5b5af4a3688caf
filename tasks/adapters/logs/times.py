"""When a query was asked: texts and numbers of all usual kinds as seconds since 1970 (UTC).

A time without a zone is taken as UTC. Dates such as 03/04/2006 say by themselves neither what is
the day nor what is the month: that is found from all times of a file, or asked for.
"""

from __future__ import annotations

import re
from calendar import month_abbr
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from functools import cached_property
from typing import Final

from tasks.core.records import NO_TIME
from tasks.errors import UsageError

_NUMBER: Final = re.compile(r"([0-9]+)(?:\.[0-9]*)?")
_UNITS: Final = ((10, 1), (13, 10**3), (16, 10**6), (19, 10**9))
"""Up to so many digits a number counts so many parts of a second: each reaches to the year 2286."""
_DATE_DIGITS: Final = 8
_DATE_AND_TIME_DIGITS: Final = 14
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_WITHOUT_ZONE: Final = datetime(1970, 1, 1)
FIRST: Final = -62_135_596_800
LAST: Final = 253_402_300_799
"""Seconds of the years 1 to 9999."""
_CLOCK: Final = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
)
_DATED: Final = re.compile(
    rf"(?P<a>[0-9]{{1,4}})(?P<mark>[/.-])(?P<b>[0-9]{{1,2}})(?P=mark)(?P<c>[0-9]{{1,2}}|[0-9]{{4}})"
    rf"(?:,?[ T]+{_CLOCK})?"
)
_APACHE: Final = re.compile(
    r"\[?(?P<day>[0-9]{1,2})/(?P<month>[A-Z][a-z]{2})/(?P<year>[0-9]{4}):"
    rf"{_CLOCK}\]?"
)
_MONTHS: Final = {name: number for number, name in enumerate(month_abbr) if name}
OUT_OF_RANGE: Final = NO_TIME + 1
"""In place of seconds: a time before the year 1 or after 9999."""


class Dates:
    """Reads the times of one file; `day_first` looks at all of them, and is asked at most once."""

    def __init__(self, day_first: Callable[[], bool]) -> None:
        self._find = day_first

    @cached_property
    def day_first(self) -> bool:
        return self._find()

    def seconds_of(self, text: str) -> int | None:
        """Seconds since 1970, NO_TIME for an empty text, OUT_OF_RANGE, None if not understood.

        Understood are ISO 8601 (with a space or T, zone and fraction optional), dates of either
        order, Apache's 10/Oct/2000:13:55:36 -0700, and numbers: up to 10 digits are seconds, 13
        milli-, 16 micro- and 19 nanoseconds; but 8 are a date (20060301), because as seconds they
        would lie before 1974, and 14 a date and a time.
        """
        if not text:
            return NO_TIME
        # Numbers first: fromisoformat would take 1101010112345 for a day in the year 1101.
        number = None if text[4:5] == "-" else _NUMBER.fullmatch(text)
        if number is not None and len(number[1]) != _DATE_DIGITS:
            return _seconds_of_number(number[1])
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return self._seconds_of_other(text)
        if moment.tzinfo is not None:
            return _seconds_of_moment(moment)
        past = moment - _EPOCH_WITHOUT_ZONE
        return past.days * 86_400 + past.seconds

    def _seconds_of_other(self, text: str) -> int | None:
        apache = _APACHE.fullmatch(text)
        if apache is not None:
            date = (int(apache["year"]), _MONTHS.get(apache["month"], 0), int(apache["day"]))
            return _seconds_of_parts(date, apache)
        found = _DATED.fullmatch(text)
        if found is None:
            return None
        readings = _readings(found)
        differ = len(set(readings)) > 1
        return _seconds_of_parts(readings[0 if not differ or self.day_first else 1], found)


def day_first(file: str, times: Iterable[str]) -> bool:
    """Whether the dates of a file have the day before the month.

    Raises:
        UsageError: if all of them fit both orders, or some fit only the one and some the other.
    """
    fits = {True: 0, False: 0}
    for text in times:
        found = _DATED.fullmatch(text)
        orders = _readings(found) if found else []
        valid = [_seconds_of_parts(date, found) is not None for date in orders] if found else []
        if len(valid) == 2 and valid[0] != valid[1]:
            fits[valid[0]] += 1
    if bool(fits[True]) == bool(fits[False]):
        which = (
            f"in {fits[True]} rows the day is first, in {fits[False]} the month"
            if fits[True]
            else "all fit both the day and the month first"
        )
        raise UsageError(
            f"the dates of {file} can be read in two ways ({which}): say --date-order day-first or "
            "month-first; rows that do not fit are set aside"
        )
    return bool(fits[True])


def looks_like_value(text: str) -> bool:
    """Whether a text is a number or a time, so that it cannot be the name of a column."""
    if _NUMBER.fullmatch(text) or _DATED.fullmatch(text):
        return True
    return _UNORDERED.seconds_of(text) not in (None, NO_TIME)


_UNORDERED: Final = Dates(lambda: True)


def _readings(found: re.Match[str]) -> list[tuple[int, int, int]]:
    """Year, month and day with the day first, and with the month first if that may be meant."""
    a, b, c = int(found["a"]), int(found["b"]), int(found["c"])
    if len(found["a"]) > 2 or len(found["c"]) == 1:
        return [(a, b, c)]
    year = c if len(found["c"]) == 4 else c + (2000 if c < 69 else 1900)  # as POSIX has it
    day_first, month_first = (year, b, a), (year, a, b)
    return [day_first] if found["mark"] == "." else [day_first, month_first]


def _seconds_of_parts(date: tuple[int, int, int], clock: re.Match[str]) -> int | None:
    hour, half = int(clock["hour"] or 0), clock["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "Pp" else 0)
    try:
        zone = _zone(clock["zone"])
        second = int(clock["second"] or 0)
        moment = datetime(*date, hour, int(clock["minute"] or 0), second, tzinfo=zone)
    except ValueError:
        return None
    return _seconds_of_moment(moment)


def _zone(text: str | None) -> timezone:
    if not text or text[0] not in "+-":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def _seconds_of_number(digits: str) -> int | None:
    if len(digits) == _DATE_AND_TIME_DIGITS:
        try:
            moment = datetime.strptime(digits, "%Y%m%d%H%M%S")
            return _seconds_of_moment(moment.replace(tzinfo=UTC))
        except ValueError:
            return None
    parts = next((parts for most, parts in _UNITS if len(digits) <= most), None)
    return None if parts is None else int(digits) // parts


def _seconds_of_moment(moment: datetime) -> int:
    past = moment - _EPOCH
    seconds = past.days * 86_400 + past.seconds
    return seconds if FIRST <= seconds <= LAST else OUT_OF_RANGE
