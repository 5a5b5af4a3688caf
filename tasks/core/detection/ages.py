"""Ages in a query: *63 year old*, *turning 65*, *50th birthday*, *women over 40*."""

from __future__ import annotations

import re
from collections.abc import Sequence

_AGE = r"(?:1[01][0-9]|[1-9]?[0-9])"
_PEOPLE = (
    r"(?:adults|babies|boys|children|females|girls|guys|kids|ladies|males|men|moms|people|seniors|"
    r"singles|women|woman|man|male|female)"
)
_AGES = re.compile(
    r"(?<!\S)(?:"
    rf"{_AGE}(?: and a half)? ?(?:years?|yrs?|months?|weeks?) ?(?:olds?|of age)"
    rf"|{_AGE} ?(?:yo|y o|yr olds?)"
    rf"|aged? (?:of )?{_AGE}"
    rf"|(?:turn|turns|turned|turning) {_AGE}"
    r"(?! (?:degrees?|percent|into|off|miles?|minutes?|days?))"
    rf"|{_AGE}(?:st|nd|rd|th) (?:birthday|bday)"
    rf"|(?:im|i am|hes|he is|shes|she is) {_AGE}"
    r"(?! (?:weeks?|months?|days?|hours?|minutes?|percent|pounds|lbs|feet|miles?|inches))"
    r"|(?:my|his|her|their|your) (?:early |mid |late )?[2-9]0s"
    rf"|{_PEOPLE} (?:over|under|above|below|past) {_AGE}"
    r")(?!\S)"
)


def find_ages(tokens: Sequence[str]) -> dict[int, int]:
    """Where an age begins, and of how many words it is, given lexical keys of words."""
    if not any(map(str.isdigit, (token[0] for token in tokens))):
        return {}
    text = " ".join(tokens)
    return {
        text.count(" ", 0, match.start()): match.group().count(" ") + 1
        for match in _AGES.finditer(text)
    }
