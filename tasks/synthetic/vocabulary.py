"""The vocabulary of synthetic logs: the hand-made lists, WordNet's words and the census names.

All is data of this package but the names, which come from the package `names`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tasks.synthetic.draws import Weighted, weighted, zipf
from tasks.synthetic.identifiers import AddressBook
from tasks.synthetic.phrases import Lists
from tasks.synthetic.queries import Topic, Vocabulary

DATA: Final = Path(__file__).parent / "data"
TABLES: Final = DATA / "vocabulary.toml"
PHRASES: Final = DATA / "phrases.toml"
TAIL: Final = DATA / "vocabulary_tail.tsv"

NAMES_PER_LIST: Final = 8_000
"""The commonest last names of the census's 88,799: the others would only delay the start."""

RAREST: Final = 0.01
"""Per cent who bear a name that the census, with three decimals, gives as borne by 0.000."""

SHIFT: Final = 25.0
"""Of Zipf-Mandelbrot's law for hand-made lists: the first of them are not much commoner."""

HEADS: Final = 130
"""So few are asked by many: real logs have a short head."""

Tables = dict[str, Any]
Tail = dict[str, list[tuple[str, int]]]


def load_vocabulary() -> Vocabulary:
    """The vocabulary that comes with this package."""
    tables, tail = read_toml(TABLES), read_tail()
    general, navigation, places = tables["general"], tables["navigation"], tables["places"]
    book = _address_book(tables["addresses"], places["towns"])
    return Vocabulary(
        topics=tuple(_topic(name, body, tail[name]) for name, body in tables["topic"].items()),
        heads=zipf(_heads(entries(navigation["sites"]), entries(general["heads"])), shift=1.2),
        patterns=_ranked(general["patterns"]),
        local_patterns=_ranked(general["local"]),
        person_patterns=_ranked(general["person_patterns"]),
        additions=_ranked(general["additions"]),
        endings=_ranked(general["endings"]),
        sites=_ranked(navigation["sites"]),
        site_forms=_ranked(navigation["site_forms"]),
        book=book,
        lists=_lists(read_toml(PHRASES), tail, book, dict(_halves(places["states"]))),
    )


def _lists(phrases: Tables, tail: Tail, book: AddressBook, state_names: Mapping[str, str]) -> Lists:
    """What the slots of forms are filled from."""
    by_hand = phrases["forms"] | phrases["words"]
    ranked = {name: _ranked(text) for name, text in by_hand.items()}
    found = {name: _tail(tail[name]) for name in phrases["wordnet"]}
    names = book.first_names, book.last_names
    return Lists(ranked | found, *names, book.towns, state_names)


def _heads(sites: Sequence[str], others: Sequence[str]) -> list[str]:
    """What everybody asks: two sites, one other thing, and so on."""
    pairs = zip(sites[::2], sites[1::2], others, strict=False)
    return [query for three in pairs for query in three][:HEADS]


def _tail(words: Sequence[tuple[str, int]]) -> Weighted[str]:
    return weighted([word for word, _ in words], [weight for _, weight in words])


def read_toml(path: Path) -> Tables:
    """Hand-made lists, as they stand in a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_tail() -> Tail:
    """Words of WordNet with their weights, by topic or list."""
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
    return zipf(entries(text), shift=SHIFT)


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
        tail=_tail(tail),
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
    lists = [lines_of(files("names").joinpath(name)) for name in names]
    rows = [line.split() for lines in lists for line in islice(lines, NAMES_PER_LIST)]
    return weighted([row[0].lower() for row in rows], [float(row[1]) + RAREST for row in rows])


def lines_of(file: Traversable) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        yield from lines
