"""How much a word says: -log2 of its share in a fixed list of English in use.

The list is that of the package `wordfreq`, compiled into the store. It does not change with the
log, so what a word says is the same in every batch.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgpack
import numpy as np

from tasks.adapters.public_data import Fields, Sources, compiled, package_folder
from tasks.core.records import Floats, Strings

CENTIBELS: Final = 0.01 / np.log10(2.0)
"""The list holds words by hundredths of a decade below certainty; so many bits is each."""
DIGITS: Final = re.compile(r"[0-9]")


class WordInformation:
    """The information content of words in bits.

    A word that the list lacks is as rare as the rarest that it has; a number shares what the list
    has for all numbers of its length; words of one expression say what they say one by one.
    """

    def __init__(self, bits: Mapping[str, float]) -> None:
        self._bits = bits
        self.most_bits = max(bits.values(), default=0.0)

    def __call__(self, words: Strings) -> Floats:
        return np.array(
            [sum(map(self.of_word, word.split())) for word in words.tolist()], dtype=np.float64
        )

    def of_word(self, word: str) -> float:
        """Of one word without blanks."""
        known = self._bits.get(word)
        if known is not None:
            return known
        shape, digits = DIGITS.subn("0", word)
        of_shape = self._bits.get(shape, self.most_bits) + digits * float(np.log2(10.0))
        return min(of_shape, self.most_bits) if digits else self.most_bits


def word_information(store: Path) -> WordInformation:
    """The information content of words, compiled in the store."""
    return _word_information(store.absolute())


@lru_cache(maxsize=1)
def _word_information(store: Path) -> WordInformation:
    sources = Sources((__name__,), (word_list(),))
    return _information_from(compiled(store, "word frequencies", sources, _compile_list))


def read_word_information() -> WordInformation:
    """The same from the package's file."""
    return _information_from(_compile_list())


def _information_from(fields: Fields) -> WordInformation:
    return WordInformation(
        dict(zip(fields["words"].tolist(), fields["bits"].tolist(), strict=True))
    )


def word_list() -> Path:
    """The file of `wordfreq` with English words by how often they are used."""
    return package_folder("wordfreq") / "data" / "large_en.msgpack.gz"


def _compile_list() -> Fields:
    """The file is a header and, for each hundredth of a decade, the words of that frequency."""
    with gzip.open(word_list()) as stream:
        _, *by_frequency = msgpack.load(stream, raw=False)
    words = [word for bucket in by_frequency for word in bucket]
    levels = np.repeat(np.arange(len(by_frequency)), [len(bucket) for bucket in by_frequency])
    order = np.argsort(np.array(words, dtype=object), kind="stable")
    return {
        "words": np.array([words[place] for place in order.tolist()], dtype=object),
        "bits": (levels * CENTIBELS)[order],
    }
