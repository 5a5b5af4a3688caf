"""What is measured: this program; presidio's analyser and WordNet's first sense by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, get_args
from unittest import mock

import numpy as np

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.pipeline import read_texts
from tasks.adapters.detection.text_reader import TextReader, text_pipeline
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.choices import Scope
from tasks.core.detection.lexicon import PartOfSpeech, lexical_key
from tests.detection.scores import Finding

System = Callable[[str], list[Finding]]
SCOPE: Final[Scope] = "sensitive"

PRESIDIO_KINDS: Final = {
    **{"EMAIL_ADDRESS": "email", "PHONE_NUMBER": "phone", "US_SSN": "ssn", "CREDIT_CARD": "card"},
    **{"IBAN_CODE": "iban", "IP_ADDRESS": "ip", "URL": "url", "DATE_TIME": "date_of_birth"},
    **{"PERSON": "name", "LOCATION": "place", "MEDICAL_LICENSE": "account"},
}
"""Presidio's entities as our kinds; any other it finds is some number of an account."""


def ours(store: Path) -> System:
    """The shipped detection, as a run uses it."""
    pipeline = text_pipeline(TextReader(str(store), None, SCOPE, None))
    topics = topic_map(str(store), None)
    identifiers = load_identifier_finder(store)

    def find(text: str) -> list[Finding]:
        codes = [Finding(span.start, span.end, span.kind) for span in identifiers.find(text)]
        (readings,) = (read_texts(pipeline, [text]),)
        ends = np.cumsum(readings.lengths)
        firsts, lasts = ends - readings.lengths, ends - 1
        mentions = np.flatnonzero(readings.concepts >= 0)
        kinds = topics.first_topics(readings.concepts[mentions]).tolist()
        return codes + [
            Finding(
                int(readings.starts[firsts[at]]), int(readings.ends[lasts[at]]), topics.names[kind]
            )
            for at, kind in zip(mentions.tolist(), kinds, strict=True)
        ]

    return find


def presidio(store: Path) -> System:
    """Presidio's analyser with all its English recognisers, without a trained model."""
    analyser = _presidio_analyser()

    def find(text: str) -> list[Finding]:
        results = analyser.analyze(text, "en")
        return [
            Finding(r.start, r.end, PRESIDIO_KINDS.get(r.entity_type, "account")) for r in results
        ]

    return find


@lru_cache(maxsize=1)
def _presidio_analyser() -> Any:
    import spacy
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    engine = SpacyNlpEngine()
    engine.nlp = {"en": spacy.blank("en")}
    # Left alone it would download a list of host names' endings.
    offline = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    mock.patch.object(tldextract, "extract", offline).start()
    return AnalyzerEngine(nlp_engine=engine)


def first_sense(store: Path) -> System:
    """Longest match in WordNet, first noun sense, else first verb sense; the shipped topics."""
    lexicon, topics = wordnet(str(store)).lexicon, topic_map(str(store), None)

    def concept(phrase: str) -> int:
        bases = ((lexicon.base(phrase, pos), pos) for pos in get_args(PartOfSpeech))
        return next((int(lexicon.senses(base, pos)[0]) for base, pos in bases if base), -1)

    def find(text: str) -> list[Finding]:
        words = list(_words(text))
        found, place = [], 0
        while place < len(words):
            length = next(
                n
                for n in range(min(5, len(words) - place), 0, -1)
                if n == 1 or concept(" ".join(key for key, _, _ in words[place : place + n])) >= 0
            )
            own = concept(" ".join(key for key, _, _ in words[place : place + length]))
            topic = int(topics.first_topics(np.array([max(own, 0)], np.int32))[0])
            if own >= 0 and topic >= 0:
                found.append(
                    Finding(words[place][1], words[place + length - 1][2], topics.names[topic])
                )
            place += length
        return found

    return find


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    start = 0
    for word in text.split(" "):
        key = lexical_key(word)
        if key:
            yield key, start, start + len(word)
        start += len(word) + 1


SYSTEMS: Final = {"ours": ours, "presidio alone": presidio, "first sense alone": first_sense}
