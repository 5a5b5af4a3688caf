"""A last look at what is about to be published: no identifier may arise from what is left.

Dropping a word may bring two others together that read as a name. Such words are dropped too,
from the whole class of rows, so rows stay shared. If such a word was all that said a concept of the
row, the concept is said by its own name. The row is also looked at as it will be read back: there a
word that a concept is called by is no word, and what stood beside it may read otherwise (*winston
salem north carolina* is a town, *winston salem* may be a person).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import Final, Protocol

import numpy as np

from tasks.core.arrays import (
    Ragged,
    distinct,
    joined_ragged,
    owners,
    parts_of,
    ragged_of,
    split_ragged,
)
from tasks.core.records import SCRUBBED, RecordTable, Release, Strings
from tasks.core.redaction.class_sizes import of_classes

CONCEPT_MARK = "|"
"""Stands where a concept is said: concepts are published for k people, they are not words."""
ROWS_IN_MIND: Final = 1 << 16
"""Of so many rows it is known what is left of them, should they come again."""


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
    known = (table.words, names, _meanings(table))
    # Many classes differ by their times only, and those stand close together.
    scrubbed = lru_cache(ROWS_IN_MIND)(partial(_scrubbed, known=known, find=find))
    parts = []
    for rows in parts_of(release.class_count):
        terms, concepts = (
            split_ragged(offsets[rows.start : rows.stop + 1], values)
            for offsets, values in (
                (release.term_offsets, release.terms),
                (release.concept_offsets, release.concepts),
            )
        )
        parts.append(
            ragged_of(
                [
                    scrubbed(tuple(row.tolist()), tuple(own.tolist()))
                    for row, own in zip(terms, concepts, strict=True)
                ]
            )
        )
    return with_terms(release, joined_ragged([ragged_of([]), *parts]), table)


def with_terms(release: Release, rows: Ragged, table: RecordTable) -> Release:
    """The release with other terms; classes that say nothing but filler words are withheld."""
    offsets, terms = rows
    # The last entry is for concepts, which are negative.
    speaks = np.append(~table.fillers, True)[np.maximum(terms, -1)]
    kept = np.bincount(owners(offsets)[speaks], minlength=release.class_count) > 0
    found = replace(release, term_offsets=offsets, terms=terms)
    return of_classes(found, release.class_of, kept, SCRUBBED)


_Known = tuple[Strings, Strings, Mapping[int, set[int]]]
"""Words, names of concepts, and the concepts that each word was read as."""


def _meanings(table: RecordTable) -> dict[int, set[int]]:
    """The concepts that each word of the log was read as."""
    meanings: dict[int, set[int]] = {}
    for _, part in table.parts():
        said = np.flatnonzero(part.forms.item_concepts >= 0)
        words, concepts = part.forms.item_words[said], part.forms.item_concepts[said]
        width = int(concepts.max(initial=0)) + 1
        for pair in distinct(words.astype(np.int64) * width + concepts).tolist():
            meanings.setdefault(pair // width, set()).add(pair % width)
    return meanings


def _scrubbed(
    terms: tuple[int, ...], concepts: tuple[int, ...], known: _Known, find: Find
) -> tuple[int, ...]:
    """The terms without those that take part in an identifier, looked at until none does."""
    words, names, meanings = known
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
        kept = _without(terms, named, concepts, meanings)
        if kept == terms:
            break
        terms = kept
    # Two concepts may share a word, or the like: then the concepts alone are told, or nothing.
    for left in (terms, _without(terms, [True] * len(terms), concepts, meanings)):
        query = " ".join(words[term] if term >= 0 else names[-1 - term] for term in left)
        if not find(_read_back(query, called)):
            return left
    return ()


def _without(
    terms: Sequence[int],
    named: Sequence[bool],
    concepts: Sequence[int],
    meanings: Mapping[int, set[int]],
) -> tuple[int, ...]:
    """The terms without words that name somebody; what they alone said is called by its name."""
    dropped = [term >= 0 and hit for term, hit in zip(terms, named, strict=True)]
    left = [term for term, gone in zip(terms, dropped, strict=True) if not gone]
    said = {-1 - term for term in left if term < 0}.union(*(meanings.get(t, ()) for t in left))
    found: list[int] = []
    for term, gone in zip(terms, dropped, strict=True):
        if gone:
            own = [own for own in concepts if own in meanings.get(term, ()) and own not in said]
            said.update(own)
            found += [-1 - concept for concept in own]
        else:
            found.append(term)
    return tuple(found)


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
