"""The text pipeline: queries to items, with spaCy (the only door to spaCy).

No trained English model can be taken from a package registry, so the default is a blank pipeline
with our own components: a tokenizer for queries, the identifier recognisers, and the attribute
finder with WordNet's lexicon as tagger. If the user names a trained pipeline they have, its
tags and the persons it finds are used too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import spacy
from spacy.lang.en.stop_words import STOP_WORDS
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from tasks.adapters.identifiers import IdentifierFinder
from tasks.core.analysis import IDENTIFIER_CONCEPT
from tasks.core.attributes import AttributeFinder, Item, Tag
from tasks.core.errors import UsageError
from tasks.core.lexicon import lexical_key
from tasks.core.readings import Readings, Spans, pack_readings
from tasks.progress import Progress

READING = "logveil_reading"
IDENTIFIERS = "logveil_identifiers"
BATCH = 2000
STOPS = frozenset(STOP_WORDS) | frozenset(map(lexical_key, STOP_WORDS))

# Words end at blanks and at any sign but apostrophe and dot (they fold: alzheimer's, st.).
_PREFIX = re.compile(r"^[^\w]")
_SUFFIX = re.compile(r"[^\w]$")
_INFIX = re.compile(r"(?:[^\w.'’]|_)+")


class IdentifierComponent:
    """Marks the direct identifiers of a query."""

    finder: IdentifierFinder

    def __call__(self, doc: Doc) -> Doc:
        spans = [(span.start, span.end) for span in self.finder.find(doc.text)]
        people = [(e.start_char, e.end_char) for e in doc.ents if e.label_ == "PERSON"]
        doc.user_data[IDENTIFIERS] = sorted({*spans, *people})
        return doc


class AttributeComponent:
    """Cuts a query into items: words, attributes, identifiers."""

    finder: AttributeFinder

    def __call__(self, doc: Doc) -> Doc:
        items: list[Item] = []
        places: list[tuple[int, int]] = []
        for hidden, tokens, tags in _runs(doc, places):
            if hidden:
                items.append(Item(" ".join(tokens), IDENTIFIER_CONCEPT, length=len(tokens)))
            else:
                items.extend(self.finder.items(tokens, tags))
        doc.user_data[READING] = places, items
        return doc


def _runs(doc: Doc, places: list[tuple[int, int]]) -> Iterator[tuple[bool, list[str], list[Tag]]]:
    """Stretches of tokens that are, or are not, part of an identifier.

    Where each token stands in the text is added to `places`.
    """
    spans: Sequence[tuple[int, int]] = doc.user_data[IDENTIFIERS]
    tokens: list[str] = []
    tags: list[Tag] = []
    state = False
    for token in doc:
        end = token.idx + len(token)
        hidden = any(start < end and token.idx < stop for start, stop in spans)
        if hidden != state and tokens:
            yield state, tokens, tags
            tokens, tags = [], []
        state = hidden
        key = lexical_key(token.text)
        if any(map(str.isalnum, key)):
            tokens.append(key)
            places.append((token.idx, end))
            tags.append(_tag(token.pos_))
    if tokens:
        yield state, tokens, tags


def _tag(part_of_speech: str) -> Tag:
    if not part_of_speech:
        return ""
    if part_of_speech in ("NOUN", "PROPN"):
        return "n"
    return "v" if part_of_speech == "VERB" else "other"


@Language.factory("logveil_identifiers")
def _identifier_component(nlp: Language, name: str) -> IdentifierComponent:
    return IdentifierComponent()


@Language.factory("logveil_attributes")
def _attribute_component(nlp: Language, name: str) -> AttributeComponent:
    return AttributeComponent()


def build_pipeline(
    identifiers: IdentifierFinder, attributes: AttributeFinder, model: str | None = None
) -> Language:
    """A blank English pipeline, or the trained one named, with our components at its end."""
    nlp = spacy.blank("en") if model is None else _trained(model)
    nlp.tokenizer = Tokenizer(
        nlp.vocab,
        prefix_search=_PREFIX.search,
        suffix_search=_SUFFIX.search,
        infix_finditer=_INFIX.finditer,
    )
    nlp.max_length = 10_000_000
    component: Any = nlp.add_pipe("logveil_identifiers")
    component.finder = identifiers
    component = nlp.add_pipe("logveil_attributes")
    component.finder = attributes
    return nlp


def _trained(model: str) -> Language:
    try:
        return spacy.load(model)
    except OSError:
        raise UsageError(
            f"spaCy pipeline {model!r} is not installed: install it, or leave out --spacy-model"
        ) from None


def read_texts(nlp: Language, texts: Sequence[str], progress: Progress) -> Readings:
    """What each text says, in order."""
    return pack_readings(_with_progress(nlp, texts, progress))


def _with_progress(
    nlp: Language, texts: Sequence[str], progress: Progress
) -> Iterator[tuple[Spans, Sequence[Item]]]:
    for done, doc in enumerate(nlp.pipe(texts, batch_size=BATCH), 1):
        if done % BATCH == 0 or done == len(texts):
            progress(done, len(texts))
        yield doc.user_data[READING]
