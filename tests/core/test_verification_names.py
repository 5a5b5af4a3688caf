"""Concepts may read like names; the words beside them may not."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.core.verification.clauses import Promise, faults

PROMISE = Promise(guarantee="strict", k=2, l=1, read=2, rejected=0, withheld=0, published=2)


def find_john(text: str) -> list[str]:
    return ["john"] if "john" in text else []


@pytest.mark.parametrize(
    ("query", "holds"),
    [("john dory", True), ("recipe john dory", True), ("john dory john", False)],
)
def test_only_words_beside_the_concepts_can_be_identifiers(query: str, holds: bool) -> None:
    rows = [(query, "john_dory.n.01", "", "1")] * 2
    found = faults(
        ("query", "concepts", "time", "cluster"),
        rows,
        np.array([0, 1], dtype=np.int32),
        np.array([0, 1], dtype=np.int32),
        PROMISE,
        plain_words=lambda name: "john dory",
        find_identifiers=find_john,
    )
    assert found == (
        [] if holds else ["no query holds a direct identifier: broken by 2 rows (1, 2)"]
    )
