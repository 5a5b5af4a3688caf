"""What the user said about how logs are to be read; what was not said is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tasks.core.counted import SESSION, unit_of
from tasks.errors import UsageError

DateOrder = Literal["auto", "day-first", "month-first"]
"""How 03/04/2006 is read: the 3rd of April, or the 4th of March."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How logs are to be read.

    Attributes:
        format: auto, or one of the formats' names; each may be packed with gzip, zstd or zip.
        columns: name of the column that holds the user, the query, the time or the count; in text
            files also its number, counted from 1, in JSON also a path (`request.q`). What is not
            named is found by well-known names, but for people: see `person`.
        person: what k counts: "" or the name of a column for people, "row", "session:NAME". From
            then on it is "" for people, and `columns` names the column of people or sessions.
        exact_ids: ids are compared as they stand, but for blanks around them.
        encoding: auto, or a name that Python knows.
        delimiter: of CSV; "" for the one that most lines agree on.
        query_param: the parameter of an URL that holds the query; "" for the usual names.
        sheet: of a workbook; "" if only one has cells.
        date_order: of dates like 03/04/2006, in which nothing may say what is the day.
    """

    format: str = "auto"
    columns: Mapping[str, str] = field(default_factory=dict)
    person: str = ""
    encoding: str = "auto"
    delimiter: str = ""
    query_param: str = ""
    sheet: str = ""
    date_order: DateOrder = "auto"
    exact_ids: bool = False

    def __post_init__(self) -> None:
        """Say who is counted in one way: `--person NAME` and `--columns user=NAME` are the same.

        Raises:
            UsageError: the two contradict each other.
        """
        said, user, unit = self.person, self.columns.get("user"), unit_of(self.person)
        column = said.removeprefix(SESSION).strip() if unit != "rows" else ""
        if said and user and user != column:
            raise UsageError(
                f"--person {said} and --columns user={user} say different things: choose one"
            )
        if unit == "sessions" and not column:
            raise UsageError(f"--person {SESSION}NAME: name the column of the sessions")
        if column:
            object.__setattr__(self, "columns", {**self.columns, "user": column})
        object.__setattr__(self, "person", said if unit != "people" else "")
