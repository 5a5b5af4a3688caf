"""The text pipeline: tokens, multi-words, senses, scope, identifiers, a trained pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.pipeline import build_pipeline
from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.choices import Scope
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.readings import IDENTIFIER_CONCEPT, normalise
from tasks.core.detection.topics import TopicMap, map_topics
from tasks.errors import UsageError
from tests.helpers.readings import attribute_finder, read_items


class Reader:
    """Reads single queries with a pipeline of its own."""

    def __init__(self, wordnet: WordNet, topics: TopicMap, scope: Scope, model: str | None) -> None:
        self.names = wordnet.taxonomy.names
        finder = attribute_finder(wordnet, topics, scope)
        self.nlp = build_pipeline(load_identifier_finder(), finder, model)

    def __call__(self, query: str) -> dict[str, str]:
        """What the words of a query stand for: a concept, ``identifier``, or nothing."""
        (items,) = read_items(self.nlp, [normalise(query)])
        found = {}
        for item in items:
            named = self.names[item.concept] if item.concept >= 0 else ""
            found[item.words] = "identifier" if item.concept <= IDENTIFIER_CONCEPT else named
        return found


@pytest.fixture(scope="module")
def topics(wordnet: WordNet) -> TopicMap:
    return map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)


@pytest.fixture(scope="module")
def sensitive(wordnet: WordNet, topics: TopicMap) -> Reader:
    return Reader(wordnet, topics, "sensitive", None)


@pytest.fixture(scope="module")
def everything(wordnet: WordNet, topics: TopicMap) -> Reader:
    return Reader(wordnet, topics, "all", None)


@pytest.mark.parametrize(
    ("query", "words", "concept"),
    [
        ("heart attacks in men", "heart attacks", "heart_attack.n.01"),
        ("hotels new york city", "new york city", "new_york.n.01"),
        ("Alzheimer's disease", "alzheimers disease", "alzheimer's_disease.n.01"),
        ("alzheimers disease", "alzheimers disease", "alzheimer's_disease.n.01"),
        ("ill-health", "ill health", "ill_health.n.01"),
        ("how to tell my family i am gay", "gay", "homosexual.n.01"),
        ("hiv test results", "hiv", "hiv.n.01"),
        ("catholic church membership", "catholic church", "catholic_church.n.01"),
        ("pneumonia treatment", "pneumonia", "pneumonia.n.01"),
        ("marijuana", "marijuana", "cannabis.n.02"),
    ],
)
def test_sensitive_attributes(sensitive: Reader, query: str, words: str, concept: str) -> None:
    assert sensitive(query)[words] == concept


@pytest.mark.parametrize("query", ["yahoo mail", "used car dealer", "how to fix a bicycle"])
def test_harmless_words_are_no_sensitive_attributes(sensitive: Reader, query: str) -> None:
    assert not any(sensitive(query).values())


def test_scope_all_takes_nouns_and_verbs_but_no_stop_words(everything: Reader) -> None:
    found = everything("how to buy a cheap bicycle in the rain")
    assert {word for word, concept in found.items() if concept} == {"buy", "bicycle", "rain"}


def test_a_longer_multi_word_hides_its_parts(sensitive: Reader, everything: Reader) -> None:
    # *used car* is a lemma that is not sensitive, so neither word is looked at by itself.
    assert sensitive("used car") == {"used": "", "car": ""}
    assert everything("used car") == {"used car": "used-car.n.01"}


def test_identifiers_cut_the_query(sensitive: Reader) -> None:
    found = sensitive("lung cancer mail jane@example.org heart attack")
    assert found["lung cancer"] == "lung_cancer.n.01"
    assert found["heart attack"] == "heart_attack.n.01"
    assert found["jane exampleorg"] == "identifier"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("myspace.com", ["myspace"]),
        ("http://www.ebay.com/ login", ["ebay", "login"]),
        ("google.com mail.yahoo.com", ["google", "yahoo"]),
        ("www bed-bath.com", ["bed bath"]),
        ("www.google.com johnsmith.com", ["google", "johnsmithcom"]),
    ],
)
def test_a_domain_is_read_as_its_label(everything: Reader, query: str, words: list[str]) -> None:
    found = everything(query)
    assert list(found) == words
    assert [word for word in words if found[word] == "identifier"] == [
        word for word in words if word.endswith("com")
    ]


def test_identifiers_side_by_side_keep_their_kinds(sensitive: Reader) -> None:
    ((name, code),) = read_items(sensitive.nlp, ["jennifer lawson 90210"])
    kinds = [KINDS[IDENTIFIER_CONCEPT - item.concept] for item in (name, code)]
    assert kinds == ["name", "zip"]


@pytest.mark.parametrize(("query", "doubt"), [("protest", True), ("pneumonia", False)])
def test_a_rarer_sensitive_sense_is_marked_as_doubtful(
    sensitive: Reader, query: str, doubt: bool
) -> None:
    ((item,),) = read_items(sensitive.nlp, [query])
    assert item.in_doubt is doubt


def test_order_and_case_do_not_matter(sensitive: Reader) -> None:
    assert sensitive("Lung CANCER cure") == sensitive("lung cancer   cure")


@given(st.text(max_size=60))
def test_no_text_makes_the_pipeline_fail(sensitive: Reader, text: str) -> None:
    assert all(words.strip() for words in sensitive(text))


@given(st.text(max_size=60))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_a_trained_pipeline_is_used_where_it_is_named(
    wordnet: WordNet, topics: TopicMap, tmp_path: Path
) -> None:
    trained = spacy.blank("en")
    ruler = trained.add_pipe("entity_ruler")
    people = ("zaphod pelletier", "green tea", "zaphod")
    ruler.add_patterns([{"label": "PERSON", "pattern": person} for person in people])
    tags = trained.add_pipe("attribute_ruler")
    tags.add(patterns=[[{"LOWER": "cure"}]], attrs={"POS": "VERB"})
    trained.to_disk(tmp_path / "model")
    reader = Reader(wordnet, topics, "sensitive", str(tmp_path / "model"))
    found = reader("how to cure cancer zaphod pelletier")
    assert found["zaphod pelletier"] == "identifier"
    assert found["cure"] == "bring_around.v.02"
    # Only where our own lists agree: a model takes much of what has no capitals for a person.
    assert "identifier" not in reader("green tea by zaphod").values()


def test_a_missing_pipeline_is_a_clear_error(wordnet: WordNet, topics: TopicMap) -> None:
    with pytest.raises(UsageError, match="not installed"):
        Reader(wordnet, topics, "sensitive", "en_no_such_model")


def test_topics_name_every_missing_root(wordnet: WordNet, tmp_path: Path) -> None:
    path = tmp_path / "topics.toml"
    path.write_text('[[topic]]\nname = "t"\nlaw = ""\nroots = ["nope.n.01", "disease.n.01", "x"]\n')
    with pytest.raises(UsageError) as caught:
        map_topics(read_topics(path), wordnet.taxonomy)
    assert "nope.n.01" in str(caught.value)
    assert "'x'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[topic", "not valid TOML"),
        ("", "holds no"),
        ("topic = 3", "holds no"),
        ("[[topic]]\nname = 1", "name must be a text"),
        ('[[topic]]\nname = "a"\nlaw = "b"\nroots = []', "roots must be a list"),
    ],
)
def test_faulty_topic_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "topics.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_topics(tmp_path / "topics.toml")


def test_the_shipped_topics_name_a_law_each() -> None:
    assert all(topic.law for topic in read_topics(DEFAULT_TOPICS))
