"""What is known about words beyond WordNet: reviewed lists, and lists of packages."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Silence:
    """Words that say what a query is about, and the topics (as a mask) its other words then miss.

    One of `keeps` in the query, and nothing is silenced: *movie times* is about a place.
    """

    cues: frozenset[str]
    topics: int
    keeps: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Terms:
    """What words stand for; all keys are lexical keys.

    Attributes:
        concepts: words and multi-words that WordNet lacks or means otherwise, with their concept.
        phrases: multi-words whose words say nothing one by one: brands, works, characters.
        harmless: words whose sensitive sense is not what queries mean by them.
        weak: words that are sensitive only beside another word of the same topic.
        weak_concepts: the same for all words of these concepts.
        support: words that are such company, with the topics they speak for.
        silences: what takes the sensitive sense away.
        persons: concepts that are one person or god by name: *aaron* in a query is anybody.
        named: concepts with a name of their own, persons or not.
        towns: words that are the name of a town if a state follows, with the state's concept.
        known: lists of words in use that WordNet lacks: none of them is a slip of the pen.
    """

    concepts: Mapping[str, int] = field(default_factory=dict, repr=False)
    phrases: AbstractSet[str] = field(default=frozenset(), repr=False)
    harmless: AbstractSet[str] = field(default=frozenset(), repr=False)
    weak: AbstractSet[str] = field(default=frozenset(), repr=False)
    weak_concepts: AbstractSet[int] = field(default=frozenset(), repr=False)
    support: Mapping[str, int] = field(default_factory=dict, repr=False)
    silences: Sequence[Silence] = field(default=(), repr=False)
    persons: AbstractSet[int] = field(default=frozenset(), repr=False)
    named: AbstractSet[int] = field(default=frozenset(), repr=False)
    towns: Mapping[str, int] = field(default_factory=dict, repr=False)
    known: Sequence[Container[str]] = field(default=(), repr=False)

    @cached_property
    def longest_by_first_word(self) -> dict[str, int]:
        """For each first word of a multi-word, the number of words of the longest."""
        longest: dict[str, int] = {}
        for key in (*self.concepts, *self.phrases):
            if " " in key:
                first, words = key.split(" ", 1)[0], key.count(" ") + 1
                longest[first] = max(longest.get(first, 0), words)
        return longest

    @cached_property
    def states(self) -> frozenset[int]:
        """The concepts of the states that towns are in."""
        return frozenset(self.towns.values())

    @cached_property
    def cues(self) -> frozenset[str]:
        """All words that silence something."""
        return frozenset(cue for silence in self.silences for cue in silence.cues)
