"""The clauses of the law, and that what is said to answer each of them exists."""

from __future__ import annotations

import string
import tomllib
from typing import Any

import pytest

from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.detection.identifiers import KINDS
from tests.detection.__main__ import STORE
from tests.detection.labels import FOLDER, read_labels
from tests.detection.scores import Share, judge, scores
from tests.detection.systems import SYSTEMS

CLAUSES: list[dict[str, Any]] = tomllib.loads(
    DEFAULT_TOPICS.with_name("law.toml").read_text(encoding="utf-8")
)["clause"]
TOPICS = {topic.name: topic for topic in read_topics(DEFAULT_TOPICS)}
HIPAA = "HIPAA 45 CFR 164.514(b)(2)(i)"


def test_all_eighteen_identifiers_of_hipaa_and_all_categories_of_article_9_are_there() -> None:
    letters = [c["law"].removeprefix(HIPAA) for c in CLAUSES if c["law"].startswith(HIPAA)]
    assert letters == [f"({letter})" for letter in string.ascii_uppercase[:18]]
    said = " ".join(c["says"] for c in CLAUSES if c["law"].startswith("GDPR Art. 9(1)"))
    for category in (
        *("racial or ethnic origin", "political opinions", "religious or philosophical beliefs"),
        *("trade union membership", "genetic data", "biometric data", "data concerning health"),
        *("sex life", "sexual orientation"),
    ):
        assert category in said


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda c: c["says"])
def test_every_clause_is_answered_or_does_not_apply_for_a_reason(clause: dict[str, Any]) -> None:
    answered = bool(clause.get("recognisers") or clause.get("roots") or clause.get("named"))
    assert answered != bool(clause.get("not_applicable"))
    assert set(clause.get("recognisers", ())) <= set(KINDS)
    topics = [TOPICS[name] for name in clause.get("topics", ())]
    for key in ("roots", "named"):
        assert set(clause.get(key, ())) <= {root for t in topics for root in getattr(t, key)}


def test_every_topic_and_every_recogniser_answers_a_clause() -> None:
    assert {name for c in CLAUSES for name in c.get("topics", ())} == set(TOPICS)
    assert {kind for c in CLAUSES for kind in c.get("recognisers", ())} == set(KINDS)


def test_every_clause_tells_its_recall_on_the_strangers_set() -> None:
    queries = read_labels(FOLDER / "strangers.txt")
    ours = SYSTEMS["ours"](STORE)
    found = scores(judge(query, ours(query.text)) for query in queries)
    for clause in CLAUSES:
        if "not_applicable" not in clause:
            kinds = {*clause.get("topics", ()), *clause.get("recognisers", ())}
            own = [score.recall for kind, score in found.items() if kind in kinds]
            recall = Share(sum(share.hits for share in own), sum(share.total for share in own))
            told = (
                f"{recall.value:.2f} of {recall.total} labels" if recall.total else "not measured"
            )
            assert clause["recall"] == told, clause["says"]


def test_every_topic_about_deeds_holds_verbs() -> None:
    deeds = ("health", "religion", "politics", "sex life and orientation", "crime")
    for name in (*deeds, "money troubles", "ethnicity"):
        assert any(".v." in root for root in TOPICS[name].roots), name


def test_wordnet_has_every_root(wordnet: WordNet) -> None:
    known = set(wordnet.taxonomy.names.tolist())
    assert {root for t in TOPICS.values() for root in (*t.roots, *t.named)} <= known
