"""Which readings are doubtful: the shares of senses against a slow count, and words of queries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.detection.attributes import AttributeFinder
from tasks.core.detection.doubts import sense_shares
from tasks.core.detection.topics import map_topics
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy, build_taxonomy
from tests.helpers.readings import attribute_finder

NAMED = (5, 6)
TAXONOMY = build_taxonomy(
    [f"c{n}" for n in range(7)],
    [f"c{n}" for n in range(7)],
    [[], [0], [1], [1], [0], [4], [4]],
    root="c0",
    version="",
    instances=NAMED,
)
SENSES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=5, unique_by=lambda sense: sense[0]
)


def slow_share(place: int, senses: list[tuple[int, int]], taxonomy: Taxonomy) -> float:
    concept, own = senses[place]
    if concept in NAMED:
        return (own + 1) / sum(tags + 1 for _, tags in senses)
    near = sum(tags + 0.5 for other, tags in senses if are_near(concept, other, taxonomy))
    return near / sum(tags + 0.5 for _, tags in senses)


def are_near(one: int, other: int, taxonomy: Taxonomy) -> bool:
    parents = taxonomy.main_parents[one], taxonomy.main_parents[other]
    beside = parents[0] == parents[1] != NO_CONCEPT
    lines = [{c, *taxonomy.ancestors_of(c).tolist()} for c in (one, other)]
    return beside or one in lines[1] or other in lines[0]


@given(st.lists(SENSES, max_size=5))
def test_shares_equal_a_slow_count(lemmas: list[list[tuple[int, int]]]) -> None:
    offsets = np.cumsum([0, *map(len, lemmas)])
    senses = np.array([sense for lemma in lemmas for sense in lemma], dtype=np.int32).reshape(-1, 2)
    found = sense_shares(offsets, senses[:, 0], senses[:, 1], TAXONOMY)
    expected = [
        slow_share(place, lemma, TAXONOMY) for lemma in lemmas for place in range(len(lemma))
    ]
    assert found.tolist() == pytest.approx(expected)


@pytest.fixture(scope="module")
def finder(wordnet: WordNet) -> AttributeFinder:
    return attribute_finder(
        wordnet, map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy), "all"
    )


def concepts_of(query: str, finder: AttributeFinder) -> list[str]:
    """The words of a query that stand for a concept."""
    tokens = query.split()
    return [item.words for item in finder.items(tokens, [""] * len(tokens)) if item.concept >= 0]


@pytest.mark.parametrize(
    "word",
    [
        *("yahoo", "target", "sprint", "dodge"),  # brands
        *("lost", "heroes"),  # titles
        *("madonna", "disney", "mark", "joseph", "washington irving"),  # persons, names
        *("ip", "ss", "md"),  # abbreviations
        *("shoes", "parts"),  # plurals with a lemma of their own
        *("free", "blue", "generic", "lower"),  # rather adjectives
        *("watches", "quotes", "wanted"),  # verbs that are rather something else
        *("4s", "omaha", "tabs"),  # codes, and no sense above the others
        *("to do", "take for"),  # side by side by chance
    ],
)
def test_a_doubtful_word_says_itself_alone(word: str, finder: AttributeFinder) -> None:
    assert concepts_of(word, finder) == []


@pytest.mark.parametrize(
    "word",
    [
        *("bicycle", "recipe", "lawyer", "pneumonia", "furniture"),
        *("texas", "mississippi", "new york", "mexico", "cincinnati"),
        *("tv", "june", "friday", "christmas", "dvd"),
        *("heart attack", "high school", "used cars"),
        *("buy", "download", "trousers", "physics"),
    ],
)
def test_a_clear_word_stands_for_its_concept(word: str, finder: AttributeFinder) -> None:
    assert concepts_of(word, finder) == [word]


def test_a_town_lies_in_the_state_that_follows(wordnet: WordNet, finder: AttributeFinder) -> None:
    town, state = finder.items(["springfield", "missouri"], ["", ""])
    assert town.concept == state.concept
    assert wordnet.taxonomy.names[town.concept] == "missouri.n.01"


def test_doubts_do_not_change_what_is_sensitive(wordnet: WordNet) -> None:
    topics = map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)
    finder = attribute_finder(wordnet, topics, "sensitive")
    words = ("gay", "bankruptcy", "mass", "protest")
    assert [concepts_of(f"{word} catholic", finder)[:1] for word in words] == [[w] for w in words]
