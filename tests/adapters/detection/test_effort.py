"""Detection takes linear effort in the query's length, whatever the query: counted, not timed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language

from tasks.adapters.detection import identifiers as door
from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.pipeline import build_pipeline, read_texts
from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.detection import identifiers as shapes
from tasks.core.detection import names
from tasks.core.detection.readings import normalise
from tasks.core.detection.topics import map_topics
from tests.helpers.readings import STORE, attribute_finder

REPEATS = {constants.MAX_REPEAT, constants.MIN_REPEAT}
MANY = 100
"""A repetition that may go on longer than this counts as endless."""

PATTERNS = {
    f"{module.__name__}.{name}": value
    for module in (shapes, names, door)
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}


@pytest.fixture(scope="module")
def pipeline(wordnet: WordNet) -> Language:
    topics = map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)
    finder = attribute_finder(wordnet, topics, "sensitive")
    pipeline = build_pipeline(load_identifier_finder(STORE), finder)
    # What is made once, such as the index of spellings, is made before anybody counts.
    read_texts(pipeline, ["zzqxyvw jane@example.com 212-736-5000"])
    return pipeline


def nested(tree: Any, inside: bool = False) -> Iterator[bool]:
    """Whether an endless repetition stands within another, for each of them."""
    for operation, value in tree:
        endless = operation in REPEATS and value[1] > MANY
        if endless:
            yield inside
        parts = value if isinstance(value, list | tuple) else [value]
        for part in _trees(parts):
            yield from nested(part, inside or endless)


def _trees(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, parser.SubPattern):
            yield part
        elif isinstance(part, list | tuple):
            yield from _trees(part)


# Groups between single signs, and words between hyphens or blanks: the inner repetition cannot
# reach over the sign, so that no text can be matched in two ways.
SEPARATED = {"_NUMBER_RUN", "_HYPHENATED", "_WORD", "_HOST_LIKE"}


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_no_endless_repetition_within_another(name: str) -> None:
    found = any(nested(parser.parse(PATTERNS[name].pattern)))
    assert found == (name.rpartition(".")[2] in SEPARATED)


def calls(run: Callable[[], object]) -> int:
    """How many functions, ours and those written in C, are called."""
    count = 0

    def tell(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tell)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


UNITS = (
    *("john ", "nguyen ", "zzqx ", "dr ", "j. ", "smith, ", "mary-", "van de la ", "12 ", "aa11 "),
    *("1 main ", "rue de la ", "order 1 ", "liver ", "diabetis ", "reading pa ", "lyrics kill "),
    *("harry potter ", "a-1-", "1.1.1.1 ", "a@b.c ", "www ", "sw1a 1aa ", "\u00e9", "jan 1 "),
)


@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_about_twice_the_calls(pipeline: Language, unit: str) -> None:
    text = normalise((unit * 2500)[:2500])
    read_texts(pipeline, [text])
    once = calls(lambda: read_texts(pipeline, [text]))
    twice = calls(lambda: read_texts(pipeline, [f"{text} {text}"]))
    assert twice <= 2.5 * once + 1000


WORDS = st.sampled_from([*UNITS, "cancer ", "hotel ", "tx ", "'s ", "\u0661", "\u200b", "...", " "])


@given(st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=30).map("".join)))
def test_no_query_makes_analysis_fail(pipeline: Language, text: str) -> None:
    query = normalise(text)
    readings = read_texts(pipeline, [query])
    assert int(readings.lengths.sum()) == len(readings.starts)
    assert all(readings.ends <= len(query))


@settings(max_examples=10)
@given(st.lists(WORDS, min_size=1, max_size=6).map("".join))
def test_ten_kilobytes_are_read(pipeline: Language, unit: str) -> None:
    query = normalise((unit * 10_000)[:10_000])
    assert len(read_texts(pipeline, [query])) == 1
