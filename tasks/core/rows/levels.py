"""What can be told of a query, item by item, from the word as typed up to its vaguest ancestor.

An item is a word or an attribute. A word has one level, itself. An attribute has the word as typed,
then its concept, then all that lies above it: each is true of whoever typed it, and each says less.
Identifiers are never told: they are no items. Words that say nothing by themselves (*the*, *how*)
hold no information; they are items only if asked for, of no bits.

A level is a node: word w is node w, concept c is node words + c. What a level tells is measured
in bits that do not depend on the log: of a word by a fixed list of English in use, of a concept by
the taxonomy (Taxonomy.information). An item holds what its finest level tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from tasks.core import records
from tasks.core.arrays import distinct, owners, take_ragged
from tasks.core.records import (
    ATTRIBUTE,
    IDENTIFIER,
    Floats,
    Ints,
    Longs,
    Narrow,
    RecordTable,
    freeze,
)
from tasks.core.taxonomy import Taxonomy

TIME_BITS: Final = (0.0, float(np.log2(3)), float(np.log2(92)), float(np.log2(2208)))
"""What a time tells by its precision: which month, day or hour it is of a quarter of a year. That
is about what a log spans; the same for every log, so that batches can be compared."""

VAGUEST: Final = 7.5
"""Concepts of fewer bits say too little to be told: *act*, *causal agent*, *state*, *activity*."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemLevels:
    """The items of each form, and the levels of each item.

    Attributes:
        item_offsets: form f holds items item_offsets[f] to item_offsets[f + 1].
        item_words: the word of each item.
        item_concepts: its concept, or -1.
        item_bits: what each item holds, in bits.
        item_places: where in its query each item first stands, from 0 to 1.
        level_offsets: item i has levels level_offsets[i] to level_offsets[i + 1], word first.
        nodes: of each level.
        bits: what each level tells of its item, never more than the item holds.
        words: size of the vocabulary: nodes from here on are concepts.
    """

    item_offsets: Longs
    item_words: Ints
    item_concepts: Ints
    item_bits: Floats
    item_places: Floats
    level_offsets: Longs
    nodes: Longs
    bits: Floats
    words: int

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        """Forms."""
        return len(self.item_offsets) - 1

    @property
    def node_count(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1

    @property
    def forms(self) -> Longs:
        """Of each level."""
        return owners(self.item_offsets)[owners(self.level_offsets)]

    def of(self, forms: Longs) -> ItemLevels:
        """The levels of some forms."""
        item_offsets, items = take_ragged(self.item_offsets, forms)
        level_offsets, places = take_ragged(self.level_offsets, items)
        return replace(
            self,
            item_offsets=item_offsets,
            item_words=self.item_words[items],
            item_concepts=self.item_concepts[items],
            item_bits=self.item_bits[items],
            item_places=self.item_places[items],
            level_offsets=level_offsets,
            nodes=self.nodes[places],
            bits=self.bits[places],
        )

    def of_attributes(self) -> ItemLevels:
        """The same, but plain words hold nothing."""
        return replace(self, item_bits=np.where(self.item_concepts >= 0, self.item_bits, 0.0))


class LevelsOf(Protocol):
    """The levels of the forms of a log, by forms that are asked for: all at once take memory."""

    def __len__(self) -> int: ...

    @property
    def node_count(self) -> int:
        """All nodes are below this."""

    def of(self, forms: Longs) -> ItemLevels: ...


@dataclass(frozen=True, slots=True, eq=False)
class LogLevels:
    """The levels of a table's forms, found when they are asked for."""

    table: RecordTable
    taxonomy: Taxonomy
    vaguest: float = VAGUEST
    fillers: bool = True
    words: bool = True

    def __len__(self) -> int:
        return len(self.table.forms)

    @property
    def node_count(self) -> int:
        return len(self.table.words) + len(self.taxonomy)

    def of(self, forms: Longs) -> ItemLevels:
        found = item_levels(
            self.table, self.taxonomy, vaguest=self.vaguest, fillers=self.fillers, forms=forms
        )
        return found if self.words else found.of_attributes()


@dataclass(frozen=True, slots=True, eq=False)
class SomeLevels:
    """Those of some forms, numbered anew."""

    levels: LevelsOf
    forms: Ints

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def node_count(self) -> int:
        return self.levels.node_count

    def of(self, forms: Longs) -> ItemLevels:
        return self.levels.of(self.forms[forms].astype(np.int64))


def item_levels(
    table: RecordTable,
    taxonomy: Taxonomy,
    *,
    vaguest: float = 0.0,
    fillers: bool = False,
    forms: Longs | None = None,
) -> ItemLevels:
    """The levels of all items; concepts of fewer than `vaguest` bits are none.

    Args:
        fillers: whether words that say nothing by themselves are items, too.
        forms: those that are wanted, numbered 0, 1, … as they are given; all if none are.
    """
    chosen = np.arange(len(table.forms)) if forms is None else forms
    forms, places = _tellable_items(table, chosen, fillers=fillers)
    words, concepts = table.forms.item_words[places], table.forms.item_concepts[places]
    held = np.flatnonzero(concepts >= 0)
    own = concepts[held]
    offsets, above = take_ragged(taxonomy.ancestor_offsets, own)
    items = np.concatenate([np.arange(len(words)), held, np.repeat(held, np.diff(offsets))])
    above = np.concatenate([own, taxonomy.ancestors[above]]).astype(np.int64)
    nodes = np.concatenate([words.astype(np.int64), len(table.words) + above])
    item_bits = np.where(table.fillers[words], 0.0, table.word_bits[words])
    item_bits[held] = np.maximum(table.word_bits[words[held]], taxonomy.information[own])
    bits = np.concatenate([item_bits, taxonomy.information[above]])
    told = np.concatenate([np.ones(len(words), np.bool_), bits[len(words) :] >= max(vaguest, 1e-9)])
    items, nodes, bits = items[told], nodes[told], bits[told]
    order = np.lexsort((nodes, -bits, nodes >= len(table.words), items))
    return ItemLevels(
        item_offsets=np.searchsorted(forms, np.arange(len(chosen) + 1)),
        item_words=words,
        item_concepts=concepts,
        item_bits=item_bits,
        item_places=_relative_places(table, chosen[forms], places),
        level_offsets=np.searchsorted(items[order], np.arange(len(words) + 1)),
        nodes=nodes[order],
        bits=bits[order],
        words=len(table.words),
    )


def _tellable_items(table: RecordTable, chosen: Longs, *, fillers: bool) -> tuple[Longs, Longs]:
    """Form, as a place among the chosen, and place of each item, by form and word; a word said
    twice in a query is one item."""
    forms = table.forms
    offsets, places = take_ragged(forms.item_offsets, chosen)
    kinds, words = forms.item_kinds[places], forms.item_words[places]
    said = (kinds != IDENTIFIER) & (fillers | ~table.fillers[words])
    said |= kinds == ATTRIBUTE
    owner = np.repeat(np.arange(len(chosen)), np.diff(offsets))[said]
    keys = owner * max(1, len(table.words)) + words[said]
    first = np.unique(keys, return_index=True)[1]
    return owner[first], places[said][first]


def _relative_places(table: RecordTable, forms: Longs, places: Longs) -> Floats:
    offsets = table.forms.item_offsets
    starts, ends = offsets[:-1][forms], offsets[1:][forms]
    return np.asarray((places - starts + 0.5) / (ends - starts))


class SharedNodes:
    """Which nodes k people share, told of some after others.

    Attributes:
        enough: whether k people share each node, as far as is known.
    """

    def __init__(self, nodes: int, users: Ints, k: int) -> None:
        """Of a log of these users."""
        self.enough = np.zeros(nodes, dtype=np.bool_)
        self._k, self._width = k, int(users.max(initial=0)) + 1
        # People are kept in mind of those nodes alone that fewer than k have shared so far.
        self._few = np.zeros(0, dtype=np.int64)

    def add(self, nodes: Narrow, forms: Longs, offsets: Longs, users: Ints) -> None:
        """Nodes of forms; form f is of users[offsets[f] : offsets[f + 1]], each once."""
        self.enough[nodes[offsets[1:][forms] - offsets[:-1][forms] >= self._k]] = True
        asked = ~self.enough[nodes]
        own, places = take_ragged(offsets, forms[asked])
        pairs = np.repeat(nodes[asked].astype(np.int64), np.diff(own)) * self._width + users[places]
        few = distinct(np.concatenate([self._few, pairs]))
        people = np.bincount(few // self._width, minlength=len(self.enough))
        self.enough[people >= self._k] = True
        self._few = few[~self.enough[few // self._width]]


def form_ranges(count: int) -> Iterator[Longs]:
    """The forms of a log, as many at a time as have their levels in memory."""
    for start in range(0, count, records.FORMS_AT_A_TIME):
        yield np.arange(start, min(count, start + records.FORMS_AT_A_TIME))
