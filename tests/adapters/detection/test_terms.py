"""Terms beyond WordNet: that the reviewed lists are sound, and what they make of queries."""

from __future__ import annotations

import itertools
import pickle
import tomllib
from io import BytesIO
from pathlib import Path

import pytest

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.name_lists import PHRASES, STATES, load_name_lists, read_list
from tasks.adapters.detection.pipeline import build_pipeline
from tasks.adapters.detection.terms import WORDS, _PlainPickle, concept_of, load_terms
from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.detection.lexicon import lexical_key
from tasks.core.detection.topics import TopicMap, map_topics
from tasks.runtime.fingerprint import code_of
from tests.helpers.readings import STORE, attribute_finder, read_items

LISTS = tomllib.loads(WORDS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def topics(wordnet: WordNet) -> TopicMap:
    return map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)


def test_every_concept_of_the_lists_exists_and_is_sensitive(
    wordnet: WordNet, topics: TopicMap
) -> None:
    states = tomllib.loads(STATES.read_text(encoding="utf-8"))
    for name in (*LISTS["concepts"], *states.values()):
        concept = concept_of(name, wordnet.lexicon)
        assert concept >= 0, name
        assert topics.masks[concept], name


def test_every_topic_of_the_lists_exists(topics: TopicMap) -> None:
    named = {*LISTS["support"], *(topic for own in LISTS["silence"] for topic in own["topics"])}
    assert named <= set(topics.names)


def test_no_word_is_both_harmless_and_something_else() -> None:
    harmless = set(LISTS["harmless"]["words"].split())
    assert not harmless & set(LISTS["weak"]["words"].split())
    concepts = {key for words in LISTS["concepts"].values() for key in words.split(", ")}
    assert not harmless & concepts
    assert not concepts & set(read_list(PHRASES))


def test_phrases_are_multi_words() -> None:
    assert all(phrase == lexical_key(phrase) and " " in phrase for phrase in read_list(PHRASES))


@pytest.mark.parametrize("path", sorted(WORDS.parent.iterdir()), ids=lambda path: path.name)
def test_every_list_names_its_source_and_licence(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    head = "\n".join(itertools.takewhile(lambda line: line.startswith("#"), lines))
    licences = (
        "CC BY 4.0",
        "MIT",
        "Apache-2.0",
        "public domain",
        "facts, free",
        "WordNet 3.0",
        "the law",
    )
    assert any(licence in head for licence in licences) or "Reviewed by hand" in head


def test_lists_are_part_of_what_decides_kept_results() -> None:
    counted = {file.parent / "data" for file in code_of("tasks.phases.analyse")}
    assert {list.parent for list in (WORDS, STATES, PHRASES, DEFAULT_TOPICS)} <= counted


def test_what_would_run_code_is_not_read() -> None:
    with pytest.raises(pickle.UnpicklingError):
        _PlainPickle(BytesIO(pickle.dumps(Path))).load()


def test_places_and_drugs_come_from_lists(wordnet: WordNet, topics: TopicMap) -> None:
    terms = load_terms(wordnet, topics, load_name_lists(STORE), STORE)
    names = wordnet.taxonomy.names
    assert names[terms.concepts["murfreesboro"]] == "tennessee.n.01"
    assert names[terms.concepts["ghaziabad"]] == "india.n.01"
    assert names[terms.concepts["arlington county"]] == "virginia.n.01"
    assert names[terms.concepts["orange county"]] == "united_states.n.01"
    assert "reading" in terms.towns
    assert names[terms.concepts["lexapro"]] == "drug.n.01"
    assert "grants" not in terms.concepts
    # Rather a car or a baseball team, unless something speaks for the town.
    assert "toyota" in terms.weak
    assert "boston" in terms.weak


@pytest.fixture(scope="module")
def found(wordnet: WordNet, topics: TopicMap) -> object:
    nlp = build_pipeline(
        load_identifier_finder(STORE), attribute_finder(wordnet, topics, "sensitive")
    )

    def words(query: str) -> set[str]:
        (items,) = read_items(nlp, [query])
        return {item.words for item in items if item.concept >= 0}

    return words


@pytest.mark.parametrize(
    ("query", "sensitive"),
    [
        ("diabetis diet", {"diabetis"}),
        ("bi-polar support group", {"bi polar"}),
        ("stds list", {"stds"}),
        ("pregnant at 43", {"pregnant"}),
        ("how to convert to islam", {"convert", "islam"}),
        ("how to convert cd to mp3", set()),
        ("liver cirrhosis", {"liver", "cirrhosis"}),
        ("liver and onions", set()),
        ("ms symptoms", {"ms", "symptoms"}),
        ("ms word", set()),
        ("killing me softly lyrics", set()),
        ("reading pa", {"reading", "pa"}),
        ("reading glasses", set()),
        ("probation officer salary", {"probation"}),
        ("german shepherd puppies", set()),
        ("german immigrants", {"german", "immigrants"}),
        ("prison break episodes", set()),
        ("federal prison", {"prison"}),
        ("aaron", set()),
        ("city park", set()),
        ("zoloft withdrawal", {"zoloft"}),
        ("jobs in boston", {"boston"}),
        ("boston market menu", set()),
        ("mi jail", {"jail"}),
        ("troy mi", {"troy", "mi"}),
        ("bend or", {"bend", "or"}),
        ("toyota", set()),
        ("hotels in toyota", {"toyota"}),
        ("63 year old man", {"63 year old", "man"}),
        ("turning 65 medicare", {"turning 65"}),
        ("50th birthday gifts", {"50th birthday"}),
        ("turn 90 degrees", set()),
        ("dating women over 40", {"women over 40"}),
        ("freegaychat", set()),
        ("gaychat", {"gaychat"}),
        ("pansexuals", {"pansexuals"}),
        ("www.pornvids.com", {"pornvids"}),
        ("www.circuitcity.com", set()),
        ("middlesex county college", {"middlesex county"}),
        ("strip club near me", {"strip club"}),
        ("how do americans see germans", {"americans", "germans"}),
        ("i am german", {"german"}),
        ("danish furniture", set()),
        ("korean women", {"korean", "women"}),
        ("cholangioptosis", {"cholangioptosis"}),
        ("athletes foot", {"athletes foot"}),
        ("congressional hearing", {"congressional"}),
        ("jackson county", {"jackson county"}),
        ("jefferson parish", {"jefferson parish"}),
        ("use a word in a sentence", set()),
        ("best work done in india", {"india"}),
        ("what is done in", set()),
        ("wastewater treatment", set()),
        ("ovarian cancer treatment", {"treatment"}),
        ("stretch marks", {"stretch marks"}),
    ],
)
def test_the_query_decides_what_its_words_mean(
    found: object, query: str, sensitive: set[str]
) -> None:
    assert callable(found)
    assert found(query) >= sensitive
    assert bool(found(query)) == bool(sensitive)


def test_what_is_no_topic_of_the_user_is_no_attribute(wordnet: WordNet, tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text('[[topic]]\nname = "own"\nlaw = ""\nroots = ["pain.n.01"]\n')
    own = map_topics(read_topics(path), wordnet.taxonomy)
    nlp = build_pipeline(load_identifier_finder(STORE), attribute_finder(wordnet, own, "sensitive"))
    query = "63 year old germans bend or cholangioptosis headache"
    (items,) = read_items(nlp, [query])
    assert [item.words for item in items if item.concept >= 0] == ["headache"]
