"""How names are spelt: what letters in a row say for a name, and what against it.

Most of the world's names are in no list. A word that no dictionary has either may be a name, a
brand or a misspelling; its letters tell somewhat: *umkhayev* is rather a name, *jobsearch* is not.
That is evidence among others, never enough by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

SHORTEST = 4
"""Letters of a word that says enough."""

FEWEST, MOST = 2, 4
"""Letters in a row that are weighed."""

ANY = ""
"""What stands for the weight that any word has."""


def grams(word: str) -> list[str]:
    """Letters in a row, of a word whose beginning and end are marked."""
    marked = f"^{word}$"
    return [
        marked[start : start + length]
        for length in range(FEWEST, MOST + 1)
        for start in range(len(marked) - length + 1)
    ]


def shape_of(word: str, weights: Mapping[str, float]) -> float:
    """What a word's letters say for a name: above nothing if they say more for it than against."""
    own = map(weights.get, grams(word))
    return weights.get(ANY, 0.0) + sum(filter(None, own))
