"""Which column of a log holds the user, the query and the time.

Names of columns may be shown in messages, the first row of a file without a header may not: in
doubt a first line is data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.adapters.logs.values import looks_like_value
from tasks.errors import InputError, UsageError

KNOWN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "user": (
        *("anonid", "userid", "user", "uid", "username", "visitorid", "visitor"),
        # A session is not a person, but nearer to one than a row is.
        *("clientid", "client", "sessionid", "session"),
    ),
    "query": (
        *("query", "querytext", "querystring", "searchquery", "searchterms", "searchterm"),
        *("search", "keywords", "keyword", "terms", "term", "phrase", "text", "q"),
    ),
    # A column "time" beside a column "date" is a time of day, so the date goes first.
    "time": ("querytime", "timestamp", "datetime", "createdat", "ts", "date", "time"),
}
"""Names recognised for each role, the best first, in lower case without spaces, _ and -."""

_SHOWN_NAMES: Final = 20
_SHOWN_LENGTH: Final = 40
_HOW: Final = (
    "say where they are with --columns user=…,query=…,time=…, by name or, in a text file without "
    "a header, by number"
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of the three columns, counted from 0; None for a column the log does not have."""

    query: int
    user: int | None = None
    time: int | None = None

    @property
    def positions(self) -> tuple[int, int, int]:
        """User, query and time; a column that does not exist is -1."""
        return (
            -1 if self.user is None else self.user,
            self.query,
            -1 if self.time is None else self.time,
        )


def header_names(fields: Sequence[str], mapping: Mapping[str, str]) -> tuple[str, ...]:
    """The column names in the first line of a text file, none if that line is data.

    It holds names if the user asked for one of them, or if nothing in it looks like a value and
    the well-known names of two roles are there. "query" alone is enough if no field is empty.
    """
    names = tuple(field.strip() for field in fields)
    if names_are_certain(names, mapping):
        return names
    plain = [_plain(name) for name in names]
    is_header = "query" in plain and all(plain) and not any(map(looks_like_value, names))
    return names if is_header else ()


def names_are_certain(names: Sequence[str], mapping: Mapping[str, str]) -> bool:
    """Whether a first line is a header beyond doubt, so that it may be shown."""
    asked_for = [name for name in mapping.values() if not name.isdigit()]
    if any(_position(names, name) is not None for name in asked_for):
        return True
    roles = [role for role, position in _guess(names).items() if position is not None]
    return len(roles) > 1 and not any(map(looks_like_value, names))


def column_numbers(count: int) -> tuple[str, ...]:
    """What the columns of a file without a header are called: 1, 2, 3 …"""
    return tuple(str(number) for number in range(1, count + 1))


def choose_columns(
    file: str,
    names: Sequence[str],
    mapping: Mapping[str, str],
    *,
    shown: Sequence[str],
    numbered: bool = False,
) -> Columns:
    """Find the columns: as mapped by the user, else by their well-known names.

    Args:
        file: name for messages.
        names: of all columns.
        mapping: name of the column for any of user, query and time.
        shown: the names that a message may list.
        numbered: whether the user may also give the number of a column.

    Raises:
        UsageError: if a mapped column does not exist.
        InputError: if no column is mapped, or known by its name, to hold the query.
    """
    known = (*names, *column_numbers(len(names))) if numbered else tuple(names)
    mapped = {role: _position(known, name) for role, name in mapping.items()}
    missing = [f"{role}={mapping[role]}" for role, position in mapped.items() if position is None]
    if missing:
        raise UsageError(f"--columns {','.join(missing)}: not in {file}{_list(shown)}")
    # A number found behind the names counts from the first column again.
    chosen = {role: position and position % len(names) for role, position in mapped.items()}
    found = _guess(names) | chosen
    query = found["query"]
    if query is None:
        raise InputError(f"no column of {file} is known to hold queries{_list(shown)}; {_HOW}")
    return Columns(query, found["user"], found["time"])


def _guess(names: Sequence[str]) -> dict[str, int | None]:
    plain = [_plain(name) for name in names]
    known = {role: [name for name in best if name in plain] for role, best in KNOWN_NAMES.items()}
    return {role: plain.index(found[0]) if found else None for role, found in known.items()}


def _position(names: Sequence[str], wanted: str) -> int | None:
    """Position of a name as it is written, else regardless of case, spaces, _ and -."""
    if wanted in names:
        return names.index(wanted)
    plain = [_plain(name) for name in names]
    return plain.index(_plain(wanted)) if _plain(wanted) in plain else None


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")


def _list(names: Sequence[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(repr(name[:_SHOWN_LENGTH]) for name in names[:_SHOWN_NAMES])
    return f" (it has {listed}{', …' if len(names) > _SHOWN_NAMES else ''})"
