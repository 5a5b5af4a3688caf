"""One test per worked example and table of the paper (docs/paper.md#golden-values)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.detection.pipeline import build_pipeline, read_texts
from tasks.adapters.detection.topics import DEFAULT_TOPICS, read_topics
from tasks.adapters.wordnet import WordNet
from tasks.core.clustering.paper import (
    centroid_pair_score,
    centroid_score,
    cluster_nodes,
    node_centroids,
)
from tasks.core.detection.readings import normalise
from tasks.core.detection.topics import map_topics
from tasks.core.record_table import find_forms, represent_similar
from tasks.core.similarity.distances import (
    concept_distances,
    match_attributes,
    record_distances,
    symmetric_difference_ratio,
    union_count,
)
from tasks.core.similarity.pairs import Pairs, least_of_rows
from tasks.core.texts import Texts
from tests.golden.paper import (
    ERRATUM,
    EXAMPLE_5,
    TABLE_2A,
    TABLE_2B,
    TABLE_2C,
    TABLE_3,
    TABLE_4,
)
from tests.helpers.readings import attribute_finder

THRESHOLD = 0.8
QUERY = "a cure for ill-health pulmonary disease lung infection"


def concept(wordnet: WordNet, word: str) -> int:
    return int(wordnet.lexicon.senses(word, "n")[0])


def test_example_1_flu_and_pneumonia(wordnet: WordNet) -> None:
    flu, pneumonia = concept(wordnet, "flu"), concept(wordnet, "pneumonia")
    ancestors = [set(wordnet.taxonomy.ancestors_of(c).tolist()) for c in (flu, pneumonia)]
    assert len(ancestors[0] | ancestors[1]) == 12
    assert len(ancestors[0] & ancestors[1]) == 10
    pair = np.array([flu], dtype=np.int32), np.array([pneumonia], dtype=np.int32)
    assert concept_distances(wordnet.taxonomy, *pair)[0, 0] == pytest.approx(math.log2(1 + 2 / 12))
    assert round(math.log2(1 + 2 / 12), 2) == 0.22


def test_example_2_attributes_of_the_query(wordnet: WordNet) -> None:
    topics = map_topics(read_topics(DEFAULT_TOPICS), wordnet.taxonomy)
    finder = attribute_finder(wordnet, topics, "sensitive")
    nlp = build_pipeline(load_identifier_finder(), finder)
    readings = read_texts(nlp, [normalise(QUERY)])
    words = readings.words([normalise(QUERY)])
    found = {word for word, item in zip(words, readings.concepts, strict=True) if item >= 0}
    assert found == {"infection", "disease", "ill health", "cure", "lung"}
    forms = find_forms(
        Texts.of([normalise(QUERY)]),
        readings,
        np.zeros(1, dtype=np.int32),
        wordnet.taxonomy,
        threshold=THRESHOLD,
        inclusive=False,
    ).forms
    names = wordnet.taxonomy.words[forms.attributes]
    assert dict(zip(names, forms.weights.tolist(), strict=True)) == {
        "infection": 3,
        "cure": 1,
        "lung": 1,
    }


def test_example_2_groups_are_connected_not_complete(wordnet: WordNet) -> None:
    concepts = np.array([concept(wordnet, w) for w in ("disease", "infection", "ill health")])
    concepts = concepts.astype(np.int32)
    similarities = 1.0 - concept_distances(wordnet.taxonomy, concepts, concepts)
    assert similarities[0, 1].round(2) == 0.83
    assert similarities[1, 2].round(2) == 0.81
    assert similarities[0, 2].round(2) == 0.68
    assert set(represent_similar(concepts, similarities, THRESHOLD)) == {concepts[1]}


@pytest.mark.parametrize(
    ("table", "pairs"),
    [
        (TABLE_2A, [(0, 0), (3, 1)]),
        (TABLE_2B, [(1, 1), (3, 0)]),
        (TABLE_2C, [(0, 2)]),
    ],
)
def test_table_2_matches(table: np.ndarray, pairs: list[tuple[int, int]]) -> None:
    assert match_attributes(table, THRESHOLD) == pairs


def test_equation_6_to_8_on_table_2a() -> None:
    shared = len(match_attributes(TABLE_2A, THRESHOLD))
    union = union_count(4, 3, shared)
    assert (shared, union) == (2, 5)
    assert symmetric_difference_ratio(shared, union) == 2.5
    counts = np.array([float(shared)]), np.array([float(union)])
    assert record_distances(*counts, distance="printed")[0] == 1 / 2
    assert record_distances(*counts, distance="jaccard")[0] == 3 / 5


def test_table_3_gives_table_4() -> None:
    pairs = [(i, i + 1 + j, d) for i, row in enumerate(TABLE_3) for j, d in enumerate(row)]
    left, right, scores = (np.array(c) for c in zip(*[p for p in pairs if p[2] < 1], strict=True))
    least = least_of_rows(left, scores)
    chosen = left[least], right[least], scores[least]
    found = {(a + 1, b + 1): d for a, b, d in zip(*chosen, strict=True)}
    assert found == {pair: score for pair, score in TABLE_4.items() if pair != ERRATUM}


def table_4_pairs() -> Pairs:
    ordered = sorted(TABLE_4)
    return Pairs(
        left=np.array([a - 1 for a, _ in ordered]),
        right=np.array([b - 1 for _, b in ordered]),
        scores=np.array([TABLE_4[pair] for pair in ordered]),
        sizes=np.ones(10, dtype=np.int64),
        starts=np.arange(10),
    )


def test_example_4_centroid() -> None:
    pairs = table_4_pairs()
    assert round(centroid_score(pairs.scores, pairs.counts), 2) == 0.59
    assert centroid_pair_score(pairs.scores, pairs.counts) == 0.57


def test_example_5_clusters_in_order_and_centroids() -> None:
    pairs = table_4_pairs()
    labels = cluster_nodes(pairs)
    found = [set((np.flatnonzero(labels == c) + 1).tolist()) for c in range(labels.max() + 1)]
    assert found == EXAMPLE_5
    centroids = [int(c) + 1 for c in node_centroids(pairs, labels)]
    assert centroids[0] == 8
    # The paper allows any query of the other two.
    assert centroids[1] in EXAMPLE_5[1]
    assert centroids[2] in EXAMPLE_5[2]
