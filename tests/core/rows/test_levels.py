"""Levels of items against plain lists, and what holds for all of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.records import RecordTable
from tasks.core.rows.levels import ItemLevels, item_levels
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.core.rows.materials import Log, hard_logs
from tests.helpers.random_logs import table_of
from tests.oracles.levels import SlowItem, slow_items

FLOORS = st.sampled_from([0.0, 0.3, 1.0, 2.0])


def items_by_form(levels: ItemLevels) -> list[list[SlowItem]]:
    pairs = list(zip(levels.nodes.tolist(), levels.bits.tolist(), strict=True))
    items = [
        SlowItem(*own, pairs[start:end])
        for own, (start, end) in zip(
            zip(
                levels.item_words.tolist(),
                levels.item_concepts.tolist(),
                levels.item_bits.tolist(),
                levels.item_places.tolist(),
                strict=True,
            ),
            pairwise(levels.level_offsets.tolist()),
            strict=True,
        )
    ]
    return [items[start:end] for start, end in pairwise(levels.item_offsets.tolist())]


@given(hard_logs(), FLOORS, st.booleans())
def test_levels_are_those_of_plain_lists(log: Log, vaguest: float, fillers: bool) -> None:
    taxonomy, table = log
    levels = item_levels(table, taxonomy, vaguest=vaguest, fillers=fillers)
    assert levels.words == len(table.words)
    assert len(levels) == len(table.forms)
    assert items_by_form(levels) == [
        slow_items(table, taxonomy, form, vaguest=vaguest, fillers=fillers)
        for form in range(len(table.forms))
    ]


@given(hard_logs())
def test_no_level_tells_more_than_a_finer_one_nor_than_its_item_holds(log: Log) -> None:
    taxonomy, table = log
    for items in items_by_form(item_levels(table, taxonomy, fillers=True)):
        for item in items:
            told = [bits for _, bits in item.levels]
            assert told[0] == item.bits
            assert told == sorted(told, reverse=True)


@pytest.fixture
def taxonomy() -> Taxonomy:
    """entity over disease, over flu and cold; a plant beside them."""
    names = ["entity", "disease", "flu", "cold", "plant"]
    return build_taxonomy(names, names, [[], [0], [1], [1], [0]], root="entity", version="")


def said(levels: ItemLevels, table: RecordTable) -> list[list[str]]:
    return [[table.words[item.word] for item in items] for items in items_by_form(levels)]


def test_fillers_are_items_only_if_asked_for_and_hold_nothing(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [2], ["the", "best"], 0)])
    assert said(item_levels(table, taxonomy), table) == [["best", "word2"]]
    with_fillers = item_levels(table, taxonomy, fillers=True)
    assert said(with_fillers, table) == [["best", "the", "word2"]]
    assert with_fillers.item_bits.tolist() == [10.0, 0.0, 10.0]


def test_a_word_said_twice_is_one_item_where_it_first_stands(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [], ["best", "cheap", "best", "near"], 0)])
    levels = item_levels(table, taxonomy)
    assert said(levels, table) == [["best", "cheap", "near"]]
    assert levels.item_places.tolist() == [0.5 / 4, 1.5 / 4, 3.5 / 4]


def test_what_is_too_vague_is_no_level_but_the_word_stays(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [2], [], 0)])
    words, bits = len(table.words), taxonomy.information
    assert bits[1] < bits[2]
    all_levels = item_levels(table, taxonomy)
    assert all_levels.nodes.tolist() == [0, words + 2, words + 1]
    floor = (float(bits[1]) + float(bits[2])) / 2
    assert item_levels(table, taxonomy, vaguest=floor).nodes.tolist() == [0, words + 2]
    # The floor itself is not too vague, and a word is told however vague what it means.
    assert len(item_levels(table, taxonomy, vaguest=float(bits[1])).nodes) == 3
    assert item_levels(table, taxonomy, vaguest=99.0).nodes.tolist() == [0]


def test_the_root_tells_nothing(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [0], [], 0)])
    assert item_levels(table, taxonomy).nodes.tolist() == [0]
