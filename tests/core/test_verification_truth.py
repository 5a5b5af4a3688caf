"""Truth against an oracle that walks up the taxonomy, on random taxonomies and releases."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.records import AttributeSets
from tasks.core.taxonomy import Taxonomy
from tasks.core.verification.evidence import (
    COLUMNS,
    Behind,
    Evidence,
    FileRows,
    Knowledge,
    Promise,
    ReadBack,
)
from tasks.core.verification.truth import rows_told_falsely
from tests.helpers.random_logs import taxonomies


def release_of(taxonomy: Taxonomy, records: list[tuple[list[int], list[int]]]) -> ReadBack:
    """Rows that publish some concepts for records that mention others."""
    names = taxonomy.names.tolist()
    rows = [("x", ";".join(names[c] for c in published), "", "1") for published, _ in records]
    mentioned = [sorted(mentions) for _, mentions in records]
    behind = Behind(
        users=np.arange(len(rows), dtype=np.int32),
        units=np.arange(len(rows), dtype=np.int64),
        sets=np.zeros(len(rows), dtype=np.int32),
        mentions=np.arange(len(rows), dtype=np.int32),
        mentioned=AttributeSets(
            np.cumsum([0, *map(len, mentioned)]),
            np.array([c for row in mentioned for c in row], dtype=np.int32),
        ),
    )
    promise = Promise("strict", 2, 1, "month", len(rows), 0, 0, len(rows))
    return ReadBack(COLUMNS, FileRows.of(rows), behind, promise)


def is_true(taxonomy: Taxonomy, concept: int, mentions: list[int]) -> bool:
    return any(concept in {m, *taxonomy.ancestors_of(m).tolist()} for m in mentions)


@given(st.data())
def test_a_row_is_true_if_each_concept_is_mentioned_or_lies_above(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    concepts = st.lists(st.integers(0, len(taxonomy) - 1), max_size=3, unique=True)
    parts = st.lists(st.lists(st.tuples(concepts, concepts), max_size=6), min_size=1, max_size=3)
    releases = data.draw(parts)
    knowledge = Knowledge(taxonomy, lambda text: [], frozenset())
    read_back = [release_of(taxonomy, records) for records in releases]
    evidence = Evidence.of(read_back, read_back[0].promise, knowledge)
    expected = [
        not all(is_true(taxonomy, concept, mentions) for concept in published)
        for records in releases
        for published, mentions in records
    ]
    assert rows_told_falsely(evidence).tolist() == expected
