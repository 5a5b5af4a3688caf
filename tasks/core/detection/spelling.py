"""Slips of the pen: the sensitive word that an unknown word was meant to be (*diabetis*).

Every word is filed under itself and under each of its forms with one letter left out. Two words
that differ by one letter left out, put in, changed, or swapped with the next meet in such a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

SHORTEST = 6
"""Shorter words have too many neighbours that are words of their own."""


class Slips:
    """Finds words of a list that are one slip away from a word."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = [word for word in words if len(word) >= SHORTEST and word.isalpha()]

    @cached_property
    def _by_form(self) -> dict[str, list[str]]:
        filed: dict[str, list[str]] = {}
        for word in self._words:
            for form in forms(word):
                filed.setdefault(form, []).append(word)
        return filed

    def meant(self, word: str) -> str | None:
        """The word of the list that is one slip away and begins alike; of several the first."""
        if len(word) < SHORTEST or not word.isalpha():
            return None
        found = (near for form in forms(word) for near in self._by_form.get(form, ()))
        return min((near for near in found if _one_slip(word, near)), default=None)


def forms(word: str) -> Iterator[str]:
    """The word, and the word without one of its letters but the first."""
    yield word
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]


def _one_slip(word: str, near: str) -> bool:
    """Whether one letter put in, left out, changed or swapped makes one of the other."""
    start = 0
    shorter = min(len(word), len(near))
    while start < shorter and word[start] == near[start]:
        start += 1
    rest, near_rest = word[start:], near[start:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return near_rest in (swapped, rest[1:]) or near_rest[1:] in (rest, rest[1:])
