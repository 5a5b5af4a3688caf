"""How many people use each word and mean each concept, everybody counted in a few terms at most.

A concept is counted for whoever mentions it or anything below it in the taxonomy, so a rare one
counts under the nearest ancestor that can be told. Of each person some terms are drawn at random:
whoever is added or removed changes so many counts, by one each, and no others. That bound is what
differential privacy is built on; how it is made private is another's business
(docs/guarantee.md#differentially-private-counts).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import distinct, owners, ragged_from_keys, ragged_keys, take_ragged
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
    offsets, items = take_ragged(table.forms.item_offsets, table.form_of)
    users, forms = table.users[owners(offsets)].astype(np.int64), table.forms
    said = forms.item_kinds[items] != IDENTIFIER
    said &= ~table.fillers[forms.item_words[items]]
    words = _drawn(users[said], forms.item_words[items[said]], most, random)
    meant = forms.item_kinds[items] == ATTRIBUTE
    closed = _closed(users[meant], forms.item_concepts[items[meant]], taxonomy, vaguest)
    concepts = _drawn(*closed, most, random)
    return TermCounts(*_counted(words), *_counted(concepts))


def _closed(users: Longs, concepts: Ints, taxonomy: Taxonomy, vaguest: float) -> tuple[Longs, Ints]:
    """Concepts of each person with all that lies above them."""
    offsets, places = take_ragged(taxonomy.ancestor_offsets, concepts)
    whose = np.concatenate([users, users[owners(offsets)]])
    held = np.concatenate([concepts, taxonomy.ancestors[places]])
    told: Flags = taxonomy.information[held] >= max(vaguest, 1e-9)
    return whose[told], held[told]


def _drawn(users: Longs, terms: Ints, most: int, random: np.random.Generator) -> Ints:
    """The terms that are counted: of each person so many at most, each once."""
    keys = distinct(ragged_keys(users, terms))
    offsets, held = ragged_from_keys(keys, int(users.max(initial=-1)) + 1)
    whose = owners(offsets)
    order = np.lexsort((random.random(len(held)), whose))
    return held[order[np.arange(len(held)) - offsets[whose] < most]]


def _counted(terms: Ints) -> tuple[Ints, Longs]:
    found, people = np.unique(terms, return_counts=True)
    return found.astype(np.int32), people.astype(np.int64)
