"""A last look at what is about to be published: no identifier may arise from what is left.

Dropping a word may bring two others together that read as a name. Such words are dropped too,
from the whole class of rows, so rows stay shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate
from typing import Protocol

import numpy as np

from tasks.core.arrays import ragged_of, split_ragged, take_ragged
from tasks.core.records import SCRUBBED, RecordTable, Release, Strings

CONCEPT_MARK = "|"
"""Stands where a concept is said: concepts are published for k people, they are not words."""


class Span(Protocol):
    """A stretch of characters."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Find = Callable[[str], Sequence[Span]]


def scrub(release: Release, table: RecordTable, find: Find) -> Release:
    """Drop the words of each class in which `find` sees an identifier; rows that say nothing go."""
    # Many classes differ by their times only.
    scrubbed = cache(partial(_scrubbed, words=table.words, find=find))
    rows = [
        scrubbed(tuple(row.tolist())) for row in split_ragged(release.term_offsets, release.terms)
    ]
    return with_terms(release, rows, table)


def with_terms(release: Release, rows: Sequence[tuple[int, ...]], table: RecordTable) -> Release:
    """The release with other terms; classes that say nothing but filler words are withheld."""
    silent = set(np.flatnonzero(table.fillers).tolist())
    kept = np.array([not silent.issuperset(row) for row in rows], dtype=np.bool_)
    term_offsets, terms = ragged_of([row for row, own in zip(rows, kept, strict=True) if own])
    concept_offsets, places = take_ragged(release.concept_offsets, np.flatnonzero(kept))
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    class_of = number[release.class_of]
    scrubbed_away = (class_of < 0) & release.published
    return replace(
        release,
        class_of=class_of,
        reasons=np.where(scrubbed_away, SCRUBBED, release.reasons).astype(np.int32),
        term_offsets=term_offsets,
        terms=terms,
        concept_offsets=concept_offsets,
        concepts=release.concepts[places],
        times=release.times[kept],
        precisions=release.precisions[kept],
        clusters=release.clusters[kept],
    )


def _scrubbed(terms: tuple[int, ...], words: Strings, find: Find) -> tuple[int, ...]:
    """The terms without those that take part in an identifier, looked at until none does."""
    while max(terms, default=-1) >= 0:
        said = [words[term] if term >= 0 else CONCEPT_MARK for term in terms]
        spans = find(" ".join(said))
        ends = accumulate(len(text) + 1 for text in said)
        named = [
            any(span.start < end - 1 and end - len(text) - 1 < span.end for span in spans)
            for text, end in zip(said, ends, strict=True)
        ]
        kept = tuple(term for term, hit in zip(terms, named, strict=True) if term < 0 or not hit)
        if len(kept) == len(terms):
            break
        terms = kept
    return terms
