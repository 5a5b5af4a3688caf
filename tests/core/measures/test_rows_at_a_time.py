"""Measures of large logs are taken some records at a time: the figures are the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.detection.topics import TopicMap
from tasks.core.diversity import sensitive_sets
from tasks.core.measures.basis import first_rows, public_basis
from tasks.core.measures.cohesion import cluster_cohesion
from tasks.core.measures.counts import count_release, distributions, unchanged
from tasks.core.measures.information_loss import information_loss, shown_rows
from tasks.core.measures.random_clusters import compare_with_random
from tasks.core.measures.risk import (
    attack_successes,
    diversity,
    homogeneous,
    least_people,
    linkage_risk,
    partial_knowledge,
)
from tasks.core.measures.standing import standing_of
from tasks.core.measures.term_counts import term_counts
from tasks.core.members import members_of
from tasks.core.records import TIME_DAY, Clusters, RecordTable, Release
from tasks.core.rows.levels import LogLevels
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy
from tests.core.measures.test_counts import rejecting
from tests.core.measures.test_information import logs, release_of
from tests.phases.test_measure import flat

Log = tuple[Taxonomy, RecordTable, TopicMap]


def clusters_of(log: Log, count: int) -> Clusters:
    """By the first so many sets, the others together."""
    table = log[1]
    labels = np.minimum(table.set_of, count - 1)
    found, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    held = found[0] < 0 if len(found) else False
    return Clusters(
        labels=(numbers - held).astype(np.int32),
        suppressed=np.zeros(len(table), dtype=np.bool_),
        centroids=first[int(held) :].astype(np.int32),
    )


def figures(log: Log, release: Release, clusters: Clusters, most: int) -> dict[str, float]:
    """All that is measured record by record."""
    taxonomy, table, topics = log
    sets = sensitive_sets(table, topics.sensitive)
    standing, same = standing_of(table, release), unchanged(table, release)
    groups = members_of(clusters.labels, clusters.count)
    chosen = first_rows(table, members_of(table.users, 6), most)
    distances = measure_concepts(taxonomy, np.unique(table.sets.concepts))
    centre = np.array([0], dtype=np.int32)
    cohesion = cluster_cohesion(
        table,
        clusters,
        distances.in_classes(table.sets),
        distances.similar(0.8),
        distance="jaccard",
    )
    terms = term_counts(table, taxonomy, most=most, random=np.random.default_rng(1), vaguest=0.0)
    levels = LogLevels(table, taxonomy, fillers=False)
    found: dict[str, Any] = {
        "raw": standing.raw.tolist(),
        "released": standing.released.tolist(),
        "linked": standing.linked.tolist(),
        "people": standing.people.tolist(),
        "chosen": chosen.tolist(),
        "linkage": linkage_risk(standing),
        "attacks": attack_successes(standing, sets),
        "attacks on some": attack_successes(standing, sets, chosen),
        "least": least_people(standing),
        "partial": partial_knowledge(standing),
        "diversity": diversity(table, groups),
        "homogeneous": homogeneous(standing, sets),
        "count": count_release(rejecting(), standing, groups, same),
        "distributions": distributions(rejecting(), standing, groups, cohesion, k=2),
        "basis": public_basis(standing, taxonomy, topics, sets, same, k=1, finest=TIME_DAY),
        "cohesion": cohesion.tolist(),
        "loss": asdict(information_loss(table, release, centre, taxonomy, topics, inclusive=False)),
        "shown": [
            [own.counts.tolist(), own.attributes.tolist(), own.published.tolist()]
            for own in shown_rows(table, release, rows_per_part=most)
        ],
        "random": compare_with_random(table, release, levels, most_records=most),
        "terms": [terms.words.tolist(), terms.word_people.tolist(), terms.concepts.tolist()],
        "term people": terms.concept_people.tolist(),
    }
    return flat(found)


@settings(max_examples=60, deadline=None)
@given(logs(), st.integers(1, 9), st.integers(1, 4), st.integers(1, 6), st.data())
def test_the_same_is_measured_however_many_rows_are_seen_at_a_time(
    log: Log, rows: int, forms: int, most: int, data: st.DataObject
) -> None:
    table = log[1]
    labels = st.lists(st.integers(-1, 3), min_size=len(table), max_size=len(table))
    term, concept = st.integers(-len(log[0]), 3), st.integers(0, len(log[0]) - 1)
    row = st.tuples(st.lists(term, max_size=4), st.lists(concept, max_size=2))
    said = data.draw(st.lists(row, min_size=4, max_size=4))
    release = release_of(data.draw(labels), [(*own, TIME_DAY) for own in said])
    clusters = clusters_of(log, data.draw(st.integers(1, 3)))
    expected = figures(log, release, clusters, most)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tasks.core.columns.ROWS_AT_A_TIME", rows)
        patched.setattr("tasks.core.records.FORMS_AT_A_TIME", forms)
        found = figures(log, release, clusters, most)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, rel=1e-12)
