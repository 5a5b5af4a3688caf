"""Bits of words against the package's own reader of its list."""

from __future__ import annotations

from math import log2
from pathlib import Path

import numpy as np
import pytest
from wordfreq import top_n_list, word_frequency

from tasks.adapters.word_frequencies import (
    WordInformation,
    read_word_information,
    word_information,
)
from tasks.core.records import Strings

WORDS = top_n_list("en", 1_000_000, wordlist="large")
SAMPLE = [word for word in WORDS[::501] if word.isalpha()]


@pytest.fixture(scope="module")
def information() -> WordInformation:
    return read_word_information()


def bits(information: WordInformation, *words: str) -> list[float]:
    values: list[float] = information(np.array(words, dtype=object)).tolist()
    return values


def test_bits_are_those_of_the_packages_frequencies(information: WordInformation) -> None:
    """The package rounds what it tells to three digits."""
    expected = [-log2(word_frequency(word, "en", wordlist="large")) for word in SAMPLE]
    assert len(SAMPLE) > 400
    assert bits(information, *SAMPLE) == pytest.approx(expected, abs=0.01)


def test_the_commoner_says_less(information: WordInformation) -> None:
    the, weather, pneumonia = bits(information, "the", "weather", "pneumonia")
    assert 0 < the < weather < pneumonia
    assert bits(information, *SAMPLE) == sorted(bits(information, *SAMPLE))


def test_an_unknown_word_is_as_rare_as_the_rarest_known(information: WordInformation) -> None:
    assert word_frequency("zqxjkvw", "en", wordlist="large") == 0
    unknown, shortest = bits(information, "zqxjkvw", "")
    assert unknown == max(bits(information, *WORDS)) == information.most_bits
    assert shortest == 0.0


def test_words_of_an_expression_say_what_they_say_one_by_one(information: WordInformation) -> None:
    heart, attack, both = bits(information, "heart", "attack", "heart attack")
    assert both == pytest.approx(heart + attack)


def test_a_number_shares_what_numbers_of_its_length_have(information: WordInformation) -> None:
    """Unless the list has it; the package guesses likewise, but by the usual years and digits."""
    of_shape = WordInformation({"0000": 8.0, "x0": 9.0, "7777": 3.0, "rare": 30.0})
    assert bits(of_shape, "7777") == [3.0]
    assert bits(of_shape, "1234", "9999") == [pytest.approx(8.0 + 4 * log2(10))] * 2
    assert bits(of_shape, "x1") == [pytest.approx(9.0 + log2(10))]
    assert bits(of_shape, "123456") == [30.0]
    assert bits(WordInformation({"0000": 29.0, "rare": 30.0}), "1234") == [30.0]
    assert all(value <= information.most_bits for value in bits(information, "1987", "48213", "3d"))


def test_an_empty_list_says_nothing() -> None:
    assert bits(WordInformation({}), "word", "12") == [0.0, 0.0]


def test_the_store_gives_the_same_bits_as_the_package(store: Path, tmp_path: Path) -> None:
    words: Strings = np.array([*SAMPLE, "zqxjkvw", "1987", "heart attack"], dtype=object)
    direct = read_word_information()(words)
    for folder in (store, tmp_path, tmp_path):
        assert word_information(folder)(words).tobytes() == direct.tobytes()
