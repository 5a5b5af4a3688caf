"""Words to concepts: WordNet's lemmas and morphology, reviewed terms, misspellings (paper §3.1).

Hyphen, space and underscore are one: *ill-health*, *ill health* and ``ill_health`` share a key.
Apostrophes and dots do not count: people type *alzheimers* and *st louis*.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from tasks.core.records import Flags, Floats, Ints, Longs, Strings, freeze

PartOfSpeech = Literal["n", "v"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = ("n", "v")

# The suffix rules of WordNet's morphy(7WN), in its order.
SUFFIXES: Mapping[PartOfSpeech, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
}


_FOLDED = str.maketrans({"_": " ", "-": " ", "'": None, ".": None})


def lexical_key(lemma: str) -> str:
    """The form under which a lemma is filed: no case, hyphens, underscores, apostrophes, dots."""
    return " ".join(lemma.lower().translate(_FOLDED).split())


@dataclass(frozen=True, slots=True, eq=False)
class LexiconTable:
    """The lexicon as arrays, for the disk.

    Attributes:
        keys: lexical keys of all lemmas, ascending, shape (n,).
        sense_offsets, senses, counts: for each key its noun senses, then its verb senses, in
            WordNet's order, with how often each was tagged in WordNet's corpus.
        sense_shares: of each sense the share of its lemma's uses it is true of, see `doubts.py`.
        sense_capitals: whether WordNet writes the lemma in capitals where it means that sense.
        noun_counts: how many of the senses of a key are nouns, shape (n,).
        other_tags: tags of the key's adjective and adverb senses, or -1 without any, shape (n,).
        exception_forms, exception_bases: irregular forms, ``n:mice`` → ``mouse``.
        adjectives, adjective_nouns: adjectives that are no noun or verb, and the noun concept each
            is derived from, in its first sense that has one: *pregnant*.
    """

    keys: Strings
    sense_offsets: Longs
    senses: Ints
    counts: Ints
    sense_shares: Floats
    sense_capitals: Flags
    noun_counts: Ints
    other_tags: Ints
    exception_forms: Strings
    exception_bases: Strings
    adjectives: Strings
    adjective_nouns: Ints

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class Lexicon:
    """Look-ups over a LexiconTable."""

    table: LexiconTable = field(repr=False)
    _bases: dict[tuple[str, PartOfSpeech], str | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def index(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.table.keys.tolist())}

    @cached_property
    def exceptions(self) -> dict[str, str]:
        forms, bases = self.table.exception_forms, self.table.exception_bases
        return dict(zip(forms.tolist(), bases.tolist(), strict=True))

    @cached_property
    def nouns_of_adjectives(self) -> dict[str, int]:
        """The noun concept behind an adjective: *jewish*, *suicidal*."""
        adjectives, nouns = self.table.adjectives, self.table.adjective_nouns
        return dict(zip(adjectives.tolist(), nouns.tolist(), strict=True))

    @cached_property
    def longest_by_first_word(self) -> dict[str, int]:
        """For each first word of a multiword lemma, the number of words of the longest."""
        return _longest_by_first_word(self.table.keys.tolist())

    def words_of(self, concepts: Flags) -> list[str]:
        """The single words whose first sense, as noun or else as verb, is one of the concepts."""
        table = self.table
        first = np.minimum(table.sense_offsets[:-1], max(0, len(table.senses) - 1))
        chosen = concepts[table.senses[first]] & (np.diff(table.sense_offsets) > 0)
        return [key for key in table.keys[chosen].tolist() if " " not in key]

    def senses(self, key: str, pos: PartOfSpeech) -> Ints:
        """Concepts of a lemma as noun or verb, most common first; empty if it has none."""
        row = self.index.get(key)
        return self.table.senses[self._senses_of(row, pos)] if row is not None else _NONE

    def tags(self, key: str, pos: PartOfSpeech) -> Ints:
        """How often each of `senses` was tagged in WordNet's corpus."""
        row = self.index.get(key)
        return self.table.counts[self._senses_of(row, pos)] if row is not None else _NONE

    def shares(self, key: str, pos: PartOfSpeech) -> Floats:
        """The share of the lemma's uses as noun or verb that each of `senses` is true of."""
        return self.table.sense_shares[self._senses_of(self.index[key], pos)]

    def capitals(self, key: str, pos: PartOfSpeech) -> Flags:
        """Whether the lemma is written in capitals, of each of `senses`."""
        return self.table.sense_capitals[self._senses_of(self.index[key], pos)]

    def other_tags(self, key: str) -> int:
        """Tags of the lemma's adjective and adverb senses; -1 if it has no such sense."""
        row = self.index.get(key)
        return int(self.table.other_tags[row]) if row is not None else -1

    def base(self, form: str, pos: PartOfSpeech) -> str | None:
        """The lemma of a word form as WordNet's morphy finds it, or None; remembered."""
        asked = (form, pos)
        if asked not in self._bases:
            self._bases[asked] = next(self.bases(form, pos), None)
        return self._bases[asked]

    def bases(self, form: str, pos: PartOfSpeech) -> Iterator[str]:
        """All lemmas that a word may be a form of, the likeliest first."""
        candidates = self._candidates(form, pos)
        return (key for key in candidates if len(self.senses(key, pos)))

    def _candidates(self, form: str, pos: PartOfSpeech) -> Sequence[str]:
        exception = self.exceptions.get(f"{pos}:{form}")
        if exception is not None:
            return (form, *exception.split(","))
        rules = SUFFIXES[pos]
        return (form, *(form[: -len(old)] + new for old, new in rules if form.endswith(old)))

    def _senses_of(self, row: int, pos: PartOfSpeech) -> slice:
        start, end = self.table.sense_offsets[row], self.table.sense_offsets[row + 1]
        nouns = start + self.table.noun_counts[row]
        return slice(start, nouns) if pos == "n" else slice(nouns, end)


_NONE: Ints = np.zeros(0, dtype=np.int32)


def _longest_by_first_word(keys: Iterable[str]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for key in keys:
        if " " in key:
            first, words = key.split(" ", 1)[0], key.count(" ") + 1
            longest[first] = max(longest.get(first, 0), words)
    return longest


class Sense(NamedTuple):
    """The sense chosen for a word or expression: the concept it stands for.

    `in_doubt` if it was preferred, being sensitive, to a more common one that is not; `weak` if it
    counts only beside another word of its topic.
    """

    concept: int
    in_doubt: bool
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """Words that say what a query is about, and the topics (as a mask) its other words then miss.

    One of `unless` in the query, and nothing is silenced: *movie times* is about a place.
    """

    cues: frozenset[str]
    topics: int
    unless: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Terms:
    """What words stand for beyond WordNet, by reviewed lists and lists of packages.

    All keys are lexical keys.

    Attributes:
        concepts: words and expressions that WordNet lacks or means otherwise, with their concept.
        phrases: expressions whose words say nothing one by one: brands, works, characters.
        harmless: words whose sensitive sense is not what queries mean by them.
        weak: words that are sensitive only beside another word of the same topic.
        weak_concepts: the same for all words of these concepts.
        support: words that are such company, with the topics they speak for.
        silences: what takes the sensitive sense away.
        persons: concepts that are one person or god by name: *aaron* in a query is anybody.
        kinds_of_person: what people are, *politician*: an origin before it is somebody's.
        named: concepts with a name of their own, persons or not.
        towns: words that are the name of a town if a state follows.
        origins: words for where people are from; as adjectives they are weak.
        age: the concept of an age that is told, *63 year old*.
        disease: the concept of a disease that is known by its ending alone, *cholangitis*.
        intimate: the topic of sex life, for sites and words made of others: *gaychat*.
        people, of_people: topics of words for people, and those that speak of somebody beside them.
        state_codes: letters that are a state's after a town, whatever they mean elsewhere.
        known: lists of words in use that WordNet lacks: none of them is a misspelling.
        brands: words that queries use for a brand, a title or something newer than WordNet's.
        certain: words in capitals that mean what WordNet says.
        names: words that are rather somebody's name than anything else.
        places_and_days: concepts with a name that are a place, or a day or month of the calendar.
    """

    concepts: Mapping[str, int] = field(default_factory=dict, repr=False)
    phrases: AbstractSet[str] = field(default=frozenset(), repr=False)
    harmless: AbstractSet[str] = field(default=frozenset(), repr=False)
    weak: AbstractSet[str] = field(default=frozenset(), repr=False)
    weak_concepts: AbstractSet[int] = field(default=frozenset(), repr=False)
    support: Mapping[str, int] = field(default_factory=dict, repr=False)
    silences: Sequence[Silence] = field(default=(), repr=False)
    persons: AbstractSet[int] = field(default=frozenset(), repr=False)
    kinds_of_person: AbstractSet[int] = field(default=frozenset(), repr=False)
    named: AbstractSet[int] = field(default=frozenset(), repr=False)
    towns: AbstractSet[str] = field(default=frozenset(), repr=False)
    state_codes: Mapping[str, int] = field(default_factory=dict, repr=False)
    origins: Mapping[str, Sense] = field(default_factory=dict, repr=False)
    age: int = -1
    disease: int = -1
    intimate: int = 0
    people: int = 0
    of_people: int = 0
    known: Sequence[Container[str]] = field(default=(), repr=False)
    brands: AbstractSet[str] = field(default=frozenset(), repr=False)
    certain: AbstractSet[str] = field(default=frozenset(), repr=False)
    names: AbstractSet[str] = field(default=frozenset(), repr=False)
    places_and_days: AbstractSet[int] = field(default=frozenset(), repr=False)

    @cached_property
    def longest_by_first_word(self) -> dict[str, int]:
        """For each first word of a multiword term, the number of words of the longest."""
        return _longest_by_first_word((*self.concepts, *self.phrases))

    @cached_property
    def states(self) -> frozenset[int]:
        """The concepts of the states that towns are in."""
        return frozenset(self.state_codes.values())

    @cached_property
    def cues(self) -> frozenset[str]:
        """All words that silence something."""
        return frozenset(cue for silence in self.silences for cue in silence.cues)


SHORTEST_CORRECTED = 6
"""Shorter words have too many neighbours that are words of their own."""


class SpellingCorrector:
    """Finds the word of a list at one edit from an unknown word: *diabetis* for *diabetes*.

    An edit leaves out, puts in or changes a letter, or swaps two neighbours (Damerau-Levenshtein).
    Every word is filed under itself and under each of its forms with one letter deleted: two words
    at one edit from each other meet in such a form.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word for word in words if _is_correctable(word)]

    @cached_property
    def _words_by_form(self) -> dict[str, list[str]]:
        filed: dict[str, list[str]] = {}
        for word in self._words:
            for form in _deletion_forms(word):
                filed.setdefault(form, []).append(word)
        return filed

    def correction(self, word: str) -> str | None:
        """The word of the list at one edit that begins alike; of several the first."""
        if not _is_correctable(word):
            return None
        found = (
            near for form in _deletion_forms(word) for near in self._words_by_form.get(form, ())
        )
        return min((near for near in found if _is_one_edit(word, near)), default=None)


def _is_correctable(word: str) -> bool:
    return len(word) >= SHORTEST_CORRECTED and word.isalpha()


def _deletion_forms(word: str) -> Iterator[str]:
    """The word, and the word without one of its letters but the first."""
    yield word
    for position in range(1, len(word)):
        yield word[:position] + word[position + 1 :]


def _is_one_edit(word: str, near: str) -> bool:
    """Whether one letter put in, left out, changed or swapped makes one of the other."""
    start = 0
    shorter = min(len(word), len(near))
    while start < shorter and word[start] == near[start]:
        start += 1
    rest, near_rest = word[start:], near[start:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return near_rest in (swapped, rest[1:]) or near_rest[1:] in (rest, rest[1:])
