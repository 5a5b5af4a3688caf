"""Texts that say the same in other spellings are one query, read as carefully as any of them."""

from __future__ import annotations

import pytest

from tasks.core.detection.readings import (
    IDENTIFIER_CONCEPT,
    Item,
    merge_spellings,
    pack_readings,
    said,
)
from tasks.core.texts import Texts


@pytest.mark.parametrize(
    "text", ["lung cancer", "lung-cancer?", '"lung" (cancer)...', "lung_cancer", "lung/cancer!"]
)
def test_signs_between_words_say_nothing(text: str) -> None:
    assert said(text) == "lung cancer"


def test_words_and_their_order_are_what_is_said() -> None:
    texts = ["women's health", "womens health", "u.s. news", "us news"]
    assert [said(text) for text in texts] == ["womens health"] * 2 + ["us news"] * 2
    assert said("cancer lung") != said("lung cancer") != said("lungcancer")
    assert said("???") == "???" != said("!!!")


def test_the_spelling_that_tells_most_identifiers_stands_for_all() -> None:
    texts = ["ann lee, x", "ann lee x", "ann-lee x", "flu"]
    name = IDENTIFIER_CONCEPT - 3
    plain = [Item("ann", -1), Item("lee", -1), Item("x", -1)]
    named = [Item("ann lee", name, length=2), Item("x", -1)]
    readings = pack_readings(
        [
            ([(0, 3), (4, 7), (9, 10)], plain),
            ([(0, 3), (4, 7), (8, 9)], named),
            ([(0, 3), (4, 7), (8, 9)], plain),
            ([(0, 3)], [Item("flu", 5)]),
        ]
    )
    assert merge_spellings(Texts.of(texts), readings).tolist() == [1, 1, 1, 3]
