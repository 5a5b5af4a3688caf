"""Lists of how common words are in many languages, by which queries are judged.

They are those of the package `wordfreq`. This is the place for another language that is understood:
it takes a WordNet in that language (`adapters/wordnet.py` reads Princeton's files), a name in
`core.choices.Language`, and its list in place of the English one here.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgpack
import numpy as np

from tasks.adapters.public_data import package_folder
from tasks.adapters.word_frequencies import word_list
from tasks.core.languages import Languages, languages_of, script_of, words_of
from tasks.core.texts import TextColumn

MOST_QUERIES: Final = 10_000
"""So many, taken evenly from a log, tell its languages to half a percent."""
OTHERS: Final[Mapping[str, str]] = {
    **{"ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "es": "Spanish"},
    **{"fi": "Finnish", "fil": "Filipino", "fr": "French", "hu": "Hungarian", "id": "Indonesian"},
    **{"is": "Icelandic", "it": "Italian", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay"},
    **{"nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian"},
    **{"sh": "Serbo-Croatian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish"},
    **{"tr": "Turkish", "vi": "Vietnamese"},
}
"""Languages in Latin script that have a list, by its name; others are told by their script."""
_SCALE: Final = 9.0
"""The lists count by hundredths of a decade below certainty, we by uses in a thousand million."""


def measure_languages(texts: TextColumn) -> Languages:
    """What languages queries are in, by a sample of them."""
    chosen = texts[:: max(1, -(-len(texts) // MOST_QUERIES))].tolist()
    queries = [words for words in map(words_of, chosen) if words]
    place: dict[str, int] = {}
    words = np.array(
        [place.setdefault(word, len(place)) for query in queries for word in query], dtype=np.int32
    )
    offsets = np.cumsum([0, *map(len, queries)], dtype=np.int64)
    uses = np.zeros((len(place), 1 + len(OTHERS)))
    for column, file in enumerate([word_list(), *other_lists()] if place else []):
        for word, frequency in _listed(file, place):
            uses[place[word], column] = frequency
    scripts = [script_of(word) for word in place]
    return languages_of(offsets, words, uses, list(OTHERS.values()), scripts)


def other_lists() -> list[Path]:
    """The files of the lists of other languages."""
    return list(map(_other_list, OTHERS))


def words_abroad(least: float) -> set[str]:
    """What is so common in another language, in uses in a thousand million, as a power of ten."""
    return {word for file in other_lists() for word in frequent_words(file, least)}


def frequent_words(file: Path, least: float) -> set[str]:
    """What is so common by a list, in uses in a thousand million, as a power of ten."""
    every = (words for frequency, words in by_frequency(file) if frequency >= least)
    return {word for words in every for word in words}


def _other_list(name: str) -> Path:
    return package_folder("wordfreq") / "data" / f"small_{name}.msgpack.gz"


def _listed(file: Path, wanted: Mapping[str, int]) -> Iterable[tuple[str, float]]:
    """The wanted words of a list, and how common they are."""
    for frequency, words in by_frequency(file):
        # The lists hold more than a million words: no line of Python for each.
        yield from ((word, frequency) for word in filter(wanted.__contains__, words))


def by_frequency(file: Path) -> Iterable[tuple[float, list[str]]]:
    """Words of a list by how common they are: uses in a thousand million, as a power of ten."""
    with gzip.open(file) as stream:
        _, *by_frequency = msgpack.load(stream, raw=False)
    return ((_SCALE - level / 100, words) for level, words in enumerate(by_frequency))
