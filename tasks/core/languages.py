"""Which language queries are in, told by their words: how common each is in English and elsewhere.

A query is in another language if its words are clearly more common there than in English, or in
another script. A word that English uses as well (*casa*, *de*, *berlin*) speaks for no other
language; one that no list knows (a name, a brand, a slip of the keyboard) speaks for none. A query
of nothing but such words is not understood either.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from tasks.core.records import Floats, Ints, Longs

LIMIT: Final = 0.2
"""The part of queries that may be in other languages."""
LEAST_SHOWN: Final = 0.05
"""A language of fewer queries is not named: it may be one person's."""
RAREST: Final = 2.0
"""Words are compared by the logarithm of their uses in a thousand million; one not listed has so
few."""
ENGLISH_TOO: Final = 3.0
"""A word used so often in English speaks for no other language."""
CLEARLY: Final = 1.0
"""So much more common (ten times) must the words of a query be in another language."""
_CERTAIN: Final = 1.645
"""Standard errors; with few queries the part that was seen may be luck."""

_WORD: Final = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)*")
_ADDRESS: Final = re.compile(r"\S*(?:www\.|://|@|\.[a-z]{2,4}\b)\S*")


@dataclass(frozen=True, slots=True)
class Languages:
    """What languages some queries are in.

    Attributes:
        queries: how many with words were looked at.
        foreign: how many are in each other language or script.
        unknown: how many have no word that any list knows.
        words: all their words.
        english_words: those that the English list has.
    """

    queries: int
    foreign: dict[str, int]
    unknown: int
    words: int = 0
    english_words: int = 0

    @property
    def not_understood(self) -> float:
        """The part of the queries that nobody here understands."""
        return (sum(self.foreign.values()) + self.unknown) / max(1, self.queries)

    @property
    def is_english(self) -> bool:
        """Whether there is no reason to think that too large a part is in other languages."""
        # Wilson's lower bound of the true part, given what was seen.
        n, part, z = max(1, self.queries), self.not_understood, _CERTAIN
        middle = part + z * z / (2 * n)
        spread = z * sqrt(part * (1 - part) / n + z * z / (4 * n * n))
        return (middle - spread) / (1 + z * z / n) <= LIMIT

    def shown(self) -> dict[str, float]:
        """The larger parts, the largest first, in hundredths: of other languages, then unknown."""
        parts = sorted(self.foreign.items(), key=lambda entry: (-entry[1], entry[0]))
        all_parts = [*parts, ("unknown", self.unknown)]
        shares = {name: round(found / max(1, self.queries), 2) for name, found in all_parts}
        return {name: share for name, share in shares.items() if share >= LEAST_SHOWN}


def words_of(text: str) -> list[str]:
    """The words of a query in lower case, without numbers, single letters and addresses."""
    return _WORD.findall(_ADDRESS.sub(" ", unicodedata.normalize("NFKC", text).lower()))


def script_of(word: str) -> str:
    """The script of a word by its first letter: latin, cyrillic, cjk, …"""
    return unicodedata.name(word[0], "unknown").split(" ")[0].split("-")[0].lower()


def languages_of(
    offsets: Longs, words: Ints, uses: Floats, names: Sequence[str], scripts: Sequence[str]
) -> Languages:
    """Judge queries by their words.

    Args:
        offsets: query q has the words offsets[q] to offsets[q + 1], at least one each.
        words: of all queries, as indices.
        uses: of each word in English and in each other language, as logarithms, 0 if it is not
            listed; shape (words, 1 + languages).
        names: of the other languages.
        scripts: of each word.
    """
    starts = offsets[:-1]
    if not len(starts):
        return Languages(0, {}, 0)
    other_script = np.array([script != "latin" for script in scripts], dtype=np.float64)
    is_known = np.array(uses.max(axis=1) > 0, dtype=np.float64)
    listed = np.maximum(uses, RAREST)
    gain = listed[:, 1:] - listed[:, :1]
    gain = np.where(uses[:, :1] >= ENGLISH_TOO, np.minimum(gain, 0.0), gain)
    in_other_script = 2 * np.add.reduceat(other_script[words], starts) > np.diff(offsets)
    unknown = ~in_other_script & (np.add.reduceat(is_known[words], starts) == 0)
    scores = np.add.reduceat(gain[words], starts, axis=0)
    foreign = ~in_other_script & ~unknown & (scores.max(axis=1) >= CLEARLY)
    found = Counter(names[best] for best in scores[foreign].argmax(axis=1).tolist())
    first = words[starts[in_other_script]].tolist()
    found.update(f"{scripts[word]} script" for word in first)
    english = int(np.count_nonzero(uses[words, 0]))
    return Languages(len(starts), dict(found), int(unknown.sum()), len(words), english)
