"""Words to concepts: WordNet's lemmas, their senses, and its own morphology (paper §3.1).

Hyphen, space and underscore are one: *ill-health*, *ill health* and ``ill_health`` share a key.
Apostrophes and dots do not count: people type *alzheimers* and *st louis*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from tasks.core.records import Flags, Ints, Longs, Strings, freeze

PartOfSpeech = Literal["n", "v"]

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
    """The form under which a lemma is kept: no case, hyphens, underscores, apostrophes, dots."""
    return " ".join(lemma.lower().translate(_FOLDED).split())


@dataclass(frozen=True, slots=True, eq=False)
class LexiconTable:
    """The lexicon as arrays, for the disk.

    Attributes:
        keys: lexical keys of all lemmas, ascending, shape (n,).
        sense_offsets, senses, counts: for each key its noun senses, then its verb senses, in
            WordNet's order, with how often each was tagged in WordNet's corpus.
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
        return {key: place for place, key in enumerate(self.table.keys.tolist())}

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
        """For each first word of a multi-word lemma, the number of words of the longest."""
        longest: dict[str, int] = {}
        for key in self.table.keys.tolist():
            if " " in key:
                first, words = key.split(" ", 1)[0], key.count(" ") + 1
                longest[first] = max(longest.get(first, 0), words)
        return longest

    def words_of(self, concepts: Flags) -> list[str]:
        """The single words whose first sense, as noun or else as verb, is one of the concepts."""
        table = self.table
        first = np.minimum(table.sense_offsets[:-1], max(0, len(table.senses) - 1))
        chosen = concepts[table.senses[first]] & (np.diff(table.sense_offsets) > 0)
        return [key for key in table.keys[chosen].tolist() if " " not in key]

    def senses(self, key: str, pos: PartOfSpeech) -> Ints:
        """Concepts of a lemma as noun or verb, most common first; empty if it has none."""
        place = self.index.get(key)
        return self.table.senses[self._span(place, pos)] if place is not None else _NONE

    def tags(self, key: str, pos: PartOfSpeech) -> Ints:
        """How often each of `senses` was tagged in WordNet's corpus."""
        place = self.index.get(key)
        return self.table.counts[self._span(place, pos)] if place is not None else _NONE

    def other_tags(self, key: str) -> int:
        """Tags of the lemma's adjective and adverb senses; -1 if it has no such sense."""
        place = self.index.get(key)
        return int(self.table.other_tags[place]) if place is not None else -1

    def base(self, form: str, pos: PartOfSpeech) -> str | None:
        """The lemma of a word form as WordNet's morphy finds it, or None; remembered."""
        asked = (form, pos)
        if asked not in self._bases:
            candidates = self._candidates(form, pos)
            found = (key for key in candidates if len(self.senses(key, pos)))
            self._bases[asked] = next(found, None)
        return self._bases[asked]

    def _candidates(self, form: str, pos: PartOfSpeech) -> Sequence[str]:
        exception = self.exceptions.get(f"{pos}:{form}")
        if exception is not None:
            return (form, *exception.split(","))
        rules = SUFFIXES[pos]
        return (form, *(form[: -len(old)] + new for old, new in rules if form.endswith(old)))

    def _span(self, place: int, pos: PartOfSpeech) -> slice:
        start, end = self.table.sense_offsets[place], self.table.sense_offsets[place + 1]
        nouns = start + self.table.noun_counts[place]
        return slice(start, nouns) if pos == "n" else slice(nouns, end)


_NONE: Ints = np.zeros(0, dtype=np.int32)
