"""No identifier arises from what is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.core.arrays import ragged_of, split_ragged
from tasks.core.records import PUBLISHED, SCRUBBED, TOO_FEW, RecordTable, Release
from tasks.core.redaction.scrubbing import Span, scrub
from tasks.core.taxonomy import build_taxonomy
from tests.helpers.random_logs import table_of

BEST, CHEAP, NEAR, THE = range(4)
NAMES = np.array([f"concept {number}" for number in range(30)], dtype=object)


class Found:
    """A span of a finder that knows some pairs of words."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


def find_pairs(text: str) -> list[Span]:
    return [
        Found(place, place + len(name))
        for name in ("cheap best", "near the")
        if (place := text.find(name)) >= 0
    ]


@pytest.fixture(scope="module")
def table() -> RecordTable:
    """Words in alphabetical order; *the* says nothing."""
    taxonomy = build_taxonomy(["entity"], ["entity"], [[]], root="entity", version="")
    words = ["cheap", "best", "near", "the"]
    found = table_of(taxonomy, [(user, [], words, 0) for user in range(4)])
    assert found.words.tolist() == ["best", "cheap", "near", "the"]
    return found


def release_of(rows: list[list[int]], class_of: list[int]) -> Release:
    """Every row with a concept and a cluster of its own."""
    term_offsets, terms = ragged_of(rows)
    concept_offsets, concepts = ragged_of([[10 + place] for place in range(len(rows))])
    labels = np.array(class_of, dtype=np.int32)
    return Release(
        class_of=labels,
        term_offsets=term_offsets,
        terms=terms,
        concept_offsets=concept_offsets,
        concepts=concepts,
        times=np.arange(len(rows)),
        precisions=np.arange(len(rows), dtype=np.int32),
        clusters=np.arange(20, 20 + len(rows), dtype=np.int32),
        reasons=np.where(labels < 0, TOO_FEW, PUBLISHED).astype(np.int32),
    )


def test_words_that_name_somebody_go_and_rows_that_say_nothing(table: RecordTable) -> None:
    rows = [[CHEAP, BEST, NEAR], [CHEAP, BEST], [CHEAP, -6, BEST]]
    scrubbed = scrub(release_of(rows, [0, 1, 2, -1]), table, find_pairs, NAMES)
    assert scrubbed.class_of.tolist() == [0, -1, 1, -1]
    terms = split_ragged(scrubbed.term_offsets, scrubbed.terms)
    assert [row.tolist() for row in terms] == [[NEAR], [CHEAP, -6, BEST]]
    assert scrubbed.reasons.tolist() == [PUBLISHED, SCRUBBED, PUBLISHED, TOO_FEW]
    assert scrubbed.concepts.tolist() == [10, 12]
    assert scrubbed.clusters.tolist() == [20, 22]
    assert (scrubbed.times.tolist(), scrubbed.precisions.tolist()) == ([0, 2], [0, 2])


def test_fillers_alone_are_not_left(table: RecordTable) -> None:
    rows = [[THE, CHEAP, BEST], [THE], [THE, -6]]
    scrubbed = scrub(release_of(rows, [0, 1, 2]), table, find_pairs, NAMES)
    assert scrubbed.class_of.tolist() == [-1, -1, 0]
    assert scrubbed.terms.tolist() == [THE, -6]


def test_what_is_left_is_looked_at_again(table: RecordTable) -> None:
    """Without *cheap best*, *near* and *the* stand side by side."""
    rows = [[NEAR, CHEAP, BEST, THE, -6]]
    scrubbed = scrub(release_of(rows, [0]), table, find_pairs, NAMES)
    assert scrubbed.terms.tolist() == [-6]


def test_concepts_are_no_words_and_stay(table: RecordTable) -> None:
    def everything(text: str) -> list[Span]:
        return [Found(0, len(text))] if text.strip("| ") else []

    scrubbed = scrub(release_of([[-11, BEST], [-12]], [0, 1]), table, everything, NAMES)
    assert [own.tolist() for own in split_ragged(scrubbed.term_offsets, scrubbed.terms)] == [
        [-11],
        [-12],
    ]


def test_a_row_is_looked_at_as_it_will_be_read_back(table: RecordTable) -> None:
    """*near* is what a concept of the row is called by; without it *cheap* is somebody's name."""

    def cheap_alone(text: str) -> list[Span]:
        return [Found(0, 5)] if text.startswith("cheap") and "near" not in text else []

    names = NAMES.copy()
    release = release_of([[CHEAP, NEAR]], [0])
    assert scrub(release, table, cheap_alone, names).terms.tolist() == [CHEAP, NEAR]
    names[10] = "near"
    assert scrub(release, table, cheap_alone, names).terms.tolist() == [NEAR]


def test_hyphen_and_blank_are_one_when_a_row_is_read_back(table: RecordTable) -> None:
    names = NAMES.copy()
    names[10] = "cheap-best"
    scrubbed = scrub(release_of([[CHEAP, NEAR, BEST, -11]], [0]), table, find_pairs, names)
    assert scrubbed.terms.tolist() == [CHEAP, NEAR, BEST, -11]


def test_where_concepts_share_a_word_none_of_the_others_is_left(table: RecordTable) -> None:
    """Taken out of the text, the longer concept leaves of the other a part that reads as a name."""

    def best(text: str) -> list[Span]:
        return [Found(0, 0)] if "best" in text and "cheap" not in text else []

    names = NAMES.copy()
    names[10] = "near cheap"
    release = release_of([[NEAR, CHEAP, BEST]], [0])
    assert scrub(release, table, best, names).class_of.tolist() == [-1]


def test_what_a_word_that_goes_alone_has_said_is_called_by_its_name() -> None:
    """*cheap* means concept 1, *best* nothing; both together name somebody."""
    names = ["entity", "bargain", "other"]
    taxonomy = build_taxonomy(names, names, [[], [0], [0]], root="entity", version="")
    table = table_of(taxonomy, [(user, [1], ["best", "near"], 0) for user in range(3)])
    meant = int(table.forms.item_words[table.forms.item_concepts == 1][0])
    best, near = table.words.tolist().index("best"), table.words.tolist().index("near")

    def find(text: str) -> list[Span]:
        pair = f"{table.words[meant]} best"
        return [Found(place, place + len(pair))] if (place := text.find(pair)) >= 0 else []

    rows = [[meant, best, near], [meant, best, -2], [meant, near]]
    release = release_of(rows, [0, 1, 2])
    release = replace(release, concepts=np.array([1, 1, 1], dtype=np.int32))
    scrubbed = scrub(release, table, find, np.array(["entity", "a bargain", "other"], dtype=object))
    terms = split_ragged(scrubbed.term_offsets, scrubbed.terms)
    assert [row.tolist() for row in terms] == [[-2, near], [-2], [meant, near]]
