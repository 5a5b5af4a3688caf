"""Which column of a log holds the user, the query and the time.

Names of columns may be shown in messages, the first row of a file without a header may not: in
doubt a first line is data. A query and a time are guessed by well-known names. A person is not: the
user names the column, or there is one, and one only, whose name means a person beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.adapters.logs.times import looks_like_value
from tasks.core.counted import Counted, Unit, plain_name
from tasks.errors import InputError, UsageError
from tasks.schema import ColumnTaken

PERSON_NAMES: Final = frozenset(
    {"anonid", "user", "userid", "username", "person", "personid", "patron", "patronid"}
    | {"member", "memberid", "patient", "patientid", "student", "studentid"}
    | {"employee", "employeeid"}
)
"""Names that mean a person beyond doubt (docs/decisions.md says why these and no others)."""

KNOWN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "user": tuple(sorted(PERSON_NAMES)),
    "query": (
        *("query", "userquery"),
        *("querytext", "querystring", "searchquery", "searchterms", "searchterm"),
        *("search", "keywords", "keyword", "terms", "term", "phrase", "text", "q"),
    ),
    # A column "time" beside a column "date" is a time of day, so the date goes first.
    "time": (
        *("querytime", "timestamp", "@timestamp", "eventtimestamp", "datetime", "createdat", "ts"),
        *("timeiso8601", "timelocal", "date", "time"),
    ),
}
"""Names recognised for each role, the best first, in lower case without spaces, dots, _ and -."""

OTHER_IDS: Final = frozenset(
    {"session", "sessionid", "visit", "visitid", "visitor", "visitorid", "client", "clientid"}
    | {"device", "deviceid", "cookie", "cookieid", "token", "usertoken", "ip", "ipaddress"}
    | {"clientip", "customer", "customerid", "account", "accountid", "uid", "userpseudoid"}
    | {"anonymousid", "distinctid", "email", "requestid", "queryid"}
)
"""Names of ids that are no person's beyond doubt; a line that holds one may well be a header."""

_ID_PARTS: Final = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "token", "session", "visit", "visitor", "client", "device"}
    | {"cookie", "ip", "user", "username", "person", "customer", "member", "patron", "patient"}
    | {"student", "employee", "subscriber", "account", "login", "email", "mail", "phone", "hash"}
    | {"fingerprint", "key"}
)
_NO_PERSONS_PARTS: Final = frozenset(
    {"session", "visit", "visitor", "client", "device", "cookie", "token", "ip", "pseudo"}
    | {"anonymous", "distinct", "request", "fingerprint"}
)
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

ROLES: Final = ("user", "query", "time")
_SHOWN_NAMES: Final = 20
_SHOWN_LENGTH: Final = 40
_HOW: Final = (
    "say where they are with --columns user=…,query=…,time=…, by name or, in a text file without "
    "a header, by number"
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of the three columns, counted from 0; None for a column the log does not have.

    Attributes:
        person: what the user column is called, as it was said or else as it stands in the file.
        rivals: columns that each mean a person by their names, if there are several.
        called: what the columns of user, query and time are called, "" for one that is not there;
            by number where names may be data.
        names: of all columns, as far as they may be shown.
        unused_ids: those of them that look like ids and are not used.
    """

    query: int
    user: int | None = None
    time: int | None = None
    person: str = ""
    rivals: tuple[str, ...] = ()
    called: tuple[str, str, str] = ("", "", "")
    names: tuple[str, ...] = ()
    unused_ids: tuple[str, ...] = ()

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
    plain = [plain_name(name) for name in names]
    is_header = "query" in plain and all(plain) and not any(map(looks_like_value, names))
    return names if is_header else ()


def names_are_certain(names: Sequence[str], mapping: Mapping[str, str]) -> bool:
    """Whether a first line is a header beyond doubt, so that it may be shown."""
    asked_for = [name for name in mapping.values() if not name.isdigit()]
    if any(_position(names, name) is not None for name in asked_for):
        return True
    plain = {plain_name(name) for name in names}
    kinds = [*KNOWN_NAMES.values(), OTHER_IDS]
    return len([kind for kind in kinds if plain & {*kind}]) > 1 and not any(
        map(looks_like_value, names)
    )


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
    query, user = found["query"], found["user"]
    if query is None:
        raise InputError(f"no column of {file} is known to hold queries{_list(shown)}; {_HOW}")
    places = (user, query, found["time"])
    used = {names[place] for place in places if place is not None}
    called = [_called(names, place, shown) for place in places]
    return Columns(
        query,
        user,
        found["time"],
        person=mapping.get("user", "" if user is None else names[user]),
        rivals=tuple(names[place] for place in _persons(names)),
        called=(called[0], called[1], called[2]),
        names=tuple(shown),
        unused_ids=tuple(name for name in shown if name not in used and _parts(name) & _ID_PARTS),
    )


def _called(names: Sequence[str], place: int | None, shown: Sequence[str]) -> str:
    if place is None:
        return ""
    return names[place] if names[place] in shown else f"number {place + 1}"


def columns_taken(columns: Columns, said: Mapping[str, str], unit: Unit) -> tuple[ColumnTaken, ...]:
    """What each column is taken for and why; of those that are not used only what may be shown."""
    found = []
    for role, name in zip(ROLES, columns.called, strict=True):
        if name and not (role == "user" and unit == "rows"):
            found.append(ColumnTaken(name, _taken_for(role, unit), _why(role, name, said)))
    used = {taken.name for taken in found}
    for name in _shortened([name for name in columns.names if name not in used]):
        why = "looks like an id" if name in columns.unused_ids else ""
        found.append(ColumnTaken(name, "not used", why))
    return tuple(found)


def _taken_for(role: str, unit: Unit) -> str:
    whom = "person" if unit == "people" else "session"
    return whom if role == "user" else role


def _why(role: str, name: str, said: Mapping[str, str]) -> str:
    if role in said:
        return "you said so"
    return "its name" if plain_name(name) in KNOWN_NAMES[role] else "the format"


def counted_by(file: str, columns: Columns, unit: Unit) -> Counted:
    """What is counted in a file.

    Raises:
        UsageError: if nobody has said who a person is, and no name says it beyond doubt.
    """
    if unit == "rows":
        return Counted("rows")
    if columns.user is not None:
        return Counted(unit, columns.person)
    several = f"{len(columns.rivals)} columns of {file} may each be a person"
    doubt = several if columns.rivals else f"no column of {file} is a person beyond doubt"
    raise UsageError(
        f"{doubt}{_list(columns.names)}, and k counts people. Say which column tells people apart: "
        "--columns user=NAME. Or say in so many words that something else is counted: "
        "--person session:NAME or --person row"
    )


def warnings_of(file: str, columns: Columns, counted: Counted) -> list[str]:
    """What the user should know of the columns of a file."""
    found = []
    if counted.unit == "people" and _parts(columns.person) & _NO_PERSONS_PARTS:
        found.append(
            f"{file}: column {columns.person} is counted as people; if it tells sessions or "
            f"devices apart, say --person session:{columns.person}"
        )
    if columns.unused_ids:
        listed = ", ".join(_shortened(columns.unused_ids))
        found.append(f"{file}: columns that look like ids and are not used: {listed}")
    return found


def _guess(names: Sequence[str]) -> dict[str, int | None]:
    plain = [plain_name(name) for name in names]
    known = {role: [name for name in best if name in plain] for role, best in KNOWN_NAMES.items()}
    found = {role: plain.index(own[0]) if own else None for role, own in known.items()}
    return found if len(_persons(names)) <= 1 else found | {"user": None}


def _persons(names: Sequence[str]) -> list[int]:
    """Columns whose names mean a person."""
    return [place for place, name in enumerate(names) if plain_name(name) in PERSON_NAMES]


def _parts(name: str) -> set[str]:
    """The words of a name: user, token of userToken."""
    return {part.lower() for part in _PARTS.findall(name)}


def _position(names: Sequence[str], wanted: str) -> int | None:
    """Position of a name as it is written, else regardless of case, spaces, _ and -."""
    if wanted in names:
        return names.index(wanted)
    plain = [plain_name(name) for name in names]
    return plain.index(plain_name(wanted)) if plain_name(wanted) in plain else None


def _list(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f" (it has {', '.join(map(_quoted, _shortened(names)))})"


def _shortened(names: Sequence[str]) -> list[str]:
    more = ["…"] if len(names) > _SHOWN_NAMES else []
    return [name[:_SHOWN_LENGTH] for name in names[:_SHOWN_NAMES]] + more


def _quoted(name: str) -> str:
    return name if name == "…" else repr(name)
