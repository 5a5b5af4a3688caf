"""What words are called: every concept that the words of a query may stand for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tasks.adapters.detection.name_lists import load_name_lists
from tasks.adapters.detection.terms import load_terms
from tasks.adapters.public_data import stop_words
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.detection.ages import find_ages
from tasks.core.detection.lexicon import PARTS_OF_SPEECH, Lexicon, Terms
from tasks.core.verification.public import Names


def load_names(store: Path) -> Names:
    """By WordNet and by the reviewed lists; these are compiled in the store."""
    known = wordnet(str(store))
    terms = load_terms(known, topic_map(str(store), None), load_name_lists(store), store)
    lexicon, fillers = known.lexicon, stop_words()

    @cache
    def concepts_of(phrase: str) -> frozenset[int]:
        return frozenset(_concepts_of(phrase, lexicon, terms))

    def concepts(query: str) -> frozenset[int]:
        return frozenset().union(*map(concepts_of, _phrases(query)))

    def is_known(word: str) -> bool:
        return word in fillers or word in lexicon.index or bool(concepts_of(word))

    return Names(concepts, lambda query: not all(map(is_known, query.split(" "))))


def _phrases(query: str) -> Iterator[str]:
    words = query.split(" ")
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield " ".join(words[start:end])


def _concepts_of(phrase: str, lexicon: Lexicon, terms: Terms) -> Iterator[int]:
    for pos in PARTS_OF_SPEECH:
        for lemma in lexicon.bases(phrase, pos):
            yield from lexicon.senses(lemma, pos).tolist()
    for known in (lexicon.nouns_of_adjectives, terms.concepts, terms.state_codes):
        if phrase in known:
            yield known[phrase]
    if phrase in terms.origins:
        yield terms.origins[phrase].concept
    if find_ages(phrase.split(" ")):
        yield terms.age
