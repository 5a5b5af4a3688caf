"""Sensitive attributes of a query: which words stand for which concept (paper §3.1, Def. 1).

A word is read by itself first: what the reviewed terms say, else WordNet's senses, else as a slip
of the pen. Then the query as a whole decides: a weak word is sensitive only in company of its
topic, and what the query is about (a song, a dish) may take a topic away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tasks.core.choices import Scope
from tasks.core.detection.lexicon import Lexicon, PartOfSpeech
from tasks.core.detection.spelling import Slips
from tasks.core.detection.terms import Terms
from tasks.core.detection.topics import Masks
from tasks.core.taxonomy import NO_CONCEPT

Tag = Literal["n", "v", "other", ""]
"""Part of speech a trained tagger gave: noun, verb, something else, or unknown."""

COMMON_SHARE = 0.25
"""A sense tagged at least this often, relative to the first sense, is a common one."""


CLEARLY = 4
"""A verb or adjective reading tagged more than this many times as often as the noun wins."""

IDENTIFIER_CONCEPT = -2
"""Marks an item as an identifier on its way from the text pipeline to the record table.

This number and those below it, one for each kind in the order of KINDS.
"""

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
    """The concept chosen for a word; `in_doubt` if a rarer, sensitive sense was preferred.

    `weak` if it counts only beside another word of its topic.
    """

    concept: int
    in_doubt: bool
    weak: bool = False


NOTHING = Choice(NO_CONCEPT, False)


@dataclass(slots=True)
class AttributeFinder:
    """Finds nouns and verbs, multi-words first, and keeps those in scope.

    Decisions are remembered per word and per part of speech: a log repeats its words.

    Attributes:
        masks: the topics of every concept, 0 if it is not sensitive.
        terms: what is known of words beside WordNet.
    """

    lexicon: Lexicon
    masks: Masks
    scope: Scope
    stop_words: frozenset[str]
    terms: Terms
    _words: dict[tuple[str, Tag], Choice] = field(default_factory=dict, repr=False)
    _phrases: dict[str, Choice | None] = field(default_factory=dict, repr=False)
    _reaches: dict[str, int] = field(default_factory=dict, repr=False)
    _plain_items: dict[str, Item] = field(default_factory=dict, repr=False)
    _slips: Slips | None = field(default=None, repr=False)

    def items(self, tokens: Sequence[str], tags: Sequence[Tag]) -> list[Item]:
        """Cut a query into items; `tokens` are lexical keys of single words."""
        found: list[tuple[int, Choice]] = []
        place = 0
        while place < len(tokens):
            length, choice = self._longest_phrase(tokens, place)
            if not length:
                length, choice = 1, self._word_choice(tokens[place], tags[place])
            if found and choice.concept in self.terms.states:
                found[-1] = self._before_state(tokens[place - 1], *found[-1])
            found.append((length, choice))
            place += length
        if self.scope == "sensitive" and self._needs_context(found, tokens):
            found = self._in_context(found, tokens)
        return self._items(found, tokens)

    def _before_state(self, word: str, length: int, choice: Choice) -> tuple[int, Choice]:
        """What stands before a state is a town if there is one of that name: *reading pa*."""
        if choice.concept in self.terms.named:
            return length, choice._replace(weak=False)
        if length > 1 or word in self.stop_words or word not in self.terms.towns:
            return length, choice
        return length, Choice(self.terms.towns[word], in_doubt=True)

    def _needs_context(self, found: Sequence[tuple[int, Choice]], tokens: Sequence[str]) -> bool:
        sensitive = [choice.weak for _, choice in found if choice.concept != NO_CONCEPT]
        return bool(sensitive) and (any(sensitive) or not self.terms.cues.isdisjoint(tokens))

    def _in_context(
        self, found: Sequence[tuple[int, Choice]], tokens: Sequence[str]
    ) -> list[tuple[int, Choice]]:
        """The choices without the weak ones that have no company, and without silenced topics."""
        said = self._support(found, tokens)
        silenced = self._silenced(tokens)
        kept = []
        for length, choice in found:
            topics = self._topics(choice) & ~silenced
            counts = topics & said if choice.weak else topics
            kept.append((length, choice if counts else NOTHING))
        return kept

    def _support(self, found: Sequence[tuple[int, Choice]], tokens: Sequence[str]) -> int:
        """The topics for which a word of the query speaks that is not weak."""
        said = 0
        for token in tokens:
            said |= self.terms.support.get(token, 0)
        for _, choice in found:
            said |= 0 if choice.weak else self._topics(choice)
        return said

    def _silenced(self, tokens: Sequence[str]) -> int:
        topics = 0
        for silence in self.terms.silences:
            if not silence.cues.isdisjoint(tokens) and silence.keeps.isdisjoint(tokens):
                topics |= silence.topics
        return topics

    def _topics(self, choice: Choice) -> int:
        return int(self.masks[choice.concept]) if choice.concept != NO_CONCEPT else 0

    def _items(self, found: Sequence[tuple[int, Choice]], tokens: Sequence[str]) -> list[Item]:
        """One item for each choice; of a multi-word without concept one for each word."""
        items: list[Item] = []
        place = 0
        for length, choice in found:
            words = tokens[place : place + length]
            place += length
            if choice.concept == NO_CONCEPT:
                items.extend(map(self._plain, words))
            else:
                items.append(Item(" ".join(words), choice.concept, choice.in_doubt, length))
        return items

    def _plain(self, word: str) -> Item:
        item = self._plain_items.get(word)
        if item is None:
            item = self._plain_items[word] = Item(word, NO_CONCEPT)
        return item

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
            own = self.terms.longest_by_first_word.get(first, 0)
            reach = max(own, longest.get(first, 0), longest.get(verb, 0) if verb else 0)
            self._reaches[first] = reach
        return reach

    def _phrase_choice(self, phrase: str) -> Choice | None:
        """The concept of a multi-word, NOTHING if it is out of scope, None if it is no lemma."""
        if phrase not in self._phrases:
            self._phrases[phrase] = self._choose_phrase(phrase)
        return self._phrases[phrase]

    def _choose_phrase(self, phrase: str) -> Choice | None:
        term = self._term(phrase)
        if term is not None:
            return term
        if phrase in self.terms.phrases:
            return NOTHING
        for pos in PARTS:
            base = self._phrase_base(phrase, pos)
            if base is not None:
                choice = self._somebody_else(self._in_scope(base, pos))
                hides = choice.concept != NO_CONCEPT or not self._has_sensitive_part(phrase)
                return choice if hides else None
        return None

    def _has_sensitive_part(self, phrase: str) -> bool:
        """Whether a word of a harmless multi-word is clearly sensitive: *probation officer*."""
        choices = (self._word_choice(word, "") for word in phrase.split())
        return any(
            choice.concept not in self.terms.named and not choice.weak and not choice.in_doubt
            for choice in choices
            if choice.concept != NO_CONCEPT and self.masks[choice.concept]
        )

    def _phrase_base(self, phrase: str, pos: PartOfSpeech) -> str | None:
        """A noun phrase bends at its last word (*heart attacks*), a verb phrase at its first."""
        if len(self.lexicon.senses(phrase, pos)):
            return phrase
        head, _, tail = phrase.rpartition(" ") if pos == "n" else phrase.partition(" ")
        bent = self.lexicon.base(tail if pos == "n" else head, pos)
        candidate = f"{head} {bent}" if pos == "n" else f"{bent} {tail}"
        return candidate if bent and len(self.lexicon.senses(candidate, pos)) else None

    def _word_choice(self, word: str, tag: Tag) -> Choice:
        key = (word, tag)
        choice = self._words.get(key)
        if choice is None:
            choice = self._words[key] = self._choose_word(word, tag)
        return choice

    def _choose_word(self, word: str, tag: Tag) -> Choice:
        """The concept of a single word, or NOTHING if it is out of scope or no noun or verb."""
        if len(word) < 2 or word in self.stop_words or not any(map(str.isalpha, word)):
            return NOTHING
        term = self._term(word)
        if term is not None:
            return term
        readings = self._readings(word)
        if self.scope == "sensitive" and word in self.terms.harmless:
            return NOTHING
        if not readings:
            return self._unread(word)
        choice = self._somebody_else(self._choose_sense(word, tag, readings))
        return self._weakened(word, choice)

    def _somebody_else(self, choice: Choice) -> Choice:
        """A person or god that WordNet knows by name is no attribute of who asks."""
        known = choice.concept in self.terms.persons and self.scope == "sensitive"
        return NOTHING if known else choice

    def _term(self, words: str) -> Choice | None:
        """What the terms say of a word or a multi-word."""
        concept = self.terms.concepts.get(words, NO_CONCEPT)
        if concept == NO_CONCEPT or not (self.masks[concept] or self.scope == "all"):
            return None
        return Choice(concept, in_doubt=False, weak=words in self.terms.weak)

    def _weakened(self, word: str, choice: Choice) -> Choice:
        weak = word in self.terms.weak or choice.concept in self.terms.weak_concepts
        return choice._replace(weak=True) if weak else choice

    def _unread(self, word: str) -> Choice:
        """A word that is no noun or verb: adjective of a sensitive noun, or slip of the pen."""
        concept = self.lexicon.nouns_of_adjectives.get(word, NO_CONCEPT)
        if concept != NO_CONCEPT:
            known = bool(self.masks[concept])
            return self._weakened(word, Choice(concept, in_doubt=False)) if known else NOTHING
        if self.lexicon.other_tags(word) >= 0 or any(word in own for own in self.terms.known):
            return NOTHING
        meant = self._sensitive_slips().meant(word)
        if meant is None:
            return NOTHING
        return self._choose_word(meant, "")._replace(in_doubt=True)

    def _sensitive_slips(self) -> Slips:
        """An index of the sensitive single words of WordNet, made when first asked for."""
        if self._slips is None:
            self._slips = Slips(self.lexicon.words_of(self.masks > 0))
        return self._slips

    def _choose_sense(self, word: str, tag: Tag, readings: dict[PartOfSpeech, str]) -> Choice:
        """The concept of a word that WordNet knows as noun or verb."""
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
            if self.masks[senses[rank]]:
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
