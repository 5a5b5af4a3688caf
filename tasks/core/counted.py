"""What k counts: people by a column, or sessions or rows if the user says so; and whose id it is.

Counting too few people is safe, counting too many is not. So ids that look like one are one, and an
id that stands for nobody counts for nobody.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["people", "sessions", "rows"]

ROW: Final = "row"
SESSION: Final = "session:"


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted, part of every verdict.

    Attributes:
        column: whose values tell them apart, by name or number; rows have none.
    """

    unit: Unit = "people"
    column: str = ""

    @property
    def whom(self) -> str:
        """In the words of every verdict: people (column customer_id)."""
        if self.unit != "people":
            return f"{self.unit}, not people"
        return f"people (column {self.column})" if self.column else "people"

    def said(self, number: int | str) -> str:
        """So many of them: 5 people (column customer_id)."""
        return f"{number} {self.whom}"

    def is_same_as(self, other: Counted) -> bool:
        """Whether both may be compared: the same unit, by the same column if both know one.

        A log without rows may know none.
        """
        columns = {plain_name(own) for own in (self.column, other.column)} - {""}
        return self.unit == other.unit and len(columns) < 2


PEOPLE: Final = Counted()
"""People, by whatever column."""


def unit_of(person: str) -> Unit:
    """What `--person` asks for; the name of a column, or nothing, means people."""
    if person == ROW:
        return "rows"
    return "sessions" if person.startswith(SESSION) else "people"


def plain_name(name: str) -> str:
    """The name of a column, whatever its case, spaces, dots, _ and -."""
    return re.sub(r"[ _.\-]", "", name.strip().lower())


_NUMBER: Final = re.compile(r"[+]?0*([0-9]+)(?:\.0*)?")
_LOOK_LIKE_NOTHING: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Characters that Unicode shows as nothing but does not call format characters."""
_INVISIBLE: Final = frozenset({"Cf", "Cc"})
_NOBODY: Final = frozenset(
    {"null", "(null)", "<null>", "nil", "\\n", "nan", "none", "(none)", "n/a", "#n/a", "na"}
    | {"unknown", "(unknown)", "undefined", "anonymous", "anon", "guest", "nobody", "-1"}
    | {"not set", "(not set)", "not available", "not logged in", "(not provided)"}
)


def folded_id(text: str) -> str:
    """An id as it is compared: NFKC, nothing invisible, single blanks, case folded, 5.0 as 5."""
    if text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    before, folded = "", text
    # To fold case may undo NFKC, and the other way round; a few turns settle every text.
    while folded != before:
        before = folded
        visible = "".join(filter(_is_visible, unicodedata.normalize("NFKC", folded)))
        folded = " ".join(visible.casefold().split())
    number = _NUMBER.fullmatch(folded)
    return number[1] if number else folded


def is_nobody(folded: str) -> bool:
    """Whether a folded id is a placeholder: NULL, unknown, guest, zeros or signs alone."""
    return folded in _NOBODY or not any(map(str.isalnum, folded.replace("0", "")))


def _is_visible(character: str) -> bool:
    if character.isspace():
        return True
    hidden = unicodedata.category(character) in _INVISIBLE
    return not hidden and not _LOOK_LIKE_NOTHING.match(character)
