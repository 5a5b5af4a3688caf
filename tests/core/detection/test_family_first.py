"""Names with the family first, over small lists: what is built like one is one, words are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.family_first import family_first_length
from tasks.core.detection.name_lists import COMPANY, NameLists
from tasks.core.detection.names import find_names, split_words

FAMILIES = ("li", "zhang", "song", "du")
SYLLABLES = ("xiao", "ming", "wei", "na", "pan", "da", "zhi", "guang")
LISTS = NameLists(
    first={"jane": 0.25, "adeola": 0.01},
    last={"vo": 0.004, "doe": 0.006},
    common_words={"song": 20, "panda": 1, "na": 0, "lan": 0, "van": 0, "ming": 0, "nigeria": 1},
    phrases=frozenset({"zhang na"}),
    chinese_last=frozenset(FAMILIES),
    chinese_first=frozenset({"wei", "na", "ming", "li"}),
    pinyin=frozenset(SYLLABLES),
    vietnamese_last=frozenset({"tran", "le"}),
    yoruba=frozenset({"kehinde", "adeola"}),
    yoruba_elements=frozenset({"ade", "olu"}),
)


def length(text: str) -> int:
    return family_first_length(split_words(text), 0, LISTS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("li xiaoming", 2),
        ("li xiao ming", 3),
        ("li xiao-ming", 3),
        ("zhang wei", 2),
        ("zhang wei in ohio", 2),
        ("zhang xiaoming lawsuit", 2),
        ("tran thi lan", 3),
        ("tran thi lan recipes", 3),
        ("vo van kiet", 3),
        ("tran van minh hai", 4),
        ("tran thuy tram", 3),
        ("adebayo oluwaseun", 2),
        ("kehinde adebayo", 2),
        ("temitope adebayo", 2),
    ],
)
def test_what_is_built_like_a_name_is_one(text: str, words: int) -> None:
    assert length(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "li",
        "li panda",  # a word
        "li li",
        "li, xiaoming",
        "li's xiaoming",
        "song xiaoming mp3 download",  # a word before, and more around
        "zhang na",  # a fixed expression
        "zhang photos",
        "du wei ohio",  # a particle, and more around
        "zork xiaoming",
        "vo kiet",
        "zork van kiet",  # no surname
        "tran van gogh",  # no syllable of Vietnamese
        "adebayo",
        "adebayo nigeria",
        "adebayo zork",  # not built alike
        "adenrst olunrst",
    ],
)
def test_what_is_not_built_so_is_none(text: str) -> None:
    assert length(text) == 0


def test_somebody_who_is_not_named_is_hidden_although_the_dictionary_knows_them() -> None:
    lists = NameLists(LISTS.first, LISTS.last, {}, phrases=frozenset({"jane doe"}))
    assert find_names("jane doe", lists) == [(0, 8)]
    assert find_names("doe run", lists) == []


@given(st.sampled_from(FAMILIES), st.lists(st.sampled_from(SYLLABLES), min_size=2, max_size=2))
def test_any_two_syllables_after_a_family_name_are_a_whole_name(
    family: str, given: list[str]
) -> None:
    name = "".join(given)
    assert length(f"{family} {name}") == (0 if LISTS.is_word(name) else 2)


KEYS = st.sampled_from(
    sorted({*FAMILIES, *SYLLABLES, *LISTS.yoruba, *LISTS.vietnamese_last, *sorted(COMPANY)[:5]})
    + ["van", "thi", "vo", "doe", "jane", "adebayo", "xiaoming", "nigeria"]
)


@given(st.lists(KEYS, min_size=1, max_size=8).map(" ".join))
def test_a_name_has_two_to_four_words_and_ends_within_the_text(text: str) -> None:
    words = split_words(text)
    for start in range(len(words)):
        found = family_first_length(words, start, LISTS)
        assert found == 0 or 2 <= found <= min(4, len(words) - start)
        # All of it is hidden, by whatever rule.
    for start, end in find_names(text, LISTS):
        assert " " in text[start:end]
