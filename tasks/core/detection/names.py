"""Person names in lower-case text: census shares weighed against everyday words and places.

Queries have no capitals, and most names are also words or towns (*will price*, *rose hill*).
A word speaks for a name by its *odds*: people per 100,000 who bear it, divided by how often it is
an ordinary word. First name and surname multiply; what stands around them sets the bar.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.detection import family_first
from tasks.core.detection.name_lists import (
    BEFORE_MODAL_NAMES,
    COMPANY,
    COMPANY_HEADS,
    FUNCTION_WORDS,
    GENERATIONS,
    LEGAL_FORMS,
    MODALS,
    NAMED_THINGS,
    PARTICLES,
    PLACE_HEADS,
    PLACE_PREFIXES,
    STRONG_TITLES,
    TELLING,
    TITLES,
    WEB_WORDS,
    NameLists,
)

ALONE, AMONG_WORDS = 0.5, 20.0
"""Odds that a pair must reach: as the whole query, and between other words."""

USUAL_SURNAME = 0.02
FAMILIAR_FIRST_NAME = 0.1
"""Percent of people that must bear a name for its word to be taken on trust."""

CLEAR_FIRST_NAME, BORNE_SURNAME = 15.0, 0.002
"""Odds and percent that make a pair with an everyday word a name if it is the whole query."""

PLACEHOLDERS = frozenset({"doe"})
FIRST_OF_PLACEHOLDER = 2.0
"""Surnames of people who are not to be named, and the odds of a first name beside one."""

MOST_COMPANY = 4
NOT_AROUND = GENERATIONS | STRONG_TITLES
"""Words that belong to the name beside which they stand."""

LONGEST_ROW = 5
ROW_ODDS = 5.0
"""Odds that make a word a name by itself: it is hardly anything else."""

NO_INITIALS = frozenset({"n", "v"})
"""Letters for *and* and *versus*."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text; `link` is what stands between it and the next word."""

    start: int
    end: int
    key: str
    possessive: bool
    link: str


def find_names(text: str, lists: NameLists) -> list[tuple[int, int]]:
    """Character spans of person names in a lower-case text, in order, without overlap.

    A name is first name and surname (with initials, middle names, particles), surname comma
    first name, initials or title and surname. One name alone is none: it is shared by many.
    """
    found: list[tuple[int, int]] = []
    words = split_words(text) if _may_hold_name(text, lists) else []
    start = 0
    while start < len(words):
        end = _name_end(words, start, lists)
        if end > start:
            end = _with_tail(words, end)
            if not _is_company(words, end):
                found.append((words[start].start, words[end - 1].end))
        start = max(end, start + 1)
    return found


def _is_company(words: Sequence[Word], end: int) -> bool:
    """Whether what looks like a name is a company's: *smith barney inc*, *jones group plc*.

    A company of another name behind it may be where somebody works.
    """
    forms = [word.key for word in words[end : end + 2]]
    return bool(forms) and (
        forms[0] in LEGAL_FORMS or (forms[0] in COMPANY_HEADS and forms[-1] in LEGAL_FORMS)
    )


def may_be_name(text: str, lists: NameLists) -> bool:
    """Whether what somebody else takes for a person may be one: names, or words in no dictionary.

    Pipelines trained on running text take much of a query without capitals for people.
    """
    keys = [_key(written) for written in _WORD.findall(text)]
    odds = [max(lists.first_odds(key), lists.last_odds(key)) for key in keys]
    fitting = (own >= ALONE or _is_unknown(key, lists) for key, own in zip(keys, odds, strict=True))
    return len(keys) > 1 and max(odds) >= ROW_ODDS and all(fitting)


def _may_hold_name(text: str, lists: NameLists) -> bool:
    """A quick look, for four queries in five hold no word with which a name can begin."""
    keys = [_key(written) for written in _WORD.findall(text)]
    if "," in text or (len(keys) > 1 and _may_follow(keys[0], keys[1], len(keys), lists)):
        return True
    if any(_may_begin(key, lists) for key in keys[:-1]):
        return True
    return len(keys) > 1 and family_first.may_hold(keys, lists)


def _may_follow(key: str, after: str, length: int, lists: NameLists) -> bool:
    """Whether a query may begin with a name that is in no list, or with a surname."""
    return lists.is_name(after) and (length == 2 or key not in lists.common_words)


def _may_begin(key: str, lists: NameLists) -> bool:
    """A name, a title or, between two names, an initial."""
    if _may_be_first(key, lists):
        return key not in FUNCTION_WORDS or key in MODALS
    return len(key) == 1 or key in TITLES


def _may_be_first(key: str, lists: NameLists) -> bool:
    """Whether anybody is called by the word, or may be by how it is spelt."""
    return lists.first_share(key) > 0


def split_words(text: str) -> list[Word]:
    """Words of the text; hyphens link words, apostrophes belong to them."""
    matches = list(_WORD.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [
        _word(match.start(), match.end(), match.group(), text[match.end() : end])
        for match, end in zip(matches, ends, strict=False)
    ]


def _word(start: int, end: int, written: str, link: str) -> Word:
    return Word(start, end, _key(written), written.endswith("'s"), link)


def _key(written: str) -> str:
    # The census lists leave apostrophes out: o'brien is obrien.
    return written.removesuffix("'s").replace("'", "") if "'" in written else written


def _name_end(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """Where the name that starts here ends (exclusive); `start` itself if none does."""
    word = words[start]
    if start + 1 == len(words) or word.possessive:
        return start
    if word.key in TITLES:
        return _titled(words, start, lists)
    if len(word.key) == 1:
        return _initialled(words, start, lists)
    if word.link.strip() == ",":
        return _surname_first(words, start, lists)
    if _is_placeholder(words, start, lists):
        return start + 2
    if _has_initial(words, start, lists):
        return start + 3
    return max(_family_first(words, start, lists), _in_any_order(words, start, lists))


def _family_first(words: Sequence[Word], start: int, lists: NameLists) -> int:
    length = family_first.family_first_length(words, start, lists)
    return start + length if length and _may_start(words, start) else start


def _in_any_order(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """First name and surname, a whole query, or a row of names."""
    if _may_be_first(words[start].key, lists) and _may_start(words, start):
        end = _first_and_last(words, start, lists)
        if end > start:
            return _with_more_surnames(words, end, lists)
    whole = _whole_query(words, start, lists)
    return whole if whole > start else _row_of_names(words, start, lists)


def _is_placeholder(words: Sequence[Word], start: int, lists: NameLists) -> bool:
    """First name and *doe*: somebody whose name is not told, or a fixed expression for nobody.

    Which of the two cannot be seen, and people are called so, too: it is hidden like any name.
    """
    given, family = words[start].key, words[start + 1].key
    first = family in PLACEHOLDERS and lists.first_odds(given) >= FIRST_OF_PLACEHOLDER
    return first and _linked(words, start, start + 1) and _may_start(words, start)


def _has_initial(words: Sequence[Word], start: int, lists: NameLists) -> bool:
    """Two words with an initial between them, each a name or in no dictionary: *auda s rivard*."""
    if start + 2 >= len(words) or len(words[start + 1].key) > 1 or not _may_start(words, start):
        return False
    given, initial, family = (word.key for word in words[start : start + 3])
    around = _around(words, start, start + 2, lists)
    if initial in NO_INITIALS or around is None or not around <= COMPANY:
        return False
    named = all(_is_nothing_else(key, lists) for key in (given, family))
    return named and _linked(words, start, start + 2)


def _may_start(words: Sequence[Word], start: int) -> bool:
    before = words[start - 1].key if start else ""
    if before in PLACE_PREFIXES or (start and words[start - 1].link == "-"):
        return False
    if words[start].key in MODALS:
        return not before or before in BEFORE_MODAL_NAMES or before in TITLES
    return words[start].key not in FUNCTION_WORDS


def _first_and_last(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """First name, then initials, particles or a middle name, then the surname."""
    last = _skip_initials(words, start + 1)
    if last >= len(words) or not _linked(words, start, last):
        return start
    family = _skip_particles(words, last)
    if family > last and _follows_particle(words, start, family, lists):
        return family + 1
    if _has_middle(words, last, lists) and _is_pair(words, start, last + 1, lists):
        return last + 2
    return last + 1 if _is_pair(words, start, last, lists) else start


def _has_middle(words: Sequence[Word], middle: int, lists: NameLists) -> bool:
    """Whether a middle name stands here, rather than a surname that another word follows."""
    more = middle + 1 < len(words) and _linked(words, middle, middle + 1)
    if not more or words[middle].possessive or words[middle].key in PLACE_PREFIXES:
        return False
    here, after = words[middle].key, words[middle + 1].key
    if here not in lists.first:
        return here in lists.last and lists.last_odds(after) >= AMONG_WORDS
    return here not in FUNCTION_WORDS and lists.last_odds(after) >= min(5, lists.last_odds(here))


def _is_pair(words: Sequence[Word], first: int, last: int, lists: NameLists) -> bool:
    """Whether these two words are first name and surname of a person."""
    given, family = words[first].key, words[last].key
    following = words[last + 1].key if last + 1 < len(words) else ""
    named_thing = following in NAMED_THINGS or (following and family in PLACE_PREFIXES)
    if named_thing or family in GENERATIONS or lists.is_phrase(given, family):
        return False
    odds, family_odds = lists.first_odds(given), lists.last_odds(family)
    if not family_odds:
        return _has_unknown_surname(given, family, odds, lists)
    if not (
        lists.is_listed(given)
        or lists.is_listed(family)
        or _stands_alone(words, first, last, lists)
    ):
        return False
    if family in lists.towns and not lists.is_listed(given):
        return False
    is_place = family in PLACE_HEADS or (family in lists.places and given in lists.places)
    if is_place and odds < 100:
        return False
    return odds * family_odds >= _bar(words, first, last, lists)


def _stands_alone(words: Sequence[Word], first: int, last: int, lists: NameLists) -> bool:
    """Whether nothing stands around but a town, and what is asked about people."""
    around = _around(words, first, last, lists)
    return around is not None and around <= TELLING


def _bar(words: Sequence[Word], first: int, last: int, lists: NameLists) -> float:
    """The odds that first name and surname must reach together, by what stands around them."""
    around = _around(words, first, last, lists)
    surname = _is_surname(words[last].key, lists)
    if around is None or not around <= COMPANY:
        return AMONG_WORDS if surname else math.inf
    odds = lists.first_odds(words[first].key)
    if around & TELLING and odds >= 2:
        return 0.0
    borne = lists.last_share(words[last].key) >= BORNE_SURNAME
    plain = not around and odds >= CLEAR_FIRST_NAME and borne
    return ALONE if surname or plain else AMONG_WORDS


def _around(words: Sequence[Word], first: int, last: int, lists: NameLists) -> set[str] | None:
    """The other words of the query, but for a town behind the name, and what people are.

    None if they are too many for the name to be its subject.
    """
    if len(words) > last - first + 1 + MOST_COMPANY:
        return None
    behind = [word.key for word in words[last + 1 :]]
    behind = behind[lists.town_length(behind) :]
    others = {*(word.key for word in words[:first]), *behind} - NOT_AROUND
    return {key for key in others if key not in lists.name_only or lists.is_name(key)}


def _is_surname(word: str, lists: NameLists) -> bool:
    """Long lists hold nearly every word (*list*, *tea*): a surname is usual, or no usual word."""
    return lists.last_share(word) >= USUAL_SURNAME or lists.last_odds(word) >= 0.15


def _has_unknown_surname(given: str, family: str, odds: float, lists: NameLists) -> bool:
    familiar = lists.first_share(given) >= FAMILIAR_FIRST_NAME and odds >= 50
    return familiar and given not in lists.places and _is_unknown(family, lists)


def _is_unknown(word: str, lists: NameLists) -> bool:
    elsewhere = word in WEB_WORDS or word in lists.abroad
    return len(word) >= 3 and not elsewhere and not lists.is_word(word)


def _follows_particle(words: Sequence[Word], start: int, last: int, lists: NameLists) -> bool:
    """John *van der* Berg: after particles any word will do that is no dictionary word."""
    given, particle, family = (words[at].key for at in (start, start + 1, last))
    if given in PARTICLES or particle in ("la", "los", "st") or lists.first_odds(given) < 5:
        return False
    return lists.last_odds(family) >= 1 or _is_unknown(family, lists)


def _titled(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """Title and surname, or title and a name that stands by itself."""
    name = _skip_initials(words, start + 1)
    if name >= len(words) or not _linked(words, start, name):
        return start
    title, key = words[start].key, words[name].key
    if key in TITLES or lists.is_phrase(title, key):
        return start
    longer = _name_end(words, name, lists)
    if longer > name:
        return longer
    # *Ms.* is a title, *ms* may be anything.
    strong = title in STRONG_TITLES or words[start].link.startswith(".")
    named = lists.last_odds(key) >= (ALONE if strong else AMONG_WORDS)
    if strong and (lists.first_odds(key) >= 2 or _is_unknown(key, lists)):
        return name + 2 if _follows_first_name(words, name + 1, lists) else name + 1
    return name + 1 if named else start


def _follows_first_name(words: Sequence[Word], last: int, lists: NameLists) -> bool:
    """Whether a surname stands here, now that a title and a first name have been seen."""
    if last >= len(words) or not _linked(words, last - 1, last):
        return False
    family = words[last].key
    return _is_unknown(family, lists) or (lists.last_odds(family) > 0 and family not in COMPANY)


def _initialled(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """Initials and surname; without dots only with a surname that is nothing else."""
    last = _skip_initials(words, start)
    if last >= len(words) or not _linked(words, start, last):
        return start
    odds = lists.last_odds(words[last].key)
    if words[start].link.startswith(".") or last > start + 1:
        return last + 1 if odds >= (1 if len(words) == last + 1 else 5) else start
    usual = lists.last.get(words[last].key, 0.0) >= 0.005 and words[start].key not in FUNCTION_WORDS
    around = _around(words, start, last, lists)
    bar = 50.0 if around is None or not around <= COMPANY else AMONG_WORDS
    return last + 1 if usual and odds >= bar else start


def _surname_first(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """Surname, comma, first name or initial: smith, john."""
    family, given = words[start].key, words[start + 1].key
    if given in lists.places:
        return start
    initial = len(given) == 1 and words[start + 1].link.startswith(".")
    borne, called = lists.last_odds(family), lists.first_odds(given)
    # One of the two may be in no list, if the other is clearly a name.
    if borne < ALONE and not (called >= ROW_ODDS and _is_unknown(family, lists)):
        return start
    unlisted = len(given) > 3 and borne >= ROW_ODDS and _is_unknown(given, lists)
    if not initial and called < 2 and not unlisted:
        return start
    end = _skip_initials(words, start + 2)
    return end if _linked(words, start + 1, end - 1) else start + 2


def _whole_query(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """A query of two words: surname and first name, or an unknown first name and a surname."""
    if len(words) != 2 or start or not _linked(words, 0, 1):
        return start
    here, after = words[0].key, words[1].key
    if lists.is_phrase(here, after) or here in PLACE_PREFIXES:
        return start
    reverse = lists.last_odds(here) * lists.first_odds(after)
    if reverse >= 1000 and here not in lists.places and _is_no_word(here, lists):
        return 2
    usual = lists.last.get(after, 0.0) >= USUAL_SURNAME and lists.last_odds(after) >= 20
    return 2 if usual and after not in lists.places and _is_unknown(here, lists) else start


def _row_of_names(words: Sequence[Word], start: int, lists: NameLists) -> int:
    """Two to five words that are nothing but names, in any order, at least one a first name.

    So most of the world's people are called (*nguyen van minh*); if the row is the whole query, one
    of its first two words may be in no list, and what follows: a third name, or where they live.
    """
    here = words[start]
    hyphened = here.link == "-" and not lists.is_name(here.key)
    small = here.key in PLACE_PREFIXES or here.key in PARTICLES
    if hyphened or small or not _may_start(words, start):
        return start
    end = start
    while end < min(start + LONGEST_ROW, len(words)) and _reads_as_name(words, start, end, lists):
        end += 1
    while end > start and words[end - 1].key in PARTICLES:
        end -= 1
    keys = [word.key for word in words[start:end] if word.key not in PARTICLES]
    if len(keys) < 2 or any(map(lists.is_phrase, keys, keys[1:])):
        return start
    listed = [key for key in keys if lists.is_name(key)]
    around = _around(words, start, end - 1, lists)
    whole = around is not None and all(word in COMPANY or word in lists.places for word in around)
    if whole and any(map(lists.is_name, keys[:2])):
        return end
    first = any(lists.is_listed(key) and lists.first_odds(key) >= ROW_ODDS for key in listed)
    return end if first and len(listed) == len(keys) else start


def _reads_as_name(words: Sequence[Word], first: int, at: int, lists: NameLists) -> bool:
    """Whether a word is a name or unknown, and nothing but a blank parts it from the one before."""
    if at > first and not _linked(words, at - 1, at):
        return False
    key = words[at].key
    if at > first and key in PARTICLES:
        return True
    if key in lists.places or words[at].possessive:
        return False
    if key in lists.towns and at > first + 1:
        return False
    return _is_nothing_else(key, lists)


def _is_nothing_else(word: str, lists: NameLists) -> bool:
    """Whether a word is a name, or in no dictionary."""
    odds = max(lists.first_odds(word), lists.last_odds(word))
    return odds >= ROW_ODDS or _is_unknown(word, lists)


def _with_more_surnames(words: Sequence[Word], end: int, lists: NameLists) -> int:
    """Takes the surnames that follow a name, if they are nothing else: *ana lucia pacheco*."""
    while end < len(words) and _linked(words, end - 1, end) and not words[end - 1].possessive:
        key = words[end].key
        if key in lists.places or lists.is_word(key) or lists.last_odds(key) < ROW_ODDS:
            break
        end += 1
    return end


def _is_no_word(word: str, lists: NameLists) -> bool:
    return word in lists.name_only or not lists.is_word(word)


def _skip_initials(words: Sequence[Word], start: int) -> int:
    end = start
    while end < min(start + 2, len(words)) and len(words[end].key) == 1:
        end += 1
    return end


def _skip_particles(words: Sequence[Word], start: int) -> int:
    end = start
    while end < min(start + 3, len(words) - 1) and words[end].key in PARTICLES:
        end += 1
    return end if _linked(words, start, end) else start


def _linked(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether nothing but blanks, dots and hyphens stands between these words."""
    return all(words[at].link in (" ", ". ", ".", "-", "_", "+") for at in range(first, last))


def _with_tail(words: Sequence[Word], end: int) -> int:
    """Takes the other half of a double surname, and what tells father from son."""
    while end < len(words) and words[end - 1].link == "-":
        end += 1
    following = words[end].key if end < len(words) else ""
    near = not words[end - 1].link.strip(" ,.")
    return end + 1 if near and following in GENERATIONS else end
