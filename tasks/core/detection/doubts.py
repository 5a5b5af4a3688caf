"""Which readings of WordNet are doubtful: what is said of those words is the word alone.

WordNet's corpus is running text of the sixties. A query that says *yahoo*, *target* or *lost* means
a site, a shop or a series, and what generalises it (*yokel*) misleads whoever reads the release.
So in scope `all` a word stands for a concept only where nothing speaks against its sense. In scope
`sensitive` every reading stays: there a doubt is settled in favour of privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tasks.core.detection.lexicon import Lexicon, PartOfSpeech, Terms
from tasks.core.records import Flags, Floats, Ints, Longs
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy

DOMINANT: Final = 0.34
"""A sense is beyond doubt that has more than this share of what its word means."""

UNSEEN: Final = 0.5
UNSEEN_NAME: Final = 1.0
"""Tags that every sense counts for beside those it has; a thing with a name counts for more."""

MOSTLY_VERB: Final = 16
"""A word that is also a noun is read as a verb if tagged so many times as often as one."""

COMPARED: Final = (("er", ""), ("est", ""), ("er", "e"), ("est", "e"))
"""How adjectives are compared, by WordNet's morphy(7WN)."""

PLURALS: Final = (("s", ""), ("es", ""), ("ies", "y"))


def sense_shares(offsets: Longs, senses: Ints, tags: Ints, taxonomy: Taxonomy) -> Floats:
    """Of each sense of a lemma the share of the lemma's uses that it is true of.

    Senses that are near to each other count together: if one is meant, the other misleads nobody.
    A thing with a name stands for itself alone: there is more than one *springfield*.

    Args:
        offsets: lemma i has senses offsets[i] to offsets[i + 1].
        tags: how often each sense was tagged in a corpus.
    """
    lemmas = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    left, right = _pairs_within(offsets)
    near = _are_near(senses[left], senses[right], taxonomy)
    seen, named = tags + UNSEEN, tags + UNSEEN_NAME
    backed = np.bincount(left[near], seen[right[near]], minlength=len(senses))
    return np.where(
        taxonomy.instances[senses],
        named / np.bincount(lemmas, named)[lemmas],
        backed / np.bincount(lemmas, seen)[lemmas],
    )


def _pairs_within(offsets: Longs) -> tuple[Longs, Longs]:
    """All pairs of places of one lemma, each place with itself, too."""
    lengths = np.diff(offsets)
    left = np.repeat(np.arange(offsets[-1]), np.repeat(lengths, lengths))
    first = np.repeat(offsets[:-1], lengths * lengths)
    before = np.repeat(np.cumsum(lengths * lengths) - lengths * lengths, lengths * lengths)
    return left, first + (np.arange(len(left)) - before) % np.repeat(lengths, lengths * lengths)


def _are_near(one: Ints, other: Ints, taxonomy: Taxonomy) -> Flags:
    """Whether two concepts are the same, one above the other, or side by side."""
    parents = taxonomy.main_parents
    beside = (parents[one] == parents[other]) & (parents[one] != NO_CONCEPT)
    apart = _is_above(one, other, taxonomy) | _is_above(other, one, taxonomy)
    return np.asarray((one == other) | beside | apart)


def _is_above(ancestors: Ints, concepts: Ints, taxonomy: Taxonomy) -> Flags:
    """Looked up among all pairs of the taxonomy, which are ascending."""
    count = np.int64(len(taxonomy))
    owners = np.repeat(np.arange(count), np.diff(taxonomy.ancestor_offsets))
    known = np.append(owners * count + taxonomy.ancestors, count * count)
    asked = concepts * count + ancestors
    return np.asarray(known[np.searchsorted(known, asked)] == asked)


@dataclass(frozen=True, slots=True)
class Reading:
    """One sense of a word as noun or verb: that of this rank of its lemma.

    Attributes:
        word, lemma: as typed, in lexical form, and its base.
    """

    word: str
    lemma: str
    pos: PartOfSpeech
    rank: int
    concept: int


@dataclass(frozen=True, slots=True)
class Doubts:
    """Judges readings by the lexicon, the terms, and the words that say nothing by themselves."""

    lexicon: Lexicon
    terms: Terms
    stop_words: frozenset[str] = field(repr=False)

    def is_doubtful(self, reading: Reading) -> bool:
        """Whether anything speaks against the reading of a word or a multiword expression."""
        if reading.word in self.terms.certain or self._is_state(reading):
            return False
        reasons = (self._is_unclear, self._is_person)
        return self._any(reasons if " " in reading.word else (*reasons, *self._of_words), reading)

    def is_accidental(self, phrase: str, pos: PartOfSpeech) -> bool:
        """Whether words that are an expression stand beside each other by chance: *to do*."""
        return pos == "v" or self.stop_words.issuperset(phrase.split())

    @property
    def _of_words(self) -> tuple[Callable[[Reading], bool], ...]:
        return (
            self._is_known_otherwise,
            self._is_in_capitals,
            self._is_plural_of_another,
            self._is_rather_adjective,
            self._is_rather_noun,
        )

    @staticmethod
    def _any(reasons: tuple[Callable[[Reading], bool], ...], reading: Reading) -> bool:
        return any(reason(reading) for reason in reasons)

    def _is_state(self, reading: Reading) -> bool:
        """Codes of two letters mean too much else: *md*, *pa*."""
        return reading.concept in self.terms.states and len(reading.word) > 2

    def _is_unclear(self, reading: Reading) -> bool:
        share = self.lexicon.shares(reading.lemma, reading.pos)[reading.rank]
        return float(share) <= DOMINANT

    def _is_person(self, reading: Reading) -> bool:
        return reading.concept in self.terms.persons

    def _is_known_otherwise(self, reading: Reading) -> bool:
        """A brand or a title, somebody's name, a place that is rather something else, a code."""
        word, terms = reading.word, self.terms
        listed = word in terms.brands or reading.lemma in terms.brands or word in terms.names
        weak_place = word in terms.weak and reading.concept in terms.named
        return listed or weak_place or not word.isalpha()

    def _is_in_capitals(self, reading: Reading) -> bool:
        """So are names and abbreviations; of these, places and days are what they say."""
        capitals = self.lexicon.capitals(reading.lemma, reading.pos)[reading.rank]
        return bool(capitals) and reading.concept not in self.terms.places_and_days

    def _is_plural_of_another(self, reading: Reading) -> bool:
        """A plural with a lemma of its own, while its singular is more common: *shoes*, *parts*."""
        word = reading.word
        if word != reading.lemma or reading.pos != "n":
            return False
        singulars = (word[: -len(old)] + new for old, new in PLURALS if word.endswith(old))
        most = max((self._tags(one, "n") for one in singulars if one), default=-1)
        return most >= self._tags(word, "n")

    def _is_rather_adjective(self, reading: Reading) -> bool:
        word = reading.word
        compared = (word[: -len(old)] + new for old, new in COMPARED if word.endswith(old))
        other = max(map(self.lexicon.other_tags, (word, *compared)))
        return other >= max(0, self._tags(reading.lemma, reading.pos))

    def _is_rather_noun(self, reading: Reading) -> bool:
        """A verb that may be a noun or, as a participle, an adjective: *watches*, *lost*."""
        word = reading.word
        if reading.pos != "v":
            return False
        noun = self.lexicon.base(word, "n")
        if noun is None:
            return word != reading.lemma and self.lexicon.other_tags(word) >= 0
        rarer = self._tags(reading.lemma, "v") < MOSTLY_VERB * (self._tags(noun, "n") + 1)
        return rarer or word.endswith("s")

    def _tags(self, lemma: str, pos: PartOfSpeech) -> int:
        """How often a lemma was tagged, -1 if there is no such lemma."""
        tags = self.lexicon.tags(lemma, pos)
        return int(tags.sum()) if len(tags) else -1
