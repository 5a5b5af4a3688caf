"""Terms beyond WordNet: the reviewed lists of this package, and towns, drugs and words of others.

Towns are those of `phonenumbers` (US and Canada; each stands for its state), drugs those of
`drug-named-entity-recognition` (each stands for the substance WordNet knows, or for *drug*), words
in use those of `symspellpy`. To read the packages takes two seconds, so what is needed of them is
compiled; the reviewed lists are small and read every time.
"""

from __future__ import annotations

import bz2
import io
import pickle
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks.adapters.detection.name_lists import name_sources, read_phrases
from tasks.adapters.public_data import (
    Fields,
    Sources,
    compiled,
    package_folder,
    word_frequencies,
    words_in_use,
)
from tasks.adapters.wordnet import WordNet, wordnet_sources
from tasks.core.detection.lexicon import Lexicon, Silence, Terms, lexical_key
from tasks.core.detection.name_lists import NameLists
from tasks.core.detection.topics import TopicMap
from tasks.core.records import Flags
from tasks.core.taxonomy import NO_CONCEPT

DATA: Final = Path(__file__).parent / "data"
WORDS: Final = DATA / "words.toml"
STATES: Final = DATA / "states.toml"
ANY_DRUG: Final = "drug.n.01"
_TOWN: Final = re.compile(r"[a-z][a-z ]{3,}")
_DRUG: Final = re.compile(r"[a-z]{5,16}")
SHORTEST_WITH_PLURAL: Final = 3
PERSONS: Final = ("person.n.01", "deity.n.01")
PLACES: Final = ("location.n.01", "land.n.04", "body_of_water.n.01", "geological_formation.n.01")
DAYS: Final = ("time_period.n.01",)
RATHER_NAME: Final = 5.0
"""Odds from which on a word of the dictionary is rather somebody's name: *mark*, *frank*."""
COMMONEST: Final = 3000
"""A town whose words are all among so many commonest words may be anything: *college station*."""


def load_terms(wordnet: WordNet, topics: TopicMap, names: NameLists, store: Path) -> Terms:
    """All that is known about words; what packages know of them is compiled in the store."""
    sources = term_sources(wordnet.version)
    fields = compiled(store, "terms", sources, lambda: compile_terms(wordnet.lexicon, names))
    return terms_from(fields, wordnet, topics, names)


def term_sources(wordnet_version: str) -> Sources:
    """What decides the compilation of towns, drugs and words: also WordNet and the name lists."""
    return Sources(
        code=(__name__,),
        files=(STATES, _geodata(), _drug_file(), word_frequencies()),
        versions=(wordnet_sources(wordnet_version).key, name_sources().key),
    )


def compile_terms(lexicon: Lexicon, names: NameLists) -> Fields:
    """Towns and drugs with their concepts, which of them are weak, and other words in use."""
    words = words_in_use()
    common = frozenset(words[:COMMONEST])
    all_towns = dict(_towns(lexicon))
    towns = {key: concept for key, concept in all_towns.items() if not _is_word(key, lexicon)}
    drugs = {
        key: concept
        for key, concept in _drugs(lexicon)
        if not (_is_word(key, lexicon) or key in towns or names.is_name(key))
    }
    weak = sorted(key for key in towns if names.is_name(key) or common.issuperset(key.split()))
    found = sorted({**drugs, **towns}.items())
    return {
        "keys": np.array([key for key, _ in found], dtype=object),
        "concepts": np.array([concept for _, concept in found], dtype=np.int32),
        "towns": np.array(sorted(all_towns), dtype=object),
        "states": np.array([all_towns[town] for town in sorted(all_towns)], dtype=np.int32),
        "weak": np.array(weak, dtype=object),
        "known": np.array(sorted(set(words) - lexicon.index.keys()), dtype=object),
        "names": np.array(sorted(_rather_names(lexicon, names)), dtype=object),
    }


def _rather_names(lexicon: Lexicon, names: NameLists) -> Iterator[str]:
    """Words of the dictionary that are names more often than anything else."""
    for word in names.first.keys() | names.last.keys():
        odds = max(names.first_odds(word), names.last_odds(word))
        if odds >= RATHER_NAME and word in lexicon.index:
            yield word


def terms_from(packaged: Fields, wordnet: WordNet, topics: TopicMap, names: NameLists) -> Terms:
    """Terms from their compiled fields and the reviewed lists, with bits of these topics."""
    lists = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    lexicon, taxonomy = wordnet.lexicon, wordnet.taxonomy
    bits = {name: 1 << bit for bit, name in enumerate(topics.names)}
    weak = _branches(lists["weak"]["roots"], wordnet)
    persons, places, days = (_branches(roots, wordnet) for roots in (PERSONS, PLACES, DAYS))
    found = dict(zip(packaged["keys"].tolist(), packaged["concepts"].tolist(), strict=True))
    return Terms(
        concepts=found | dict(_reviewed_concepts(lists["concepts"], lexicon)),
        phrases=frozenset(read_phrases()),
        harmless=frozenset(lists["harmless"]["words"].split()),
        weak=frozenset(lists["weak"]["words"].split()) | frozenset(packaged["weak"].tolist()),
        weak_concepts=frozenset(np.flatnonzero(weak & ~taxonomy.instances).tolist()),
        support=_support(lists["support"], bits),
        persons=frozenset(np.flatnonzero(persons & taxonomy.instances).tolist()),
        places_and_days=frozenset(np.flatnonzero((places & taxonomy.instances) | days).tolist()),
        brands=frozenset(lists["doubtful"]["words"].split()),
        certain=frozenset(lists["certain"]["words"].split()),
        names=frozenset(packaged["names"].tolist()),
        named=frozenset(np.flatnonzero(taxonomy.instances).tolist()),
        towns=dict(zip(packaged["towns"].tolist(), packaged["states"].tolist(), strict=True)),
        silences=tuple(_silence(entry, bits) for entry in lists["silence"]),
        known=(frozenset(packaged["known"].tolist()), found, names.first, names.last),
    )


def _branches(roots: Sequence[str], wordnet: WordNet) -> Flags:
    own = [concept_of(root, wordnet.lexicon) for root in roots]
    return wordnet.taxonomy.branches(np.array(own, dtype=np.int32))


def concept_of(name: str, lexicon: Lexicon) -> int:
    """The concept of a sense such as ``std.n.01``, of any of its lemmas; NO_CONCEPT if none."""
    lemma, pos, number = name.rsplit(".", 2)
    senses = lexicon.senses(lexical_key(lemma), "n" if pos == "n" else "v")
    return int(senses[int(number) - 1]) if len(senses) >= int(number) else NO_CONCEPT


def _reviewed_concepts(lists: Mapping[str, str], lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    for name, words in lists.items():
        concept = concept_of(name, lexicon)
        for key in map(lexical_key, words.split(",")):
            yield key, concept
            if len(key) >= SHORTEST_WITH_PLURAL and not key.endswith("s"):
                yield f"{key}s", concept


def _support(lists: Mapping[str, str], bits: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for topic, words in lists.items():
        for word in words.split():
            found[word] = found.get(word, 0) | bits.get(topic, 0)
    return found


def _silence(entry: Mapping[str, Any], bits: Mapping[str, int]) -> Silence:
    topics = sum(bits.get(topic, 0) for topic in entry["topics"])
    unless = frozenset(entry.get("unless", "").split())
    return Silence(frozenset(entry["cues"].split()), topics, unless)


def _is_word(key: str, lexicon: Lexicon) -> bool:
    forms = (lexicon.base(key, "n"), lexicon.base(key, "v"))
    return key in lexicon.index or any(form is not None for form in forms)


def _towns(lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Towns of the US and Canada; of one name the town with the most telephones comes last."""
    states = tomllib.loads(STATES.read_text(encoding="utf-8"))
    concepts = {code: concept_of(name, lexicon) for code, name in states.items()}
    places = _places_of_phone_numbers()
    for place in sorted(places, key=lambda place: (places[place], place)):
        town, _, state = place.rpartition(", ")
        key = lexical_key(town)
        if state.lower() in concepts and _TOWN.fullmatch(key):
            yield key, concepts[state.lower()]


def _places_of_phone_numbers() -> Counter[str]:
    """The places of North American numbers, such as ``Plano, TX``, by number of prefixes."""
    from phonenumbers.geodata import GEOCODE_DATA

    own = (texts for prefix, texts in GEOCODE_DATA.items() if prefix.startswith("1"))
    return Counter(texts["en"] for texts in own if "en" in texts)


def _drugs(lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Names of drugs and brands, with the substance if WordNet knows it."""
    any_drug = concept_of(ANY_DRUG, lexicon)
    with bz2.open(_drug_file()) as packed:
        names = _PlainPickle(io.BytesIO(packed.read())).load()["drug_variant_to_canonical"]
    for name, substances in names.items():
        if _DRUG.fullmatch(name):
            senses = lexicon.senses(lexical_key(substances[0]), "n")
            yield name, int(senses[0]) if len(senses) else any_drug


class _PlainPickle(pickle.Unpickler):
    """Reads texts, numbers, lists and dictionaries; whatever would run code is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError("the list of drugs holds more than data")


def _geodata() -> Path:
    return package_folder("phonenumbers") / "geodata" / "__init__.py"


def _drug_file() -> Path:
    return package_folder("drug_named_entity_recognition") / "drug_ner_dictionary.pkl.bz2"
