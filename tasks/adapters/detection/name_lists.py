"""Lists of names and words: US census (`names`), other countries (`faker`), nicknames, WordNet.

`faker` has the usual names of some seventy countries; those in other scripts are left out, but for
the Japanese ones, which it has in Latin letters, too. How many people bear them is not known: each
counts as a rare one.
"""

from __future__ import annotations

import csv
import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.adapters.languages import frequent_words, other_lists, words_abroad
from tasks.adapters.public_data import (
    Fields,
    Sources,
    compiled,
    package_folder,
    packaged_wordnet,
    word_frequencies,
    words_in_use,
)
from tasks.adapters.word_frequencies import word_list
from tasks.core.detection.family_first import ELEMENT, family_first_length
from tasks.core.detection.identifiers import fold
from tasks.core.detection.lexicon import lexical_key
from tasks.core.detection.name_lists import NameLists
from tasks.core.detection.name_shapes import ANY

DATA: Final = Path(__file__).parent / "data"
PHRASES: Final = DATA / "phrases.txt"
"""The reviewed list of brands, works and characters, which are neither people nor concepts."""

PINYIN: Final = DATA / "pinyin.txt"
"""The syllables of Chinese in Latin letters."""

RARE_FIRST_NAMES, RARE_SURNAMES = DATA / "first_names.txt", DATA / "surnames.txt"
"""Names of later censuses."""

WORLD_FIRST_NAMES, WORLD_SURNAMES = (
    DATA / "first_names_world.txt",
    DATA / "surnames_world.txt",
)
"""Names of persons of all nations that have an article in the Wikipedia."""

NAME_SHAPES: Final = DATA / "name_shapes.txt"
"""What letters in a row say for a name: in tenths, one weight a line."""

TOWNS: Final = DATA / "places.txt"
"""Towns and counties, by state and country; a star marks the large ones."""

COUNTIES: Final = (" county", " parish")
"""What no town is called, and no person: *jackson county*, *jefferson parish*."""

STATES: Final = DATA / "states.toml"
"""States by the two letters of the post."""

OWN: Final = (
    *(PHRASES, PINYIN, TOWNS, STATES, NAME_SHAPES),
    *(RARE_FIRST_NAMES, RARE_SURNAMES, WORLD_FIRST_NAMES, WORLD_SURNAMES),
)

CHINESE, VIETNAMESE, YORUBA = ("zh_CN", "zh_TW"), ("vi_VN",), ("yo_NG",)
"""Peoples who put the family first, as faker calls them."""

SHARED_BY = 4
"""Names that begin alike from which on their beginning is one of Yoruba's."""

AMERICANS = 300_000_000
MOST_NAMESAKES = 1000
"""A person in the dictionary is the famous one as long as fewer people bear the name."""

SMALLEST_SHARE = 0.0005
"""The census rounds to three places: 0.000 percent means very few people, not nobody."""

FOREIGN_SHARE = 0.01
NICKNAME_SHARE = 0.02
"""Percent of people that a name counts for if the census does not have it."""

COMMON_ABROAD = 4.8
"""A word is no name that is so common in another language: one word in 16,000."""

USUAL_HERE, USUAL_ABROAD = 2.5, 3.5
"""A word that is so common, in English or elsewhere, is no name for its spelling alone."""

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_LATIN_NAME = re.compile(r"[a-z]+")
_FIRST_NAMES = re.compile(r"first_(?:romanized_)?names?(?:_(?:male|female|unisex))?")
_LAST_NAMES = re.compile(r"last_(?:romanized_)?names?(?:_(?:male|female|masculine|feminine))?")

# What a noun sense is about, by WordNet's file of it; as bits, for a lemma has many senses.
_PERSON, _PLACE, _THING, _OTHER = 1, 2, 4, 8
_ABOUT = {"1:18": _PERSON, "1:15": _PLACE, "1:14": _THING, "1:17": _THING, "1:20": _THING}

_MAPPINGS = ("first", "last", "common_words", "shapes")
_SETS = (
    *("name_only", "places", "towns", "phrases", "other_words", "abroad", "look_alikes"),
    *("chinese_last", "chinese_first", "pinyin", "vietnamese_last", "yoruba", "yoruba_elements"),
)


def load_name_lists(store: Path | None = None) -> NameLists:
    """What the installed packages know about names and words; compiled in a store, if one is given.

    To read the packages' files takes half a second, to load what was compiled a tenth.
    """
    if store is None:
        return names_from(compile_names())
    return names_from(compiled(store, "names", name_sources(), compile_names))


def name_sources() -> Sources:
    """What decides the compilation of the name lists."""
    wordnet = (packaged_wordnet() / name for name in ("index.sense", "noun.exc", "verb.exc"))
    faker = package_folder("faker") / "__init__.py"
    return Sources(
        code=(__name__, *(own.__module__ for own in (fold, lexical_key, family_first_length))),
        files=(
            *(*_census_files(), *wordnet, faker, _nickname_file(), word_frequencies()),
            *(word_list(), *other_lists(), *OWN),
        ),
    )


def compile_names() -> Fields:
    """The name lists as arrays: of a mapping its keys and its values, of a set its members."""
    lists, columns = _read_packages(), {}
    for name in _MAPPINGS:
        own = getattr(lists, name)
        columns[name] = np.array(list(own), dtype=object)
        columns[f"{name}_values"] = np.array(list(own.values()))
    for name in _SETS:
        columns[name] = np.array(sorted(getattr(lists, name)), dtype=object)
    return columns


def names_from(columns: Fields) -> NameLists:
    """The name lists from their compiled fields."""
    found: dict[str, Any] = {name: frozenset(columns[name].tolist()) for name in _SETS}
    for name in _MAPPINGS:
        values = columns[f"{name}_values"].tolist()
        found[name] = dict(zip(columns[name].tolist(), values, strict=True))
    return NameLists(**found)


def read_list(path: Path) -> list[str]:
    """The words and expressions of a list parted by commas, as lexical keys."""
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = (entry for line in lines if not line.startswith("#") for entry in line.split(","))
    return [key for entry in entries if (key := lexical_key(entry))]


def _census_files() -> list[Path]:
    folder = package_folder("names")
    return [folder / f"dist.{who}" for who in ("male.first", "female.first", "all.last")]


def _nickname_file() -> Path:
    return package_folder("nicknames") / "names.csv"


def _read_packages() -> NameLists:
    men, women, last = map(_read_census, _census_files())
    first = {name: max(men.get(name, 0.0), women.get(name, 0.0)) for name in (*men, *women)}
    first = {**dict.fromkeys(_nicknames(), NICKNAME_SHARE), **first}
    foreign_first, foreign_last = _foreign_names()
    return _join(
        {
            **dict.fromkeys(_words_of(WORLD_FIRST_NAMES), FOREIGN_SHARE),
            **dict.fromkeys(_words_of(RARE_FIRST_NAMES), SMALLEST_SHARE),
            **dict.fromkeys(foreign_first, FOREIGN_SHARE),
            **first,
        },
        {
            **dict.fromkeys(_words_of(WORLD_SURNAMES), FOREIGN_SHARE),
            **dict.fromkeys(_words_of(RARE_SURNAMES), SMALLEST_SHARE),
            **dict.fromkeys(foreign_last, FOREIGN_SHARE),
            **last,
        },
        packaged_wordnet(),
    )


def _nicknames() -> list[str]:
    with _nickname_file().open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return sorted({name for row in rows for name in (row["name1"], row["name2"])})


def _foreign_names() -> Iterator[list[str]]:
    """First and last names of other countries, in the letters in which people search for them."""
    folder = package_folder("faker") / "providers" / "person"
    every = sorted(path.name for path in folder.iterdir() if (path / "__init__.py").exists())
    return (sorted(_names_of(every, kind)) for kind in (_FIRST_NAMES, _LAST_NAMES))


def _names_of(peoples: Iterable[str], kind: re.Pattern[str], shortest: int = 3) -> set[str]:
    """The names of faker's lists of one kind; importing those of all countries takes a second."""
    names: set[str] = set()
    for people in peoples:
        lists = importlib.import_module(f"faker.providers.person.{people}").Provider
        for entry in filter(kind.fullmatch, dir(lists)):
            names.update(_latin_names(getattr(lists, entry), shortest))
    return names


def _family_first() -> dict[str, frozenset[str]]:
    """Names of the peoples who put the family first, and what those are made of."""
    yoruba = _names_of(YORUBA, _FIRST_NAMES) | _names_of(YORUBA, _LAST_NAMES)
    beginnings = Counter(name[:ELEMENT] for name in yoruba)
    return {
        "chinese_last": frozenset(_names_of(CHINESE, _LAST_NAMES, 2)),
        "chinese_first": frozenset(_names_of(CHINESE, _FIRST_NAMES, 2)),
        "pinyin": frozenset(_words_of(PINYIN)),
        "vietnamese_last": frozenset(_names_of(VIETNAMESE, _LAST_NAMES, 2)),
        "yoruba": frozenset(yoruba),
        "yoruba_elements": frozenset(
            own for own, names in beginnings.items() if names >= SHARED_BY
        ),
    }


def _words_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="ascii").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def _shapes() -> dict[str, float]:
    """What each row of letters says for a name; the line of any word has no letters."""
    lines = NAME_SHAPES.read_text(encoding="ascii").splitlines()
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {gram: int(weight) / 10 for weight, *own in rows for gram in own or (ANY,)}


def place_lines() -> list[tuple[str, list[str]]]:
    """States and countries as senses of WordNet's, and of each its towns and counties."""
    lines = (line.partition(": ") for line in TOWNS.read_text(encoding="utf-8").splitlines())
    return [
        (sense, towns.split(", ")) for sense, parted, towns in lines if parted and sense[0] != "#"
    ]


def _towns() -> Iterator[str]:
    """Towns, counties, states and countries; states by their two letters, too."""
    for sense, towns in place_lines():
        yield lexical_key(sense.partition(".")[0])
        yield from (town.removesuffix("*") for town in towns)
    yield from tomllib.loads(STATES.read_text(encoding="utf-8"))


def _latin_names(names: Any, shortest: int) -> Iterator[str]:
    """The names as they look and with umlauts spelt out; faker lists them, some with weights."""
    # Some of faker's entries of that name are methods.
    for name in names if isinstance(names, Iterable) else ():
        for spelt in {name.lower(), name.lower().translate(_UMLAUTS)}:
            found = _LATIN_NAME.findall(fold(spelt)[0])
            yield from (part for part in found if len(part) >= shortest)


def _join(first: Mapping[str, float], last: Mapping[str, float], wordnet: Path) -> NameLists:
    towns = frozenset(_towns())
    counts, topics = _read_senses(wordnet / "index.sense")
    pairs = [lemma for lemma in topics if lemma.count("_") == 1]
    names = first.keys() | last.keys()
    lists = NameLists(
        first=first,
        last=last,
        common_words={**_irregular_forms(wordnet, counts), **counts},
        name_only=frozenset(lemma for lemma, about in topics.items() if about == _PERSON),
        places=frozenset(
            lemma for lemma, about in topics.items() if about & _PLACE and not about & _OTHER
        ),
        towns=towns,
        phrases=frozenset(
            lemma.replace("_", " ")
            for lemma in pairs
            if not topics[lemma] & _PERSON or _namesakes(lemma, first, last) < MOST_NAMESAKES
        )
        .union(phrase for phrase in read_list(PHRASES) if phrase.count(" ") == 1)
        .union(town for town in towns if town.endswith(COUNTIES)),
        other_words=frozenset(words_in_use()) - counts.keys() - names,
        abroad=frozenset(fold(word)[0] for word in words_abroad(COMMON_ABROAD)) - names,
        shapes=_shapes(),
        **_family_first(),
    )
    return replace(lists, look_alikes=frozenset(_look_alikes(lists)))


def _look_alikes(lists: NameLists) -> Iterator[str]:
    """Usual words that would be taken for names by their spelling."""
    usual = frequent_words(word_list(), USUAL_HERE) | words_abroad(USUAL_ABROAD)
    spelt = filter(_LATIN_NAME.fullmatch, {fold(word)[0] for word in usual})
    return filter(lists.is_spelt_like_name, spelt)


def _namesakes(lemma: str, first: Mapping[str, float], last: Mapping[str, float]) -> float:
    """How many Americans bear this first name and surname, if the two were independent."""
    given, family = lemma.split("_")
    # Shares of first names are counted among men or women, hence the half.
    return AMERICANS / 2 * first.get(given, 0.0) / 100 * last.get(family, 0.0) / 100


def _read_census(path: Path) -> dict[str, float]:
    """Percent of people by name."""
    lines = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {name.lower(): max(float(share), SMALLEST_SHARE) for name, share, *_ in lines}


def _read_senses(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """For each lemma how often its senses were tagged in a corpus, and what they are about."""
    counts: dict[str, int] = {}
    topics: dict[str, int] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        lemma, _, sense = line.partition("%")
        counts[lemma] = counts.get(lemma, 0) + int(sense[sense.rindex(" ") :])
        topics[lemma] = topics.get(lemma, 0) | _ABOUT.get(sense[:4], _OTHER)
    return counts, topics


def _irregular_forms(wordnet: Path, counts: Mapping[str, int]) -> dict[str, int]:
    """Irregular plurals and verb forms with the counts of their lemmas: *came*, *children*."""
    lines = [
        line.split()
        for part in ("noun", "verb")
        for line in (wordnet / f"{part}.exc").read_text(encoding="ascii").splitlines()
    ]
    return {form: counts.get(base, 0) for form, base, *_ in lines}
