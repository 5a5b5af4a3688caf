"""How many people use each word and mean each concept, everybody counted in a few terms at most.

A concept is counted for whoever mentions it or anything below it in the taxonomy, so a rare one
counts under the nearest ancestor that can be told. Of each person some terms are drawn at random:
whoever is added or removed changes so many counts, by one each, and no others. That bound is what
differential privacy is built on; how it is made private is another's business
(docs/guarantee.md#differentially-private-counts).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import distinct, owners, pairs_of, ragged_from_keys, ragged_keys, take_ragged
from tasks.core.members import Members, members_of
from tasks.core.records import (
    ATTRIBUTE,
    IDENTIFIER,
    Flags,
    Ints,
    Longs,
    RecordTable,
    freeze,
)
from tasks.core.rows.levels import VAGUEST
from tasks.core.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """Words and concepts, each once, and the people who were counted in them."""

    words: Ints
    word_people: Longs
    concepts: Ints
    concept_people: Longs

    def __post_init__(self) -> None:
        freeze(self)


def term_counts(
    table: RecordTable,
    taxonomy: Taxonomy,
    *,
    most: int,
    random: np.random.Generator,
    vaguest: float = VAGUEST,
) -> TermCounts:
    """Count people, each in at most so many words and as many concepts.

    Args:
        vaguest: concepts of fewer bits are not counted.
    """
    people = members_of(table.users, int(table.users.max(initial=-1)) + 1)
    forms, words = table.forms, np.zeros(len(table.words), dtype=np.int64)
    for users, items in _items_of_people(table, people):
        said = forms.item_kinds[items] != IDENTIFIER
        said &= ~table.fillers[forms.item_words[items]]
        drawn = _drawn(users[said], forms.item_words[items[said]], most, random)
        words += np.bincount(drawn, minlength=len(words))
    concepts = np.zeros(len(taxonomy), dtype=np.int64)
    for users, items in _items_of_people(table, people):
        meant = forms.item_kinds[items] == ATTRIBUTE
        closed = _closed(users[meant], forms.item_concepts[items[meant]], taxonomy, vaguest)
        concepts += np.bincount(_drawn(*closed, most, random), minlength=len(concepts))
    return TermCounts(*_counted(words), *_counted(concepts))


def _items_of_people(table: RecordTable, people: Members) -> Iterator[tuple[Longs, Longs]]:
    """All that somebody said, one person after the other: who, counted anew in each part."""
    for _, records, whose in people.parts():
        offsets, items = take_ragged(table.forms.item_offsets, table.form_of[records])
        yield whose[owners(offsets)], items


def _closed(
    users: Longs, concepts: Ints | Longs, taxonomy: Taxonomy, vaguest: float
) -> tuple[Longs, Longs]:
    """Concepts of each person with all that lies above them."""
    users, concepts, _ = pairs_of(users, concepts)
    offsets, places = take_ragged(taxonomy.ancestor_offsets, concepts)
    whose = np.concatenate([users, users[owners(offsets)]])
    held = np.concatenate([concepts, taxonomy.ancestors[places]])
    told: Flags = taxonomy.information[held] >= max(vaguest, 1e-9)
    return whose[told], held[told]


def _drawn(users: Longs, terms: Ints | Longs, most: int, random: np.random.Generator) -> Ints:
    """The terms that are counted: of each person so many at most, each once."""
    keys = distinct(ragged_keys(users, terms))
    offsets, held = ragged_from_keys(keys, int(users.max(initial=-1)) + 1)
    whose = owners(offsets)
    order = np.lexsort((random.random(len(held)), whose))
    return held[order[np.arange(len(held)) - offsets[whose] < most]]


def _counted(people: Longs) -> tuple[Ints, Longs]:
    found = np.flatnonzero(people)
    return found.astype(np.int32), people[found]
