"""Query texts: one spelling for each, and which of them a log holds."""

from __future__ import annotations

import unicodedata

import numpy as np

from tasks.core.records import Ints, Strings


def normalise(text: str) -> str:
    """One spelling for one query: compatibility forms folded, lower case, single blanks."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    if not folded.isprintable():
        folded = "".join(c if c.isprintable() else " " for c in folded)
    return " ".join(folded.split())


def distinct_texts(texts: Strings) -> tuple[list[str], Ints]:
    """The distinct normalised texts, ascending, and which of them each text is."""
    numbers: dict[str, int] = {}
    number_of = np.fromiter(
        (numbers.setdefault(text, len(numbers)) for text in texts), np.int32, len(texts)
    )
    normalised = [normalise(text) for text in numbers]
    distinct = sorted(set(normalised))
    places = {text: place for place, text in enumerate(distinct)}
    place_of_number = np.array([places[text] for text in normalised], dtype=np.int32)
    return distinct, place_of_number[number_of]
