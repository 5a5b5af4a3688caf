"""A last look at what is about to be published: no identifier may arise from what is left.

Dropping a word may bring two others together that read as a name. Such words are dropped too,
from the whole class of rows, so rows stay shared. The row is also looked at as it will be read
back: there a word that a concept is called by is no word, and what stood beside it may read
otherwise (*winston salem north carolina* is a town, *winston salem* may be a person).
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


def scrub(release: Release, table: RecordTable, find: Find, names: Strings) -> Release:
    """Drop the words of each class in which `find` sees an identifier; rows that say nothing go.

    Args:
        names: of each concept in plain words.
    """
    # Many classes differ by their times only.
    scrubbed = cache(partial(_scrubbed, words=table.words, names=names, find=find))
    terms = split_ragged(release.term_offsets, release.terms)
    concepts = split_ragged(release.concept_offsets, release.concepts)
    rows = [
        scrubbed(tuple(row.tolist()), tuple(own.tolist()))
        for row, own in zip(terms, concepts, strict=True)
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


def _scrubbed(
    terms: tuple[int, ...], concepts: tuple[int, ...], words: Strings, names: Strings, find: Find
) -> tuple[int, ...]:
    """The terms without those that take part in an identifier, looked at until none does."""
    called = {spelt for own in concepts for spelt in (names[own], names[own].replace("-", " "))}
    while max(terms, default=-1) >= 0:
        said = [words[term] if term >= 0 else CONCEPT_MARK for term in terms]
        read_back = [CONCEPT_MARK if text in called else text for text in said]
        named = _named(said, find)
        if read_back != said:
            named = [
                either or other
                for either, other in zip(named, _named(read_back, find), strict=True)
            ]
        kept = tuple(term for term, hit in zip(terms, named, strict=True) if term < 0 or not hit)
        if len(kept) == len(terms):
            break
        terms = kept
    # Two concepts may share a word, or the like: then the concepts alone are told, or nothing.
    for left in (terms, tuple(term for term in terms if term < 0)):
        query = " ".join(words[term] if term >= 0 else names[-1 - term] for term in left)
        if not find(_read_back(query, called)):
            return left
    return ()


def _named(said: Sequence[str], find: Find) -> list[bool]:
    """Which texts of a row take part in an identifier."""
    spans = find(" ".join(said))
    ends = accumulate(len(text) + 1 for text in said)
    return [
        any(span.start < end - 1 and end - len(text) - 1 < span.end for span in spans)
        for text, end in zip(said, ends, strict=True)
    ]


def _read_back(query: str, called: set[str]) -> str:
    """A row's query with its concepts taken out, the longest first."""
    text = f" {query} "
    for phrase in sorted(called, key=lambda own: (-len(own), own)):
        text = text.replace(f" {phrase} ", f" {CONCEPT_MARK} ", 1)
    return text.strip()
