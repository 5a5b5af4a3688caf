"""Concepts may read like names; the words beside them may not."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.arrays import ragged_of
from tasks.core.records import AttributeSets, Release
from tasks.core.redaction.scrubbing import scrub
from tasks.core.taxonomy import build_taxonomy
from tasks.core.verification.clauses import faults
from tasks.core.verification.evidence import (
    COLUMNS,
    Behind,
    FileRows,
    Knowledge,
    Promise,
    ReadBack,
)
from tests.helpers.random_logs import table_of

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
        units=np.array([0, 1], dtype=np.int64),
        sets=np.array([0, 0], dtype=np.int32),
        mentions=np.array([0, 0], dtype=np.int32),
        mentioned=AttributeSets(np.array([0, 1]), np.array([0], dtype=np.int32)),
    )
    release = ReadBack(COLUMNS, FileRows.of([(query, *names, "", "1")] * 2), behind, PROMISE)
    found = faults(release, Knowledge(taxonomy, find_john, frozenset()))
    assert found == (
        [] if holds else ["no query holds a direct identifier: broken by 2 rows (1, 2)"]
    )


CALLED = ["salem", "winston-salem", "north carolina", "carolina", "winston north"]
TYPED = ["area", "carolina", "north", "north carolina", "salem", "winston", "winston salem"]
ROWS = st.tuples(
    st.lists(st.integers(-len(CALLED), len(TYPED) - 1), min_size=1, max_size=5, unique=True),
    st.sets(st.integers(0, len(CALLED) - 1)),
)


@dataclass(frozen=True)
class Stretch:
    """A part of a text."""

    start: int
    end: int


def whim(seed: int, text: str) -> list[Stretch]:
    """Somebody who sees a name in any words or not, by all that stands around them."""
    words = [word for word in text.split() if word != "|"]
    lot = random.Random(f"{seed} {text}")
    if not words or lot.random() < 0.5:
        return []
    start = text.index(lot.choice(words))
    return [Stretch(start, min(len(text), start + lot.randint(1, 12)))]


@given(ROWS, st.integers(0, 99))
def test_what_scrubbing_leaves_holds_whatever_is_taken_for_a_name(
    row: tuple[list[int], set[int]], seed: int
) -> None:
    """The checker and redaction mask concepts by code of their own; they must not disagree."""
    terms, beside = row
    concepts = sorted(beside | {-1 - term for term in terms if term < 0})
    names = [f"{called.replace(' ', '_')}.n.01" for called in CALLED]
    taxonomy = build_taxonomy(names, CALLED, [[]] * len(names), root="entity.n.01", version="")
    words = np.array(TYPED, dtype=object)
    table = replace(
        table_of(taxonomy, [(0, [], ["area"], 0)]), words=words, fillers=words == "area"
    )
    term_offsets, all_terms = ragged_of([terms])
    concept_offsets, all_concepts = ragged_of([concepts])
    one = np.zeros(1, dtype=np.int32)
    release = Release(
        one, term_offsets, all_terms, concept_offsets, all_concepts, one.astype(np.int64), one,
        one, one,
    )  # fmt: skip
    left = scrub(release, table, partial(whim, seed), taxonomy.words)
    if not left.class_count:
        return
    query = " ".join(TYPED[term] if term >= 0 else CALLED[-1 - term] for term in left.terms)
    cells = (query, ";".join(names[concept] for concept in concepts), "", "1")
    behind = Behind(one, one.astype(np.int64), one, one, AttributeSets(np.array([0, 1]), one))
    release_read = ReadBack(COLUMNS, FileRows.of([cells]), behind, PROMISE)
    found = faults(release_read, Knowledge(taxonomy, partial(whim, seed), frozenset()))
    assert not [fault for fault in found if "identifier" in fault]
