"""Domains as words: *www.myspace.com* is typed to get to a site, and says its label, *myspace*.

A quarter of what people type leads to a well-known site. Its label is a word like others, told
where k people share it. A domain that is called by a person stays a direct identifier, and so does
an address with more than a host: a path, a user or a port may lead to somebody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tasks.core.detection.identifiers import Span
from tasks.core.detection.name_lists import GENERATIONS, STRONG_TITLES, NameLists, word_set

_HOST_ALONE = re.compile(r"(?:https?:/{1,2})?(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?/?")
_PART = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_AROUND_LABEL = word_set("www http https dot com net org edu gov mil info biz")
_BESIDE_SURNAMES = STRONG_TITLES | GENERATIONS | word_set("family wedding the and")

SURE, USUAL, NOTHING_ELSE = 20.0, 1.0, 50.0
"""Odds that make two names a person, that each of them needs, and a surname after an initial."""

MOST_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain in a text, and where in it its label stands."""

    span: Span
    label_start: int
    label_end: int


def host_alone(token: str) -> tuple[int, int] | None:
    """Where the host stands in a web address that holds nothing else, if it is such a one."""
    match = _HOST_ALONE.fullmatch(token)
    return match.span("host") if match else None


def typed_label(typed: str) -> tuple[int, int] | None:
    """Where the label stands in a host typed with blanks, if there is one word that may be it."""
    parts = [part for part in _PART.finditer(typed) if part.group() not in _AROUND_LABEL]
    return parts[0].span() if len(parts) == 1 else None


def may_be_told(label: str, lists: NameLists) -> bool:
    """Whether a label is a word like others: no person's, and no number with which one is found."""
    digits = sum(map(str.isdigit, label))
    return digits <= MOST_DIGITS and len(label) > 1 and not points_to_person(label, lists)


def points_to_person(label: str, lists: NameLists) -> bool:
    """Whether a label is made of names: *johnsmith*, *jane-doe*, *jsmith*, *smithfamily*."""
    letters = re.sub(r"[^a-z]", "", label)
    if lists.is_word(letters):
        return False
    return any(_is_person(letters[:cut], letters[cut:], lists) for cut in range(1, len(letters)))


def _is_person(one: str, other: str, lists: NameLists) -> bool:
    """Whether the two halves of a label are a person's names, or a surname with what goes along.

    Brands are spelt as names are, so only listed ones count.
    """
    known = (
        len(half) == 1 or half in _BESIDE_SURNAMES or lists.is_listed(half) for half in (one, other)
    )
    if not all(known):
        return False
    if one in _BESIDE_SURNAMES or other in _BESIDE_SURNAMES:
        return lists.last_odds(other if one in _BESIDE_SURNAMES else one) >= USUAL
    if len(one) == 1:
        return lists.last_odds(other) >= NOTHING_ELSE
    return _are_names(one, other, lists) or _are_names(other, one, lists)


def _are_names(first: str, last: str, lists: NameLists) -> bool:
    odds = lists.first_odds(first), lists.last_odds(last)
    return min(odds) >= USUAL and odds[0] * odds[1] >= SURE
