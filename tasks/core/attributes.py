"""Sensitive attributes of a query: which words stand for which concept (paper §3.1, Def. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tasks.core.choices import Scope
from tasks.core.lexicon import Lexicon, PartOfSpeech
from tasks.core.records import Flags
from tasks.core.taxonomy import NO_CONCEPT

Tag = Literal["n", "v", "other", ""]
"""Part of speech a trained tagger gave: noun, verb, something else, or unknown."""

COMMON_SHARE = 0.25
"""A sense tagged at least this often, relative to the first sense, is a common one."""


CLEARLY = 4
"""A verb or adjective reading tagged more than this many times as often as the noun wins."""

IDENTIFIER_CONCEPT = -2
"""Marks an item as an identifier on its way from the text pipeline to the record table."""

PARTS: tuple[PartOfSpeech, ...] = ("n", "v")


class Item(NamedTuple):
    """A piece of a query in its order: some words, and the concept they stand for, if any.

    `in_doubt` if they have a more common reading that is not sensitive; `length` in tokens.
    """

    words: str
    concept: int
    in_doubt: bool = False
    length: int = 1


class Choice(NamedTuple):
    """The concept chosen for a word; `in_doubt` if a rarer, sensitive sense was preferred."""

    concept: int
    in_doubt: bool


NOTHING = Choice(NO_CONCEPT, False)


@dataclass(slots=True)
class AttributeFinder:
    """Finds nouns and verbs, multi-words first, and keeps those in scope.

    Decisions are remembered per word and per part of speech: a log repeats its words.
    """

    lexicon: Lexicon
    sensitive: Flags
    scope: Scope
    stop_words: frozenset[str]
    _words: dict[tuple[str, Tag], Item] = field(default_factory=dict, repr=False)
    _phrases: dict[str, Choice | None] = field(default_factory=dict, repr=False)
    _reaches: dict[str, int] = field(default_factory=dict, repr=False)

    def items(self, tokens: Sequence[str], tags: Sequence[Tag]) -> list[Item]:
        """Cut a query into items; `tokens` are lexical keys of single words."""
        found: list[Item] = []
        place = 0
        while place < len(tokens):
            length, choice = self._longest_phrase(tokens, place)
            if length:
                found.extend(self._phrase_items(tokens[place : place + length], choice))
            else:
                length = 1
                found.append(self._word_item(tokens[place], tags[place]))
            place += length
        return found

    def _phrase_items(self, words: Sequence[str], choice: Choice) -> list[Item]:
        """One item for a phrase in scope; the single words, all plain, for one that is not."""
        if choice.concept == NO_CONCEPT:
            return [Item(word, NO_CONCEPT) for word in words]
        return [Item(" ".join(words), *choice, length=len(words))]

    def _longest_phrase(self, tokens: Sequence[str], place: int) -> tuple[int, Choice]:
        for length in range(min(self._reach(tokens[place]), len(tokens) - place), 1, -1):
            choice = self._phrase_choice(" ".join(tokens[place : place + length]))
            if choice is not None:
                return length, choice
        return 0, NOTHING

    def _reach(self, first: str) -> int:
        """The number of words of the longest multi-word that may begin with this word form."""
        reach = self._reaches.get(first)
        if reach is None:
            longest = self.lexicon.longest_by_first_word
            verb = self.lexicon.base(first, "v")
            reach = max(longest.get(first, 0), longest.get(verb, 0) if verb else 0)
            self._reaches[first] = reach
        return reach

    def _phrase_choice(self, phrase: str) -> Choice | None:
        """The concept of a multi-word, NOTHING if it is out of scope, None if it is no lemma."""
        if phrase not in self._phrases:
            self._phrases[phrase] = self._choose_phrase(phrase)
        return self._phrases[phrase]

    def _choose_phrase(self, phrase: str) -> Choice | None:
        noun = self._phrase_base(phrase, "n")
        if noun is not None:
            return self._in_scope(noun, "n")
        verb = self._phrase_base(phrase, "v")
        return None if verb is None else self._in_scope(verb, "v")

    def _phrase_base(self, phrase: str, pos: PartOfSpeech) -> str | None:
        """A noun phrase bends at its last word (*heart attacks*), a verb phrase at its first."""
        if len(self.lexicon.senses(phrase, pos)):
            return phrase
        head, _, tail = phrase.rpartition(" ") if pos == "n" else phrase.partition(" ")
        bent = self.lexicon.base(tail if pos == "n" else head, pos)
        candidate = f"{head} {bent}" if pos == "n" else f"{bent} {tail}"
        return candidate if bent and len(self.lexicon.senses(candidate, pos)) else None

    def _word_item(self, word: str, tag: Tag) -> Item:
        key = (word, tag)
        item = self._words.get(key)
        if item is None:
            item = self._words[key] = Item(word, *self._choose_word(word, tag))
        return item

    def _choose_word(self, word: str, tag: Tag) -> Choice:
        """The concept of a single word, or NOTHING if it is out of scope or no noun or verb."""
        if len(word) < 2 or word in self.stop_words or not any(map(str.isalpha, word)):
            return NOTHING
        readings = self._readings(word)
        likely = self._likeliest(word, readings, tag)
        ordered = sorted(readings, key=lambda pos: (pos != likely, pos))
        for pos in ordered:
            choice = self._in_scope(readings[pos], pos, likely=pos == likely)
            if choice.concept != NO_CONCEPT:
                return choice
        return NOTHING

    def _readings(self, word: str) -> dict[PartOfSpeech, str]:
        bases = {pos: self.lexicon.base(word, pos) for pos in PARTS}
        return {pos: base for pos, base in bases.items() if base is not None}

    def _likeliest(
        self, word: str, readings: dict[PartOfSpeech, str], tag: Tag
    ) -> PartOfSpeech | None:
        """What the tagger says; else a noun, unless WordNet's corpus speaks clearly against it.

        Queries are mostly strings of nouns, its corpus is running text.
        """
        if tag:
            return tag if tag in PARTS else None
        tags = {pos: int(self.lexicon.tags(base, pos).sum()) for pos, base in readings.items()}
        noun, verb, other = tags.get("n"), tags.get("v"), self.lexicon.other_tags(word)
        if noun is not None and CLEARLY * (noun + 1) >= max(verb or 0, other):
            return "n"
        return "v" if verb is not None and CLEARLY * (verb + 1) >= other else None

    def _in_scope(self, lemma: str, pos: PartOfSpeech, *, likely: bool = True) -> Choice:
        """The lemma's concept. In doubt a word is sensitive: a common sensitive sense wins."""
        senses = self.lexicon.senses(lemma, pos)
        for rank in self._common_ranks(lemma, pos, likely=likely):
            if self.sensitive[senses[rank]]:
                return Choice(int(senses[rank]), in_doubt=rank > 0 or not likely)
        if self.scope == "all" and likely:
            return Choice(int(senses[0]), in_doubt=False)
        return NOTHING

    def _common_ranks(self, lemma: str, pos: PartOfSpeech, *, likely: bool) -> list[int]:
        """Ranks of the senses that count: those tagged often enough, and the first.

        Of a lemma never tagged the first two count. The first sense of a noun counts even where
        the word is mostly an adjective (*gay*, *catholic*); that of an unlikely verb does not.
        """
        tags = self.lexicon.tags(lemma, pos)
        if not likely:
            return [0] if pos == "n" else []
        if not tags.any():
            return list(range(min(2, len(tags))))
        floor = max(1.0, COMMON_SHARE * float(tags[0]))
        return [0, *(rank for rank in range(1, len(tags)) if tags[rank] >= floor)]
