"""Sensitive attributes of a query: which words stand for which concept (paper §3.1, Definition 1).

The sense of a word is chosen by itself first: what the reviewed terms say, else WordNet's senses,
else those of the word it is a misspelling of. Then the query as a whole decides: a weak word is
sensitive only in company of its topic, and what the query is about (a song, a dish) may take a
topic away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Literal

from tasks.core.choices import Scope
from tasks.core.detection.ages import find_ages
from tasks.core.detection.doubts import Doubts, Reading
from tasks.core.detection.lexicon import (
    PARTS_OF_SPEECH,
    Lexicon,
    PartOfSpeech,
    Sense,
    SpellingCorrector,
    Terms,
)
from tasks.core.detection.readings import Item
from tasks.core.detection.topics import Masks
from tasks.core.taxonomy import NO_CONCEPT

Tag = Literal["n", "v", "other", ""]
"""Part of speech a trained tagger gave: noun, verb, something else, or unknown."""

COMMON_SHARE = 0.25
"""A sense tagged at least this often, relative to the first sense, is a common one."""

CLEARLY = 4
"""A verb or an adjective tagged more than this many times as often as the noun wins."""


SHORTEST = 2
"""Letters of a word that counts only beside another of its topic."""

BEFORE_ORIGIN = frozenset(
    {"a", "about", "am", "an", "are", "being", "between", "half", "im", "of", "part", "the", "were"}
)
"""What stands before an origin that is somebody's, and not before a language or a dish."""

INTIMATE_PARTS = (
    *("sexual", "porn", "xxx", "fuck", "nude", "milf", "pussy", "lesbian", "hentai", "shemale"),
    *("naked", "tits", "boobs", "erotic", "sex", "gay", "cock", "slut"),
)
SHORT_PART = 3
"""Words that names of sites are made of; short ones only beside a word that is known."""


MEDICAL_ENDING = re.compile(
    r"[a-z]{3}(?:itis|osis|oses|iasis|a?emia|uria|pathy|pathies|virus|omas?|plegia|trophy|plasia|"
    r"algia|rrhea|rrhagia|penia|ectomy|ostomy|otomy|plasty|megaly|malacia|paresis)$"
)
"""How most of the 2,500 words of ICD-10-CM end that WordNet and everyday lists lack."""


NO_SENSE = Sense(NO_CONCEPT, False)


@dataclass(slots=True)
class AttributeFinder:
    """Finds nouns and verbs, multiword expressions first, and takes those in scope.

    In scope `all` that is all whose reading is not doubtful.

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
    _words: dict[tuple[str, Tag], Sense] = field(default_factory=dict, repr=False)
    _phrases: dict[str, Sense | None] = field(default_factory=dict, repr=False)
    _reaches: dict[str, int] = field(default_factory=dict, repr=False)
    _plain_items: dict[str, Item] = field(default_factory=dict, repr=False)
    _corrector: SpellingCorrector | None = field(default=None, repr=False)
    _doubts: Doubts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._doubts = Doubts(self.lexicon, self.terms, self.stop_words)

    def items(self, tokens: Sequence[str], tags: Sequence[Tag]) -> list[Item]:
        """Cut a query into items; `tokens` are lexical keys of single words."""
        found: list[tuple[int, Sense]] = []
        position = 0
        ages = find_ages(tokens)
        while position < len(tokens):
            length, sense = self._longest_phrase(tokens, position)
            if position in ages and self._is_in_scope(self.terms.age):
                length, sense = ages[position], Sense(self.terms.age, in_doubt=False)
            elif not length:
                length, sense = 1, self._word_sense(tokens[position], tags[position])
            if found:
                town = " ".join(tokens[position - found[-1][0] : position])
                sense = self._after_town(tokens, position, town, found[-1][1]) or sense
                if sense.concept in self.terms.states:
                    found[-1] = self._before_state(town, *found[-1], sense.concept)
            found.append((length, sense))
            position += length
        if self.scope == "sensitive" and self._needs_context(found, tokens):
            found = self._in_context(found, tokens)
        return self._items(found, tokens)

    def _is_in_scope(self, concept: int) -> bool:
        known = concept != NO_CONCEPT
        return known and (self.scope == "all" or bool(self.masks[concept]))

    def _after_town(
        self, tokens: Sequence[str], position: int, town: str, before: Sense
    ) -> Sense | None:
        """The state that two letters mean after a town; words such as *in* only at the end."""
        word = tokens[position]
        state = self.terms.state_codes.get(word)
        if state is None or not self._is_in_scope(state):
            return None
        if word in self.stop_words and position + 1 < len(tokens):
            return None
        is_town = town in self.terms.towns and town not in self.stop_words
        is_place = is_town or before.concept in self.terms.places_and_days
        return Sense(state, in_doubt=False) if is_place else None

    def _before_state(self, word: str, length: int, sense: Sense, state: int) -> tuple[int, Sense]:
        """What stands before a state is a town if there is one of that name: *reading pa*.

        Where nothing doubtful may be said, it is known to lie in that state, and no more.
        """
        if self.scope == "all" and word in self.terms.towns and length == 1:
            return length, sense if word in self.stop_words else Sense(state, in_doubt=False)
        if sense.concept in self.terms.named:
            return length, sense._replace(weak=False)
        if word in self.stop_words or word not in self.terms.towns:
            return length, sense
        return length, Sense(state, in_doubt=True)

    def _needs_context(self, found: Sequence[tuple[int, Sense]], tokens: Sequence[str]) -> bool:
        sensitive = [sense.weak for _, sense in found if sense.concept != NO_CONCEPT]
        return bool(sensitive) and (any(sensitive) or not self.terms.cues.isdisjoint(tokens))

    def _in_context(
        self, found: Sequence[tuple[int, Sense]], tokens: Sequence[str]
    ) -> list[tuple[int, Sense]]:
        """The senses without the weak ones that have no company, and without silenced topics."""
        says = self._says(found, tokens)
        silenced = self._silenced(tokens)
        chosen = []
        position = 0
        for place, (length, sense) in enumerate(found):
            topics = self._topics(sense) & ~silenced
            of_people = topics & self.terms.of_people
            alone = sense.weak and not (
                of_people and self._is_somebody(tokens, position, position + length)
            )
            # No word is company for itself.
            counts = topics & self._said(says[:place] + says[place + 1 :]) if alone else topics
            chosen.append((length, sense if counts else NO_SENSE))
            position += length
        return chosen

    def _is_somebody(self, tokens: Sequence[str], start: int, end: int) -> bool:
        """Whether an origin is somebody's: *i am german*, *german politicians*."""
        before = tokens[start - 1] if start else ""
        after = tokens[end] if end < len(tokens) else ""
        if before in BEFORE_ORIGIN and (not after or after in self.stop_words):
            return True
        noun = self.lexicon.base(after, "n") or ""
        return any(
            int(sense) in self.terms.kinds_of_person for sense in self.lexicon.senses(noun, "n")[:1]
        )

    def _says(self, found: Sequence[tuple[int, Sense]], tokens: Sequence[str]) -> list[int]:
        """Of each part of the query the topics for which it speaks."""
        says = []
        position = 0
        for length, sense in found:
            said = 0 if sense.weak else self._topics(sense)
            for token in tokens[position : position + length]:
                said |= self.terms.support.get(token, 0)
            says.append(said)
            position += length
        return says

    def _said(self, says: Iterable[int]) -> int:
        said = reduce(or_, says, 0)
        return said | self.terms.of_people if said & self.terms.people else said

    def _silenced(self, tokens: Sequence[str]) -> int:
        topics = 0
        for silence in self.terms.silences:
            if not silence.cues.isdisjoint(tokens) and silence.unless.isdisjoint(tokens):
                topics |= silence.topics
        return topics

    def _topics(self, sense: Sense) -> int:
        return int(self.masks[sense.concept]) if sense.concept != NO_CONCEPT else 0

    def _items(self, found: Sequence[tuple[int, Sense]], tokens: Sequence[str]) -> list[Item]:
        """One item for each sense; of an expression without concept one for each word."""
        items: list[Item] = []
        position = 0
        for length, sense in found:
            words = tokens[position : position + length]
            position += length
            if sense.concept == NO_CONCEPT:
                items.extend(map(self._plain, words))
            else:
                items.append(Item(" ".join(words), sense.concept, sense.in_doubt, length))
        return items

    def _plain(self, word: str) -> Item:
        item = self._plain_items.get(word)
        if item is None:
            item = self._plain_items[word] = Item(word, NO_CONCEPT)
        return item

    def _longest_phrase(self, tokens: Sequence[str], position: int) -> tuple[int, Sense]:
        for length in range(min(self._reach(tokens[position]), len(tokens) - position), 1, -1):
            sense = self._phrase_sense(" ".join(tokens[position : position + length]))
            if sense is not None:
                return length, sense
        return 0, NO_SENSE

    def _reach(self, first: str) -> int:
        """The number of words of the longest expression that may begin with this word form."""
        reach = self._reaches.get(first)
        if reach is None:
            longest = self.lexicon.longest_by_first_word
            verb = self.lexicon.base(first, "v")
            own = self.terms.longest_by_first_word.get(first, 0)
            reach = max(own, longest.get(first, 0), longest.get(verb, 0) if verb else 0)
            self._reaches[first] = reach
        return reach

    def _phrase_sense(self, phrase: str) -> Sense | None:
        """The sense of an expression, NO_SENSE if it is out of scope, None if it is no lemma."""
        if phrase not in self._phrases:
            self._phrases[phrase] = self._choose_phrase(phrase)
        return self._phrases[phrase]

    def _choose_phrase(self, phrase: str) -> Sense | None:
        term = self._term(phrase)
        if term is not None:
            return term
        if phrase in self.terms.phrases:
            return NO_SENSE
        for pos in PARTS_OF_SPEECH:
            base = self._phrase_base(phrase, pos)
            if base is not None and not self._is_accidental(phrase, pos):
                sense = self._somebody_else(self._sense_in_scope(phrase, base, pos))
                hides = sense.concept != NO_CONCEPT or not self._has_sensitive_part(phrase)
                return sense if hides else None
        return None

    def _is_accidental(self, phrase: str, pos: PartOfSpeech) -> bool:
        # Where in doubt a word is sensitive, a verb counts, but not *done in* a year.
        if self.scope == "sensitive":
            return self.stop_words.issuperset(phrase.split())
        return self._doubts.is_accidental(phrase, pos)

    def _has_sensitive_part(self, phrase: str) -> bool:
        """Whether a word of a harmless expression is clearly sensitive: *probation officer*."""
        senses = (self._word_sense(word, "") for word in phrase.split())
        return any(
            sense.concept not in self.terms.named and not sense.weak and not sense.in_doubt
            for sense in senses
            if sense.concept != NO_CONCEPT and self.masks[sense.concept]
        )

    def _phrase_base(self, phrase: str, pos: PartOfSpeech) -> str | None:
        """A noun phrase bends at its last word (*heart attacks*), a verb phrase at its first."""
        if len(self.lexicon.senses(phrase, pos)):
            return phrase
        head, _, tail = phrase.rpartition(" ") if pos == "n" else phrase.partition(" ")
        # A plural may be a lemma, too: *marks*.
        bases = self.lexicon.bases(tail if pos == "n" else head, pos)
        candidates = (f"{head} {bent}" if pos == "n" else f"{bent} {tail}" for bent in bases)
        return next((own for own in candidates if len(self.lexicon.senses(own, pos))), None)

    def _word_sense(self, word: str, tag: Tag) -> Sense:
        key = (word, tag)
        sense = self._words.get(key)
        if sense is None:
            sense = self._words[key] = self._choose_word(word, tag)
        return sense

    def _choose_word(self, word: str, tag: Tag) -> Sense:
        """The sense of a single word, or NO_SENSE if it is out of scope or no noun or verb."""
        if len(word) < 2 or word in self.stop_words or not any(map(str.isalpha, word)):
            return NO_SENSE
        term = self._term(word)
        if term is not None:
            return term
        origin = self.terms.origins.get(word) if self.scope == "sensitive" else None
        if origin is not None and self._is_in_scope(origin.concept):
            return origin
        lemmas = self._lemmas(word)
        if self.scope == "sensitive" and word in self.terms.harmless:
            return NO_SENSE
        if not lemmas:
            return self._choose_unlisted(word)
        sense = self._somebody_else(self._choose_sense(word, tag, lemmas))
        return self._weakened(word, sense)

    def _somebody_else(self, sense: Sense) -> Sense:
        """A person or god that WordNet knows by name is no attribute of who asks."""
        known = sense.concept in self.terms.persons and self.scope == "sensitive"
        return NO_SENSE if known else sense

    def _term(self, words: str) -> Sense | None:
        """What the terms say of a word or a multiword expression."""
        concept = self.terms.concepts.get(words, NO_CONCEPT)
        if concept == NO_CONCEPT or not (self.masks[concept] or self.scope == "all"):
            return None
        weak = words in self.terms.weak
        return NO_SENSE if weak and self.scope == "all" else Sense(concept, False, weak)

    def _weakened(self, word: str, sense: Sense) -> Sense:
        """Two letters are an abbreviation of much else; people in the plural are people."""
        weak = word in self.terms.weak or len(word) <= SHORTEST
        if not weak and sense.concept in self.terms.weak_concepts:
            several = self.lexicon.base(word, "n") != word
            weak = not (several and int(self.masks[sense.concept]) & self.terms.of_people)
        return sense._replace(weak=True) if weak else sense

    def site(self, label: str) -> Item:
        """The label of a domain: a word, unless the site is one about sex life."""
        sense = self._word_sense(label, "")
        told = self._topics(sense) & self.terms.intimate
        return Item(label, sense.concept) if told else self._plain(label)

    def _intimate_part(self, word: str) -> Sense:
        """The sense of a word for sex life with which an unknown one begins or ends: *gaychat*."""
        for part in INTIMATE_PARTS:
            rest = word.removeprefix(part) if word.startswith(part) else word.removesuffix(part)
            is_word = len(rest) > 2 and bool(self._lemmas(rest) or self.lexicon.index.get(rest))
            if rest != word and (is_word or len(part) > SHORT_PART):
                return self._choose_word(part, "")
        return NO_SENSE

    def _choose_unlisted(self, word: str) -> Sense:
        """A word that is no noun or verb: adjective of a sensitive noun, compound, misspelling."""
        concept = self.lexicon.nouns_of_adjectives.get(word, NO_CONCEPT)
        if concept != NO_CONCEPT:
            # *Pulmonary* says no more of somebody than *lung* does.
            told = self.masks[concept] and concept not in self.terms.weak_concepts
            return self._weakened(word, Sense(concept, in_doubt=False)) if told else NO_SENSE
        if self.lexicon.other_tags(word) >= 0 or any(word in own for own in self.terms.known):
            return NO_SENSE
        intimate = self._intimate_part(word)
        if intimate.concept != NO_CONCEPT:
            return intimate
        meant = self._sensitive_words().correction(word)
        if meant is None:
            told = self.scope == "sensitive" and self._is_in_scope(self.terms.disease)
            is_disease = told and MEDICAL_ENDING.search(word)
            return Sense(self.terms.disease, in_doubt=True) if is_disease else NO_SENSE
        sense = self._choose_word(meant, "")
        return sense if sense.concept == NO_CONCEPT else sense._replace(in_doubt=True)

    def _sensitive_words(self) -> SpellingCorrector:
        """An index of the sensitive single words of WordNet, made when first asked for."""
        if self._corrector is None:
            self._corrector = SpellingCorrector(self.lexicon.words_of(self.masks > 0))
        return self._corrector

    def _choose_sense(self, word: str, tag: Tag, lemmas: dict[PartOfSpeech, str]) -> Sense:
        """The sense of a word that WordNet knows as noun or verb."""
        likely = self._likeliest_part_of_speech(word, lemmas, tag)
        ordered = sorted(lemmas, key=lambda pos: (pos != likely, pos))
        for pos in ordered:
            sense = self._sense_in_scope(word, lemmas[pos], pos, likely=pos == likely)
            if sense.concept != NO_CONCEPT:
                return sense
        return NO_SENSE

    def _lemmas(self, word: str) -> dict[PartOfSpeech, str]:
        bases = {pos: self.lexicon.base(word, pos) for pos in PARTS_OF_SPEECH}
        return {pos: base for pos, base in bases.items() if base is not None}

    def _likeliest_part_of_speech(
        self, word: str, lemmas: dict[PartOfSpeech, str], tag: Tag
    ) -> PartOfSpeech | None:
        """What the tagger says; else a noun, unless WordNet's corpus speaks clearly against it.

        Queries are mostly strings of nouns, its corpus is running text.
        """
        if tag:
            return tag if tag in PARTS_OF_SPEECH else None
        tags = {pos: int(self.lexicon.tags(base, pos).sum()) for pos, base in lemmas.items()}
        noun, verb, other = tags.get("n"), tags.get("v"), self.lexicon.other_tags(word)
        if noun is not None and CLEARLY * (noun + 1) >= max(verb or 0, other):
            return "n"
        return "v" if verb is not None and CLEARLY * (verb + 1) >= other else None

    def _sense_in_scope(
        self, word: str, lemma: str, pos: PartOfSpeech, *, likely: bool = True
    ) -> Sense:
        """The sense of a word by its lemma; in scope `all` only what is beyond doubt."""
        if self.scope == "sensitive":
            return self._sensitive_sense(lemma, pos, likely=likely)
        rank = self._sensitive_rank(lemma, pos, likely=likely) or 0
        concept = int(self.lexicon.senses(lemma, pos)[rank])
        certain = likely and not self._doubts.is_doubtful(Reading(word, lemma, pos, rank, concept))
        return Sense(concept, in_doubt=False) if certain else NO_SENSE

    def _sensitive_sense(self, lemma: str, pos: PartOfSpeech, *, likely: bool) -> Sense:
        """In doubt a word is sensitive: a common sensitive sense wins."""
        rank = self._sensitive_rank(lemma, pos, likely=likely)
        if rank is None:
            return NO_SENSE
        concept = int(self.lexicon.senses(lemma, pos)[rank])
        return Sense(concept, in_doubt=rank > 0 or not likely)

    def _sensitive_rank(self, lemma: str, pos: PartOfSpeech, *, likely: bool) -> int | None:
        """The first of the lemma's common senses that is sensitive."""
        senses = self.lexicon.senses(lemma, pos)
        ranks = self._common_ranks(lemma, pos, likely=likely)
        return next((rank for rank in ranks if self.masks[senses[rank]]), None)

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
