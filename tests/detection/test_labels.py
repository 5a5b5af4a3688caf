"""The labelled queries are sound, and the scores are what their definition says."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path

import pytest

from tasks.adapters.detection.terms import concept_of
from tasks.adapters.wordnet import WordNet
from tests.detection.__main__ import main
from tests.detection.labels import (
    FOLDER,
    NEUTRAL,
    SPLITS,
    TOPICS,
    Label,
    LabelledQuery,
    parse,
    read_labels,
    read_split,
)
from tests.detection.scores import Finding, Share, judge, overlooked, scores

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


def test_a_file_of_labels_is_read_in_either_form(tmp_path: Path) -> None:
    lines = tmp_path / "own.txt"
    lines.write_text("## style\n# a comment\n[Jane Roe|name] [gay|sex]\n", encoding="utf-8")
    as_json = tmp_path / "own.jsonl"
    as_json.write_text(
        '{"text": "Jane Roe gay", "labels": [[0, 8, "name"], {"start": 9, "end": 12, "kind": '
        '"Sex life and orientation"}]}\n\n{"query": "madonna", "spans": [[0, 7, "namec"]]}\n'
        '{"text": "green tea"}\n',
        encoding="utf-8",
    )
    labels = (Label(0, 8, "name"), Label(9, 12, "sex life and orientation"))
    assert [query.labels for query in read_labels(lines)] == [labels]
    assert [query.labels for query in read_labels(as_json)] == [labels, (Label(0, 7, NEUTRAL),), ()]
    assert read_labels(as_json)[0].text == "jane roe gay"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"text": "secret words", "labels": [[0, 99, "name"]]}', "not within the text"),
        ('{"text": "secret words", "labels": [[0, 6, "nym"]]}', "no kind 'nym'; known are"),
        ('{"text": "secret words", ', "is no JSON"),
        ('{"labels": []}', "no text"),
        ("[secret words|name", "not closed"),
    ],
)
def test_a_fault_in_a_file_of_labels_tells_its_line_and_no_text(
    tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "own.jsonl"
    first = '{"text": "a"}' if content.startswith("{") else "a"
    path.write_text(f"{first}\n{content}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=reason) as raised:
        read_labels(path)
    assert "line 2" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_the_strangers_set_is_large_and_every_topic_has_ten_labels() -> None:
    queries = read_labels(FOLDER / "strangers.txt")
    counts = Counter(label.kind for query in queries for label in query.labels)
    assert len({query.text for query in queries}) >= 500
    assert min(counts[topic] for topic in TOPICS.values()) >= 10
    assert all(": " in query.style for query in queries), "source and licence: in the heading"


def test_queries_overlooked_by_hand() -> None:
    health = LabelledQuery(
        "lung cancer plano", (Label(0, 11, "health"), Label(12, 17, "place")), ""
    )
    tea = LabelledQuery("green tea madonna", (Label(10, 17, NEUTRAL),), "")
    found = overlooked(
        [
            (health, [Finding(12, 17, "place")]),
            (health, [Finding(11, 12, "place")]),  # touches neither
            (tea, [Finding(10, 17, "name")]),  # both answers are right
            (tea, [Finding(0, 5, "politics")]),
        ]
    )
    assert found.nothing_found == {"": Share(1, 2), "health": Share(1, 2), "place": Share(1, 2)}
    assert found.innocent_marked == Share(1, 2)


def test_the_command_tells_totals_and_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"text": "cancer zanzibar", "labels": [[0, 6, "health"]]}\n', encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tests.detection", "--labels", str(path), "--json"])
    main()
    told = capsys.readouterr().out
    assert "zanzibar" not in told
    totals = json.loads(told)
    assert totals["health"] == {
        **{"recall": 1.0, "precision": 1.0, "hits": 1, "labels": 1, "findings": 1}
    }
    assert (totals["concepts"]["precision"], totals["concepts"]["findings"]) == (0.5, 2)
    assert (totals["nothing_found"], totals["innocent_marked"]) == (0.0, None)
