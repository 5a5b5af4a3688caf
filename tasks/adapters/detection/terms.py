"""Terms beyond WordNet: the reviewed lists of this package, and places, drugs and words of others.

Places are towns of GeoNames and counties (each stands for its state or country), drugs those of
`drug-named-entity-recognition` (each stands for the substance WordNet knows, or for *drug*), words
in use those of `symspellpy`. To read them takes two seconds, so what is needed of them is compiled;
the reviewed lists are small and read every time.
"""

from __future__ import annotations

import bz2
import io
import pickle
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tasks.adapters.detection.name_lists import (
    COUNTIES,
    DATA,
    PHRASES,
    STATES,
    name_sources,
    place_lines,
    read_list,
)
from tasks.adapters.public_data import (
    Fields,
    Sources,
    compiled,
    package_folder,
    word_frequencies,
    words_in_use,
)
from tasks.adapters.wordnet import WordNet, wordnet_sources
from tasks.core.detection.lexicon import Lexicon, Sense, Silence, Terms, lexical_key
from tasks.core.detection.name_lists import NameLists
from tasks.core.detection.topics import TopicMap
from tasks.core.records import Flags
from tasks.core.taxonomy import NO_CONCEPT

WORDS: Final = DATA / "words.toml"
ADULT: Final = DATA / "adult.txt"
DISEASES: Final = DATA / "diseases.txt"
ANY_DRUG: Final = "drug.n.01"
_DRUG: Final = re.compile(r"[a-z]{5,16}")
SHORTEST_WITH_PLURAL: Final = 3
PERSONS: Final = ("person.n.01", "deity.n.01")
PLACES: Final = ("location.n.01", "land.n.04", "body_of_water.n.01", "geological_formation.n.01")
DAYS: Final = ("time_period.n.01",)
RATHER_NAME: Final = 5.0
"""Odds from which on a word of the dictionary is rather somebody's name: *mark*, *frank*."""
COMMONEST: Final = 3000
"""A town whose words are all among so many commonest words may be anything: *college station*."""
FAMILIAR_SMALL, FAMILIAR_ABROAD = 10_000, 20_000
"""A small or foreign town among so many commonest words is rather these: *cadillac*, *toyota*."""
AGE: Final = "age.n.01"
INHABITANT: Final = "inhabitant.n.01"
INTIMATE: Final = "sex life and orientation"
ADULT_CONCEPT: Final = "pornography.n.01"
DISEASE: Final = "disease.n.01"
ENGLISH_SPEAKING: Final = (
    *("united_kingdom.n.01", "ireland.n.01", "australia.n.01", "new_zealand.n.01"),
)
UNITED_STATES: Final = "united_states.n.01"


def load_terms(wordnet: WordNet, topics: TopicMap, names: NameLists, store: Path) -> Terms:
    """All that is known about words; what packages know of them is compiled in the store."""
    sources = term_sources(wordnet.version)
    fields = compiled(store, "terms", sources, lambda: compile_terms(wordnet.lexicon, names))
    return terms_from(fields, wordnet, topics, names)


def term_sources(wordnet_version: str) -> Sources:
    """What decides the compilation of towns, drugs and words: also WordNet and the name lists."""
    return Sources(
        code=(__name__,),
        files=(STATES, _drug_file(), word_frequencies()),
        versions=(wordnet_sources(wordnet_version).key, name_sources().key),
    )


def compile_terms(lexicon: Lexicon, names: NameLists) -> Fields:
    """Towns and drugs with their concepts, which of them are weak, and other words in use."""
    words = words_in_use()
    states = {concept_of(name, lexicon) for name in _states().values()}
    places = _read_places(lexicon)
    towns = {place.key for place in places if place.concept in states}
    unlisted = {
        place.key: place
        for place in _one_of_each(places, states, lexicon)
        if not _is_word(place.key, lexicon)
    }
    drugs = {
        key: concept
        for key, concept in _drugs(lexicon)
        if not (_is_word(key, lexicon) or key in unlisted or names.is_listed(key))
    }
    home = states | {concept_of(name, lexicon) for name in ENGLISH_SPEAKING}
    ranks = {word: rank for rank, word in enumerate(words)}
    weak = sorted(
        place.key
        for place in unlisted.values()
        if names.is_listed(place.key)
        or (
            all(ranks.get(word, COMMONEST) < COMMONEST for word in place.key.split())
            and not place.key.endswith(COUNTIES)
        )
        or ranks.get(place.key, len(words)) < _familiar(place, home, len(words))
    )
    found = sorted({**drugs, **{key: place.concept for key, place in unlisted.items()}}.items())
    return {
        "keys": np.array([key for key, _ in found], dtype=object),
        "concepts": np.array([concept for _, concept in found], dtype=np.int32),
        "towns": np.array(sorted(towns), dtype=object),
        "large": np.array(sorted({place.key for place in places if place.large}), dtype=object),
        "weak": np.array(weak, dtype=object),
        "known": np.array(sorted(set(words) - lexicon.index.keys()), dtype=object),
        "names": np.array(sorted(_rather_names(lexicon, names)), dtype=object),
    }


def _familiar(place: _Place, home: AbstractSet[int], every: int) -> int:
    """The rank among words from which on a town is rather a town than what else the word means."""
    if place.concept in home:
        return COMMONEST if place.large else FAMILIAR_SMALL
    return FAMILIAR_ABROAD if place.large else every


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
    intimate = (topics.masks & bits.get(INTIMATE, 0)) > 0
    persons, places, days = (_branches(roots, wordnet) for roots in (PERSONS, PLACES, DAYS))
    found = dict(zip(packaged["keys"].tolist(), packaged["concepts"].tolist(), strict=True))
    packaged_lists = ((ADULT_CONCEPT, ADULT), (DISEASE, DISEASES))
    reviewed = (
        *((concept, ",".join(read_list(path))) for concept, path in packaged_lists),
        *lists["concepts"].items(),
    )
    harmless = frozenset(lists["harmless"]["words"].split())
    # A large town that is rather something else is a town beside evidence: *jobs in boston*.
    large = (key for key in packaged["large"].tolist() if len(list(lexicon.bases(key, "n"))) == 1)
    doubtful_towns = harmless.intersection(large)
    return Terms(
        concepts=found | dict(_reviewed_concepts(reviewed, lexicon)),
        phrases=frozenset(read_list(PHRASES)),
        harmless=harmless - doubtful_towns,
        weak=doubtful_towns.union(lists["weak"]["words"].split(), packaged["weak"].tolist()),
        weak_concepts=frozenset(np.flatnonzero(weak & ~taxonomy.instances & ~intimate).tolist()),
        support=_support(lists["support"], bits),
        persons=frozenset(np.flatnonzero(persons & taxonomy.instances).tolist()),
        kinds_of_person=frozenset(np.flatnonzero(persons & ~taxonomy.instances).tolist()),
        places_and_days=frozenset(np.flatnonzero((places & taxonomy.instances) | days).tolist()),
        brands=frozenset(lists["doubtful"]["words"].split()),
        certain=frozenset(lists["certain"]["words"].split()),
        names=frozenset(packaged["names"].tolist()),
        named=frozenset(np.flatnonzero(taxonomy.instances).tolist()),
        towns=frozenset(packaged["towns"].tolist()),
        origins={
            word: Sense(concept_of(INHABITANT, lexicon), in_doubt=False, weak=kind == "adjectives")
            for kind, words in lists["origins"].items()
            for word in words.split()
        },
        age=concept_of(AGE, lexicon),
        disease=concept_of(DISEASE, lexicon),
        intimate=bits.get(INTIMATE, 0),
        people=sum(bits.get(topic, 0) for topic in ("age", "gender")),
        of_people=bits.get("ethnicity", 0),
        state_codes={code: concept_of(name, lexicon) for code, name in _states().items()},
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


def _reviewed_concepts(
    lists: Iterable[tuple[str, str]], lexicon: Lexicon
) -> Iterator[tuple[str, int]]:
    for name, words in lists:
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


class _Place(NamedTuple):
    """A town or county, and the state or country it lies in."""

    key: str
    concept: int
    large: bool


def _states() -> dict[str, str]:
    return tomllib.loads(STATES.read_text(encoding="utf-8"))


def _read_places(lexicon: Lexicon) -> list[_Place]:
    """Towns and counties; of several of one name a large one comes last, else one at home.

    Those at home come first in the file.
    """
    found = [
        _Place(entry.removesuffix("*"), concept_of(sense, lexicon), entry.endswith("*"))
        for sense, towns in reversed(place_lines())
        for entry in towns
    ]
    return sorted(found, key=lambda place: place.large)


def _one_of_each(
    places: Iterable[_Place], states: AbstractSet[int], lexicon: Lexicon
) -> Iterator[_Place]:
    """Each name once: the only large place of that name, else the country of several at home."""
    by_key: dict[str, list[_Place]] = {}
    for place in places:
        by_key.setdefault(place.key, []).append(place)
    united = concept_of(UNITED_STATES, lexicon)
    for own in by_key.values():
        large = {place.concept for place in own if place.large}
        concepts = large or {place.concept for place in own}
        at_home = len(concepts) > 1 and not concepts.isdisjoint(states)
        yield own[-1]._replace(concept=united) if at_home else own[-1]


def _drugs(lexicon: Lexicon) -> Iterator[tuple[str, int]]:
    """Names of drugs and brands, with the substance if WordNet knows it."""
    any_drug = concept_of(ANY_DRUG, lexicon)
    for name, substance in drug_names().items():
        senses = lexicon.senses(lexical_key(substance), "n")
        yield name, int(senses[0]) if len(senses) else any_drug


def drug_names() -> dict[str, str]:
    """Names of drugs and brands, with the substance."""
    with bz2.open(_drug_file()) as packed:
        names = _PlainPickle(io.BytesIO(packed.read())).load()["drug_variant_to_canonical"]
    return {name: every[0] for name, every in names.items() if _DRUG.fullmatch(name)}


class _PlainPickle(pickle.Unpickler):
    """Reads texts, numbers, lists and dictionaries; whatever would run code is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError("the list of drugs holds more than data")


def _drug_file() -> Path:
    return package_folder("drug_named_entity_recognition") / "drug_ner_dictionary.pkl.bz2"
