"""Readings as lists of items, for tests that look at single queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from spacy.language import Language

from tasks.adapters.language import read_texts
from tasks.core.attributes import Item


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
