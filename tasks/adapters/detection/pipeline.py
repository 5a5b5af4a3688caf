"""The text pipeline: from queries to their attributes and identifiers (paper §3.1), with spaCy.

This is the only door to spaCy. No trained English pipeline on a package registry helps with queries
in lower case (docs/decisions.md), so the default is a blank pipeline with our own components: a
tokenizer for queries, the identifier recognisers, and the attribute finder with WordNet's lexicon
as tagger. If the user names a trained pipeline they have, its tags and the persons it finds are
used too, where our own evidence agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import spacy
from spacy.lang.en import English
from spacy.language import Language
from spacy.symbols import NOUN, PROPN, VERB
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, Token

from tasks.adapters.detection.identifiers import IdentifierFinder
from tasks.core.detection.attributes import AttributeFinder, Tag
from tasks.core.detection.domains import Domain
from tasks.core.detection.identifiers import KINDS, Span
from tasks.core.detection.lexicon import lexical_key
from tasks.core.detection.names import may_be_name
from tasks.core.detection.readings import IDENTIFIER_CONCEPT, Item, Offsets, Readings, pack_readings
from tasks.errors import UsageError

READING = "logveil_reading"
IDENTIFIERS = "logveil_identifiers"
DOMAINS = "logveil_domains"
PERSONS = ("PERSON", "PER")
"""What trained pipelines call people."""


# Words end at blanks and at any sign but apostrophe and dot (they fold: alzheimer's, st.).
_PREFIX = re.compile(r"^[^\w]")
_SUFFIX = re.compile(r"[^\w]$")
_INFIX = re.compile(r"(?:[^\w.'’]|_)+")
_TAGS: Mapping[int, Tag] = {0: "", NOUN: "n", PROPN: "n", VERB: "v"}


class IdentifierComponent:
    """Marks the direct identifiers of a query."""

    finder: IdentifierFinder

    def __call__(self, doc: Doc) -> Doc:
        people = [
            Span(entity.start_char, entity.end_char, "name")
            for entity in doc.ents
            if entity.label_ in PERSONS and may_be_name(entity.text, self.finder.names)
        ]
        spans, domains = self.finder.read(doc.text)
        doc.user_data[IDENTIFIERS] = [*people, *spans]
        doc.user_data[DOMAINS] = domains if not people else ()
        return doc


class AttributeComponent:
    """Cuts a query into items: words, attributes, identifiers."""

    finder: AttributeFinder

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def __call__(self, doc: Doc) -> Doc:
        items: list[Item] = []
        offsets: list[Offsets] = []
        domains = doc.user_data[DOMAINS]
        for kind, tokens in _runs(doc, doc.user_data[IDENTIFIERS], domains):
            if kind < 0:
                items.append(self._label(doc.text, domains[kind], offsets))
                continue
            keys, tags = self._words(tokens, offsets)
            if kind and keys:
                concept = IDENTIFIER_CONCEPT + 1 - kind
                items.append(Item(" ".join(keys), concept, length=len(keys)))
            else:
                items.extend(self.finder.items(keys, tags))
        doc.user_data[READING] = offsets, items
        return doc

    def _label(self, text: str, domain: Domain, offsets: list[Offsets]) -> Item:
        """A domain is one word, its label."""
        offsets.append((domain.label_start, domain.label_end))
        return self.finder.site(_word_key(text[domain.label_start : domain.label_end]))

    def _words(
        self, tokens: Iterable[Token], offsets: list[Offsets]
    ) -> tuple[list[str], list[Tag]]:
        """Keys and tags of the tokens that are words; where each stands is added to `offsets`."""
        keys: list[str] = []
        tags: list[Tag] = []
        for token in tokens:
            text = token.text
            key = self._keys.get(text)
            if key is None:
                key = self._keys[text] = _word_key(text)
            if key:
                start = token.idx
                keys.append(key)
                offsets.append((start, start + len(text)))
                tags.append(_TAGS.get(token.pos, "other"))
        return keys, tags


def _word_key(token: str) -> str:
    """The lexical key of a token, or nothing if it is signs only."""
    key = lexical_key(token)
    return key if any(map(str.isalnum, key)) else ""


def _runs(
    doc: Doc, spans: Sequence[Span], domains: Sequence[Domain]
) -> Iterable[tuple[int, Iterable[Token]]]:
    """Runs of tokens of an identifier of one kind (from 1 on), of a domain (below 0), or of none.

    A domain is numbered from the end, as lists are.
    """
    if not spans and not domains:
        return [(0, doc)]
    kinds = [0] * len(doc.text)
    for number, domain in enumerate(domains):
        length = domain.span.end - domain.span.start
        kinds[domain.span.start : domain.span.end] = [number - len(domains)] * length
    for span in spans:
        kinds[span.start : span.end] = [1 + KINDS.index(span.kind)] * (span.end - span.start)
    return groupby(doc, lambda token: max(kinds[token.idx : token.idx + len(token)], key=abs))


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
    nlp = _blank() if model is None else _trained(model)
    nlp.max_length = 10_000_000
    component: Any = nlp.add_pipe("logveil_identifiers")
    component.finder = identifiers
    component = nlp.add_pipe("logveil_attributes")
    component.finder = attributes
    return nlp


def _query_tokenizer(nlp: Language) -> Tokenizer:
    return Tokenizer(
        nlp.vocab,
        prefix_search=_PREFIX.search,
        suffix_search=_SUFFIX.search,
        infix_finditer=_INFIX.finditer,
    )


def _blank() -> Language:
    # Not spacy.blank: to make the tokenizer that ours replaces takes a third of a second.
    nlp = English(create_tokenizer=_query_tokenizer)
    # Shape, prefix, likeness to a number and the like: nobody asks, and to find them takes longer
    # than to cut a query into tokens.
    nlp.vocab.lex_attr_getters = {}
    return nlp


def _trained(model: str) -> Language:
    try:
        nlp = spacy.load(model)
    except OSError:
        raise UsageError(
            f"spaCy pipeline {model!r} is not installed: install it, or leave out --spacy-model"
        ) from None
    nlp.tokenizer = _query_tokenizer(nlp)
    return nlp


def read_texts(nlp: Language, texts: Sequence[str]) -> Readings:
    """What each text says, in order."""
    return pack_readings(doc.user_data[READING] for doc in nlp.pipe(texts))
