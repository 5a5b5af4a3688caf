"""Spelling correction against an independent count of edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.lexicon import SHORTEST_CORRECTED, SpellingCorrector

WORDS = ("diabetes", "herpes", "leukemia", "pneumonia", "asthma", "bankruptcy")
CORRECTOR = SpellingCorrector(WORDS)


@pytest.mark.parametrize(
    ("typed", "correct"),
    [
        ("diabetis", "diabetes"),
        ("diabtes", "diabetes"),
        ("diabbetes", "diabetes"),
        ("daibetes", "diabetes"),
        ("herpies", "herpes"),
        ("lukemia", "leukemia"),
        ("pnemonia", "pneumonia"),
        ("bankrupcy", "bankruptcy"),
        ("bankruptsy", "bankruptcy"),
    ],
)
def test_one_edit_is_corrected(typed: str, correct: str) -> None:
    assert CORRECTOR.correction(typed) == correct


@pytest.mark.parametrize(
    "typed",
    ["diatribes", "iabetes", "xiabetes", "harpies", "herpe", "diabt", "", "dia betes", "123456"],
)
def test_two_edits_another_first_letter_and_short_words_are_not(typed: str) -> None:
    assert CORRECTOR.correction(typed) is None


def edits(left: str, right: str) -> int:
    """Letters put in, left out, changed or swapped with their neighbour: the textbook's table."""
    table = [[max(i, j) for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            changed = table[i - 1][j - 1] + (left[i - 1] != right[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, changed)
            if i > 1 and j > 1 and left[i - 2 : i] == right[j - 1] + right[j - 2]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


LETTERS = st.text(alphabet="abc", min_size=SHORTEST_CORRECTED, max_size=SHORTEST_CORRECTED + 2)


@given(LETTERS, LETTERS)
def test_the_correction_is_what_the_table_of_edits_says(typed: str, word: str) -> None:
    near = typed[0] == word[0] and edits(typed, word) <= 1
    assert (SpellingCorrector([word]).correction(typed) == word) == near
