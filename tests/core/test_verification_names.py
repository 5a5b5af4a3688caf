"""Concepts may read like names; the words beside them may not."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.core.records import AttributeSets
from tasks.core.taxonomy import build_taxonomy
from tasks.core.verification.clauses import faults
from tasks.core.verification.evidence import COLUMNS, Behind, Knowledge, Promise, ReadBack

PROMISE = Promise("strict", 2, 1, "month", read=2, rejected=0, withheld=0, published=2)


def find_john(text: str) -> list[str]:
    return ["john"] if "john" in text else []


@pytest.mark.parametrize(
    ("query", "holds"),
    [("john dory", True), ("recipe john dory", True), ("john dory john", False)],
)
def test_only_words_beside_the_concepts_can_be_identifiers(query: str, holds: bool) -> None:
    names = ["john_dory.n.01"]
    taxonomy = build_taxonomy(names, ["john dory"], [[]], root="entity.n.01", version="mini")
    behind = Behind(
        users=np.array([0, 1], dtype=np.int32),
        units=np.array([0, 1], dtype=np.int32),
        sets=np.array([0, 0], dtype=np.int32),
        mentions=np.array([0, 0], dtype=np.int32),
        mentioned=AttributeSets(np.array([0, 1]), np.array([0], dtype=np.int32)),
    )
    release = ReadBack(COLUMNS, [(query, *names, "", "1")] * 2, behind, PROMISE)
    found = faults(release, Knowledge(taxonomy, find_john, frozenset()))
    assert found == (
        [] if holds else ["no query holds a direct identifier: broken by 2 rows (1, 2)"]
    )
