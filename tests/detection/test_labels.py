"""The labelled queries are sound, and the scores are what their definition says."""

from __future__ import annotations

import math

import pytest

from tasks.adapters.detection.terms import concept_of
from tasks.adapters.wordnet import WordNet
from tests.detection.labels import NEUTRAL, SPLITS, TOPICS, Label, LabelledQuery, parse, read_split
from tests.detection.scores import Finding, Share, judge, scores

QUERIES = {split: read_split(split) for split in SPLITS}


def test_a_line_is_a_query_with_its_labels() -> None:
    query = parse("[diabetis|health|diabetes.n.01] diet of [jane roe|name] [maybe|?]", "style")
    assert query.text == "diabetis diet of jane roe maybe"
    assert query.labels == (
        Label(0, 8, "health", "diabetes.n.01"),
        Label(17, 25, "name"),
        Label(26, 31, NEUTRAL),
    )
    for wrong in ("[a|nothing]", "[a|name", "a|b"):
        with pytest.raises(ValueError, match=r"no kind|not closed"):
            parse(wrong, "")


def test_there_are_enough_queries_and_the_splits_share_next_to_none() -> None:
    texts = {split: {query.text for query in own} for split, own in QUERIES.items()}
    assert min(len(texts["dev"]), len(texts["test"])) >= 500
    assert len(texts["dev"] & texts["test"]) <= 10


@pytest.mark.parametrize("split", SPLITS)
def test_every_concept_label_names_a_sense_of_wordnet(wordnet: WordNet, split: str) -> None:
    names = set(wordnet.taxonomy.names.tolist())
    for query in QUERIES[split]:
        for label in query.labels:
            assert bool(label.concept) == (label.kind in TOPICS.values()), query.text
            known = label.concept in names or not label.concept
            assert known or concept_of(label.concept, wordnet.lexicon) >= 0, label.concept


def test_scores_by_hand() -> None:
    query = LabelledQuery("jane roe lung cancer 90210 x", (), "")
    labels = (Label(0, 8, "name"), Label(9, 20, "health", "x"), Label(21, 26, "zip"))
    query = LabelledQuery(query.text, (*labels, Label(27, 28, NEUTRAL)), "")
    findings = [
        Finding(0, 4, "name"),  # only half of the name is hidden: right, but the label is missed
        Finding(14, 20, "crime"),  # touches a concept: found, under another topic
        Finding(21, 26, "account"),  # hidden, as another kind
        Finding(27, 28, "place"),  # neutral: does not count
    ]
    found = scores([judge(query, findings)])
    assert (found["name"].recall, found["name"].precision) == (Share(0, 1), Share(1, 1))
    assert (found["health"].recall, found["crime"].precision) == (Share(1, 1), Share(1, 1))
    assert (found["zip"].recall, found["zip"].kind_agreed) == (Share(1, 1), Share(0, 1))
    assert found["= overall"].precision == Share(3, 3)
    assert math.isnan(found["email"].recall.value)


def test_a_finding_on_nothing_is_wrong() -> None:
    found = scores([judge(LabelledQuery("green tea", (), ""), [Finding(0, 9, "name")])])
    assert found["= names"].precision == Share(0, 1)


def test_wilson_interval_of_nine_in_ten() -> None:
    low, high = Share(9, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
