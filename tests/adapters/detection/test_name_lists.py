"""The installed name lists and dictionary, as the name rules see them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tasks.adapters.detection.name_lists import load_name_lists, name_sources
from tasks.adapters.public_data import is_compiled
from tasks.errors import InputError

LISTS = load_name_lists()


def test_census_shares() -> None:
    assert LISTS.last["smith"] == 1.006
    assert LISTS.first["mary"] == 2.629
    assert min(LISTS.last.values()) > 0


def test_names_of_later_censuses() -> None:
    assert LISTS.last["aafedt"] == LISTS.first["aadarsh"] == min(LISTS.last.values())
    # Words, towns, and what is common in another language are left out.
    assert not {"daughter", "montebello", "afrika"} & (LISTS.last.keys() | LISTS.first.keys())


def test_names_of_the_world() -> None:
    assert LISTS.first["aabid"] == LISTS.last["aaltonen"] == 0.01
    assert not {"daughter", "montebello", "lol"} & (LISTS.last.keys() | LISTS.first.keys())


def test_how_names_are_spelt() -> None:
    unlisted = ("umkhayev", "zorbakov", "mikolcic", "kharlamenko", "jobsearch", "clonazepam")
    assert not any(map(LISTS.is_listed, unlisted))
    assert list(map(LISTS.is_spelt_like_name, unlisted)) == [True] * 4 + [False] * 2
    # A usual word here or elsewhere is no name for its spelling.
    assert {"gettin", "tesco", "treffer"} <= LISTS.look_alikes
    assert not any(map(LISTS.is_spelt_like_name, LISTS.look_alikes))


def test_towns_states_and_words_of_other_languages() -> None:
    assert {"san diego", "jackson county", "texas", "tx", "france"} <= LISTS.towns
    assert {"afrika", "quiero"} <= LISTS.abroad
    assert not LISTS.abroad & (LISTS.last.keys() | LISTS.first.keys())


def test_word_counts_of_wordnet() -> None:
    assert LISTS.common_words["day"] == 349
    assert LISTS.common_words["came"] == LISTS.common_words["come"]
    assert not any("\r" in word for word in LISTS.common_words)


def test_places_and_persons() -> None:
    assert {"virginia", "paris", "jackson"} <= LISTS.places
    assert "rose" not in LISTS.places
    assert "baker" in LISTS.name_only


def test_fixed_expressions_hold_the_famous_but_not_their_many_namesakes() -> None:
    assert {"white house", "virginia beach", "mark twain"} <= LISTS.phrases
    assert "john smith" not in LISTS.phrases


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(InputError, match="package names"):
        load_name_lists()


def test_compiled_lists_are_the_same_and_made_once(tmp_path: Path) -> None:
    assert not is_compiled(tmp_path, "names", name_sources())
    assert load_name_lists(tmp_path) == LISTS
    assert is_compiled(tmp_path, "names", name_sources())
    assert load_name_lists(tmp_path) == LISTS
