"""Names of peoples who put the family first: Chinese, Vietnamese and Yoruba, by how they are made.

Lists of such names are short, and most of their words are English ones as well (*lan*, *tam*,
*wei*). But these names are built: a Chinese one of a family name and one or two syllables, a
Vietnamese one of a family name, a middle name and one or two syllables, a Yoruba one of open
syllables after one of few beginnings. So what has that build is a name although no list holds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from tasks.core.detection.name_lists import COMPANY, FUNCTION_WORDS, PARTICLES, WEB_WORDS, NameLists

MARKERS: Final = frozenset({"van", "thi"})
"""Middle names of men and women, by which a Vietnamese name is known whatever the family's."""

ELEMENT: Final = 3
"""Letters by which the beginning of a Yoruba name is known: *ade*, *olu*, *ola*."""

LONGEST_SYLLABLE: Final = 6
MOST_COMPANY: Final = 4

_VIETNAMESE = re.compile(
    r"(?:ngh?|nh|gh|gi|kh|ph|th|tr|ch|qu|[bcdghklmnprstvx])?[aeiouy]{1,3}(?:ng|nh|ch|[cmnpt])?"
)
_YORUBA = re.compile(r"(?:(?:gb|[bdfghjklmnprstwy])?[aeiou]n?){3,}")
_LINKS = (" ", "-")


class Spelt(Protocol):
    """A word of the text, and what stands between it and the next."""

    @property
    def key(self) -> str: ...

    @property
    def link(self) -> str: ...

    @property
    def possessive(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """The words from one place on, as far as a name could reach."""

    keys: tuple[str, ...]
    alone: bool
    lists: NameLists = field(repr=False)

    def is_no_word(self, key: str) -> bool:
        """Whether the dictionary lacks the word."""
        return not self.lists.is_word(key)


def may_hold(keys: Sequence[str], lists: NameLists) -> bool:
    """A quick look: whether a name with the family first may be among these words."""
    return any(
        key in lists.chinese_last or key in lists.vietnamese_last or _is_yoruba(key, lists)
        for key in keys
    )


def family_first_length(words: Sequence[Spelt], start: int, lists: NameLists) -> int:
    """How many words from here on are a name with the family first; 0 if none."""
    begun = [word.key for word in words[start : start + 2]]
    if not MARKERS.intersection(begun[1:]) and not may_hold(begun, lists):
        return 0
    keys = begun[:1]
    for before, word in zip(words[start:], words[start + 1 : start + 4], strict=False):
        if before.link not in _LINKS or before.possessive:
            break
        keys.append(word.key)
    for rule, longest in ((_vietnamese, 4), (_chinese, 3), (_yoruba, 2)):
        for length in range(min(longest, len(keys)), 1, -1):
            own = Reading(tuple(keys[:length]), _is_subject(words, start, length), lists)
            if rule(own):
                return length
    return 0


def _is_subject(words: Sequence[Spelt], start: int, length: int) -> bool:
    """Whether beside these words stand no others but such as are asked about people."""
    if len(words) > length + MOST_COMPANY:
        return False
    return all(word.key in COMPANY for word in (*words[:start], *words[start + length :]))


def _chinese(read: Reading) -> bool:
    """Family and given name: *li xiaoming*, *li xiao ming*, *li na*."""
    family, *given = read.keys
    if family not in read.lists.chinese_last or not _may_be_names(read):
        return False
    sure = read.alone or (read.is_no_word(family) and family not in PARTICLES)
    if len(given) == 1 and _is_two_syllables(given[0], read.lists):
        return read.is_no_word(given[0]) and sure
    if any(read.lists.common_words.get(key, 0) for key in read.keys):
        return False
    if len(given) == 1:
        return given[0] in read.lists.chinese_first and sure
    built = all(key in read.lists.pinyin for key in given)
    return read.alone and built and any(map(read.is_no_word, read.keys))


def _is_two_syllables(word: str, lists: NameLists) -> bool:
    cuts = range(max(2, len(word) - LONGEST_SYLLABLE), min(len(word) - 1, LONGEST_SYLLABLE + 1))
    return any(word[:cut] in lists.pinyin and word[cut:] in lists.pinyin for cut in cuts)


def _vietnamese(read: Reading) -> bool:
    """Family, middle and given name: *le van tam*, *hoang thi lan*, *dang thuy tram*."""
    family, *rest = read.keys
    if len(rest) < 2 or not _may_be_names(read) or family in FUNCTION_WORDS:
        return False
    if not all(map(_VIETNAMESE.fullmatch, (family, *rest))):
        return False
    own = family in read.lists.vietnamese_last
    if rest[0] in MARKERS and (own or family in read.lists.last):
        # One syllable more must be nothing else, or it is the next word.
        return len(rest) == 2 or all(map(read.is_no_word, rest[1:]))
    return own and read.alone and sum(map(read.is_no_word, read.keys)) > 1


def _yoruba(read: Reading) -> bool:
    """Two words in either order that are built alike: *adebayo oluwaseun*."""
    if not _may_be_names(read) or not all(map(read.is_no_word, read.keys)):
        return False
    built = all(key in read.lists.yoruba or _YORUBA.fullmatch(key) for key in read.keys)
    return built and any(_is_yoruba(key, read.lists) for key in read.keys)


def _is_yoruba(word: str, lists: NameLists) -> bool:
    if word in lists.yoruba:
        return True
    return word[:ELEMENT] in lists.yoruba_elements and _YORUBA.fullmatch(word) is not None


def _may_be_names(read: Reading) -> bool:
    """Whether no word is known for something else, and no two are a fixed expression, or one."""
    if read.keys[0] == read.keys[1]:
        return False
    if any(key in WEB_WORDS or key in COMPANY for key in read.keys[1:]):
        return False
    if any(key in FUNCTION_WORDS for key in read.keys[1:]):
        return False
    return not any(map(read.lists.is_phrase, read.keys, read.keys[1:]))
