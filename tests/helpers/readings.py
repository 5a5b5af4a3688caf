"""Readings as lists of items, and the finder of a run, for tests that look at single queries."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from spacy.language import Language

from tasks.adapters.detection.name_lists import load_name_lists
from tasks.adapters.detection.pipeline import read_texts
from tasks.adapters.detection.terms import load_terms
from tasks.adapters.public_data import stop_words
from tasks.adapters.wordnet import WordNet
from tasks.core.choices import Scope
from tasks.core.detection.attributes import AttributeFinder
from tasks.core.detection.readings import Item
from tasks.core.detection.topics import TopicMap

STORE = Path(tempfile.gettempdir()) / "logveil-test-store"


def attribute_finder(wordnet: WordNet, topics: TopicMap, scope: Scope) -> AttributeFinder:
    """The finder that a run would use."""
    terms = load_terms(wordnet, topics, load_name_lists(STORE), STORE)
    return AttributeFinder(wordnet.lexicon, topics.masks, scope, stop_words(), terms)


def read_items(nlp: Language, texts: Sequence[str]) -> list[list[Item]]:
    """The items of each text, with their words."""
    readings = read_texts(nlp, texts)
    items = [
        Item(words, concept, in_doubt, length)
        for words, concept, in_doubt, length in zip(
            readings.words(texts),
            readings.concepts.tolist(),
            readings.in_doubt.tolist(),
            readings.lengths.tolist(),
            strict=True,
        )
    ]
    return [items[start:end] for start, end in pairwise(readings.item_offsets.tolist())]
