"""What a concept is called where a release says it in plain words.

WordNet's first lemma is often not what people say (*watering place* for a spa). The commonest lemma
is, unless it mostly means something else: a bumpkin is not to be called *yahoo*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tasks.core.detection.lexicon import PARTS_OF_SPEECH, Lexicon, PartOfSpeech, lexical_key

MISLEADING: Final = 3.0
"""How much more it counts that a lemma means something else than that it is rare, bit by bit."""

PER_WORD: Final = 6.0
"""Bits that an expression is rarer than its rarest word, for each word beside that."""

UNKNOWN: Final = 10.0
"""Bits that a word is rarer which the list lacks than the rarest that it has."""

LAST_RESORT: Final = 100.0


class Lemmas(NamedTuple):
    """The lemmas of one concept as WordNet writes them, in its order."""

    pos: PartOfSpeech
    written: Sequence[str]
    of_one_thing: bool = False


@dataclass(frozen=True, slots=True)
class ConceptNamer:
    """Chooses what concepts are called.

    Attributes:
        bits_of: the information content of a single word: the fewer bits, the commoner.
        most_bits: that of a word of which nothing is known.
        fillers: words that say nothing by themselves: *someone*.
    """

    lexicon: Lexicon
    bits_of: Callable[[str], float]
    most_bits: float
    fillers: frozenset[str]

    def words(self, concept: int, lemmas: Lemmas) -> str:
        """The lemma that is common and means this concept; ties by WordNet's order.

        A thing with a name is called by it, not by another that is made of common words (*first
        state*): there WordNet's first lemma stands, if it is no code.
        """
        if lemmas.of_one_thing or len(lemmas.written) == 1:
            return plain(min(lemmas.written, key=is_code))
        return plain(min(lemmas.written, key=lambda lemma: self._cost(concept, lemma, lemmas.pos)))

    def _cost(self, concept: int, lemma: str, pos: PartOfSpeech) -> float:
        words = plain(lemma).split()
        foreign = -math.log2(self._share(concept, lexical_key(lemma), pos))
        says_nothing = is_code(lemma) or self.fillers.issuperset(words)
        return self._rarity(words) + MISLEADING * foreign + LAST_RESORT * says_nothing

    def _rarity(self, words: Sequence[str]) -> float:
        """An expression is no commoner than the rarest of its words."""
        rarest = max(map(self.bits_of, words))
        return rarest + PER_WORD * (len(words) - 1) + UNKNOWN * (rarest >= self.most_bits)

    def _share(self, concept: int, key: str, pos: PartOfSpeech) -> float:
        """The share of a lemma's uses that mean the concept, whatever its part of speech."""
        rank = self.lexicon.senses(key, pos).tolist().index(concept)
        own = 1 + int(self.lexicon.tags(key, pos).sum())
        in_part = float(self.lexicon.shares(key, pos)[rank]) / self._rivals_by_name(key, pos, rank)
        return in_part * own / (own + self._other_uses(key, pos))

    def _other_uses(self, key: str, pos: PartOfSpeech) -> int:
        """Tags as another part of speech, or as a form of another lemma: *laws* of *law*."""
        adjective = self.lexicon.other_tags(key) + 1
        forms = {
            (base, part)
            for part in PARTS_OF_SPEECH
            for base in self.lexicon.bases(key, part)
            if (base, part) != (key, pos)
        }
        return adjective + sum(int(self.lexicon.tags(base, part).sum()) for base, part in forms)

    def _rivals_by_name(self, key: str, pos: PartOfSpeech, rank: int) -> int:
        """One more than the things with a name that a common lemma is also the name of."""
        capitals = self.lexicon.capitals(key, pos)
        return 1 if capitals[rank] else 1 + int(capitals.sum())


def plain(lemma: str) -> str:
    return lemma.replace("_", " ").lower()


def is_code(lemma: str) -> bool:
    """Whether a lemma is an abbreviation or holds a number: *US*, *In*, *atomic number 49*."""
    word = lemma.replace(".", "")
    short = len(word) < 3
    capitals = "_" not in word and word[1:] != word[1:].lower()
    return short or capitals or any(map(str.isdigit, word))
