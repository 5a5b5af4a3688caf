"""Eq. 10–13 against sums written out by hand, on random releases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.measures.cohesion import cluster_cohesion, summarise_cohesion
from tasks.core.measures.information_loss import information_loss
from tasks.core.records import Clusters, RecordTable, Release
from tasks.core.redaction.by_record import publish_each
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy, build_taxonomy
from tests.helpers.random_logs import table_of, tables
from tests.oracles import paper as oracles
from tests.oracles.redaction import form_by_form


def no_topics(taxonomy: Taxonomy) -> TopicMap:
    return TopicMap((), np.zeros(len(taxonomy), dtype=np.uint32))


def one_cluster(table: RecordTable) -> Clusters:
    members = table.set_of >= 0
    return Clusters(
        labels=np.where(members, 0, -1).astype(np.int32),
        suppressed=np.zeros(len(table), dtype=np.bool_),
        centroids=np.flatnonzero(members)[:1].astype(np.int32),
    )


def publishing(table: RecordTable, concepts: list[int]) -> Release:
    """A release in which every record publishes the same concepts."""
    row = np.array(sorted(concepts), dtype=np.int32)
    terms = [-1 - concept for concept in concepts]
    return publish_each(table, one_cluster(table), form_by_form(lambda form, label: (terms, row)))


@given(st.data())
def test_information_loss_equals_the_sums_of_eq_12_and_13(data: st.DataObject) -> None:
    taxonomy, table = data.draw(tables())
    concepts = st.sets(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=3)
    published, centre = sorted(data.draw(concepts)), sorted(data.draw(concepts))

    def squares(row: list[int], target: list[int]) -> list[float]:
        pairs = [[oracles.concept_distance(taxonomy, a, b) ** 2 for b in target] for a in row]
        return [min(distances) for distances in pairs]

    lost = spread = made_up = made_up_spread = 0.0
    forms = table.forms
    for form in table.form_of.tolist():
        start, end = forms.attribute_offsets[form : form + 2]
        row, weights = forms.attributes[start:end].tolist(), forms.weights[start:end].tolist()
        if row:
            lost += sum(w * s for w, s in zip(weights, squares(row, published), strict=True))
            spread += sum(w * s for w, s in zip(weights, squares(row, centre), strict=True))
            made_up += sum(squares(published, row))
            made_up_spread += sum(squares(centre, row))
    loss = information_loss(
        table,
        publishing(table, published),
        np.array(centre, dtype=np.int32),
        taxonomy,
        no_topics(taxonomy),
        inclusive=False,
    )
    assert loss.percent == pytest.approx(100 * lost / spread if spread else 0.0)
    total = spread + made_up_spread
    assert loss.symmetric_percent == pytest.approx(100 * (lost + made_up) / total if total else 0.0)


@pytest.fixture
def taxonomy() -> Taxonomy:
    """entity over a and b; a over a1 and a2."""
    names = ["entity", "a", "b", "a1", "a2"]
    return build_taxonomy(names, names, [[], [0], [0], [1], [1]], root="entity", version="")


def test_nothing_changed_loses_nothing(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [1, 2], [], 0), (1, [1, 2], [], 0)])
    loss = information_loss(
        table,
        publishing(table, [1, 2]),
        np.array([3], dtype=np.int32),
        taxonomy,
        no_topics(taxonomy),
        inclusive=False,
    )
    assert (loss.percent, loss.symmetric_percent) == (0.0, 0.0)


def test_an_attribute_told_as_typed_is_not_lost(taxonomy: Taxonomy) -> None:
    """By its word alone, without any concept; the other one is."""
    table = table_of(taxonomy, [(0, [3, 2], [], 0)])
    word, none = table.words.tolist().index("word3"), np.zeros(0, dtype=np.int32)
    release = publish_each(table, one_cluster(table), form_by_form(lambda *_: ([word], none)))
    topics = TopicMap(("a", "b"), np.array([0, 1, 2, 1, 1], dtype=np.uint32))
    centre = np.array([0], dtype=np.int32)
    loss = information_loss(table, release, centre, taxonomy, topics, inclusive=False)
    assert loss.by_topic == {"a": 0.0, "b": 100.0}


def test_a_withheld_record_costs_one_per_mention(taxonomy: Taxonomy) -> None:
    table = table_of(taxonomy, [(0, [3], [], 0)])
    withheld = Clusters(
        labels=np.array([-1], dtype=np.int32),
        suppressed=np.array([True]),
        centroids=np.zeros(0, dtype=np.int32),
    )
    release = publish_each(
        table, withheld, form_by_form(lambda form, label: ([0], np.zeros(0, np.int32)))
    )
    topics = TopicMap(("branch a",), np.array([0, 1, 0, 1, 1], dtype=np.uint32))
    centre = np.array([2], dtype=np.int32)
    loss = information_loss(table, release, centre, taxonomy, topics, inclusive=False)
    # δ(a1, b) is 1 as well: a1's ancestors and b's have nothing in common.
    assert loss.percent == 100.0
    assert loss.by_topic == {"branch a": 100.0}


@given(st.data())
def test_cohesion_equals_eq_10(data: st.DataObject) -> None:
    taxonomy, table = data.draw(tables())
    rows = [table.sets.row(s).tolist() for s in table.set_of[table.set_of >= 0].tolist()]
    if not rows:
        return
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    cohesion = cluster_cohesion(
        table,
        one_cluster(table),
        distances.in_classes(table.sets),
        distances.similar(0.8),
        distance="jaccard",
    )
    others = [
        oracles.record_distance(taxonomy, row, rows[0], threshold=0.8, kind="jaccard")[0]
        for row in rows[1:]
    ]
    expected = math.sqrt(sum(others) / len(others)) if others else 0.0
    assert cohesion.tolist() == [pytest.approx(expected)]


def test_cohesion_is_counted_by_clusters_and_by_records() -> None:
    shares = summarise_cohesion(np.array([0.1, 0.2, 0.9]), np.array([5, 5, 90]))
    assert shares["clusters_below_0_45"] == 2 / 3
    assert shares["records_below_0_45"] == 10 / 100
    assert shares["record_weighted"] == pytest.approx((0.5 + 1.0 + 81.0) / 100)
