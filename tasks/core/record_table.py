"""The record table: each query reduced to its set of attributes (paper §3.1, Algorithm 1).

Of the attributes of one query that are similar one stands for all; queries that say the same are
one form, forms with the same attributes share one set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
from scipy.sparse.csgraph import connected_components

from tasks.core.arrays import distinct, owners, take_ragged
from tasks.core.columns import column, computed, counts_of
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.readings import IDENTIFIER_CONCEPT, Readings
from tasks.core.members import members_of
from tasks.core.records import (
    ATTRIBUTE,
    IDENTIFIER,
    WORD,
    AttributeSets,
    Floats,
    Ints,
    Longs,
    QueryForms,
    RecordTable,
    Strings,
)
from tasks.core.similarity.distances import concept_distances, paired_distances
from tasks.core.taxonomy import NO_CONCEPT, Taxonomy
from tasks.core.texts import WIDTH, Texts, ascending

FORMS_AT_A_TIME: Final = 1 << 16
Represent = Callable[[Ints, Longs], Ints]
"""The concept that stands for each mention, given the concepts and texts of all mentions."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundForms:
    """What the distinct texts of a log are, before there are records.

    Attributes:
        form_of_text: of each text that a record has.
        words, in_doubt, identifiers: as in `RecordTable`.
    """

    forms: QueryForms
    form_of_text: Ints
    words: Strings = field(repr=False)
    in_doubt: int
    identifiers: Longs


def represent_similar(concepts: Ints, similarities: Floats, threshold: float) -> Ints:
    """Algorithm 1: for each attribute of one record the one that stands for its group.

    Groups are the connected components of similarity >= threshold, so the order of words does
    not matter; the member most similar to its whole group stands for it, ties by concept.
    """
    _, groups = connected_components(similarities >= threshold, directed=False)
    representatives = concepts.copy()
    for group in range(groups.max(initial=-1) + 1):
        members = np.flatnonzero(groups == group)
        totals = similarities[np.ix_(members, members)].sum(axis=1)
        best = min(zip(-totals.round(9), concepts[members], strict=True))[1]
        representatives[members] = best
    return representatives


def find_forms(
    texts: Texts,
    readings: Readings,
    text_of: Ints,
    taxonomy: Taxonomy,
    *,
    threshold: float,
    inclusive: bool,
) -> FoundForms:
    """Reduce each query to its attribute set and put them in canonical order.

    Args:
        texts: the distinct normalised queries, ascending; one that no record has is no form.
        readings: what the text pipeline found in each of them.
        text_of: of each record; points into `texts`.
    """
    rows_of_text = counts_of(text_of, len(texts)).astype(np.int32)
    represent = partial(
        _representatives, taxonomy=taxonomy, threshold=threshold, inclusive=inclusive
    )
    order = _canonical_order(readings, np.flatnonzero(rows_of_text), represent)
    in_doubt, identifiers = _mention_counts(readings, rows_of_text)
    form_of_text = rows_of_text
    form_of_text[order] = np.arange(len(order), dtype=np.int32)
    forms, words = _forms(order, texts, readings, represent)
    return FoundForms(forms, form_of_text, words, in_doubt, identifiers)


def build_record_table(
    found: FoundForms,
    text_of: Ints,
    users: Ints,
    times: Longs,
    *,
    stop_words: frozenset[str],
    bits_of: Callable[[Strings], Floats],
) -> RecordTable:
    """Put the records in canonical order.

    Args:
        text_of, users, times: of each record.
        bits_of: the information content of words.
    """
    sets, set_of_form = _distinct_sets(found.forms)
    of_row = computed(len(text_of), np.int32, lambda own: found.form_of_text[text_of[own]])
    by_form = members_of(of_row, len(found.forms))
    del of_row
    form_of, owners, log_rows = (column(len(text_of), np.int32) for _ in range(3))
    moments, done = column(len(text_of), np.int64), 0
    for forms, rows, numbers in by_form.parts():
        order = np.lexsort((users[rows], times[rows], numbers))
        rows, own = rows[order], slice(done, done + len(rows))
        form_of[own], log_rows[own] = numbers + forms.start, rows
        owners[own], moments[own] = users[rows], times[rows]
        done = own.stop
    return RecordTable(
        forms=found.forms,
        sets=sets,
        set_of_form=set_of_form,
        form_of=form_of,
        users=owners,
        times=moments,
        log_rows=log_rows,
        words=found.words,
        word_bits=bits_of(found.words),
        fillers=np.array(
            [stop_words.issuperset(said.split(" ")) for said in found.words.tolist()],
            dtype=np.bool_,
        ),
        in_doubt=found.in_doubt,
        identifiers=found.identifiers,
    )


def _mention_counts(readings: Readings, rows_of_text: Ints) -> tuple[int, Longs]:
    """Over all rows: the mentions in doubt, and the identifiers of each kind."""

    def rows_of(items: Longs) -> Ints:
        return rows_of_text[np.searchsorted(readings.item_offsets, items, side="right") - 1]

    identifiers = np.flatnonzero(readings.concepts <= IDENTIFIER_CONCEPT)
    kinds = IDENTIFIER_CONCEPT - readings.concepts[identifiers]
    counts = np.bincount(kinds, rows_of(identifiers), minlength=len(KINDS)).astype(np.int64)
    return int(rows_of(np.flatnonzero(readings.in_doubt)).sum()), counts


def _representatives(
    concepts: Ints, text: Longs, *, taxonomy: Taxonomy, threshold: float, inclusive: bool
) -> Ints:
    """Algorithm 1 on many texts at once; only texts that hold a similar pair are grouped."""
    left, right = _pairs_within(text)
    pair_keys = concepts[left].astype(np.int64) * len(taxonomy) + concepts[right]
    distinct, inverse = np.unique(pair_keys, return_inverse=True)
    a, b = np.divmod(distinct, len(taxonomy))
    distances = paired_distances(
        taxonomy, a.astype(np.int32), b.astype(np.int32), inclusive=inclusive
    )
    similar = (1.0 - distances >= threshold) & (a != b)
    result = concepts.copy()
    for index in np.unique(text[left[similar[inverse]]]):
        start, end = np.searchsorted(text, [index, index + 1])
        own = concepts[start:end]
        similarities = 1.0 - concept_distances(taxonomy, own, own, inclusive=inclusive)
        result[start:end] = represent_similar(own, similarities, threshold)
    return result


def _pairs_within(text: Longs) -> tuple[Longs, Longs]:
    """All pairs i < j of mentions of the same text (`text` ascending)."""
    ends = np.searchsorted(text, text, side="right")
    counts = ends - np.arange(len(text)) - 1
    left = np.repeat(np.arange(len(text)), counts)
    first = np.cumsum(counts) - counts
    right = left + 1 + np.arange(len(left)) - np.repeat(first, counts)
    return left, right


def _canonical_order(readings: Readings, kept: Longs, represent: Represent) -> Ints:
    """The kept texts, which ascend, ordered by attribute set, then mentions, then text."""
    with_attributes, content, sizes = [], [], [np.zeros(1, dtype=np.int64)]
    for start in range(0, len(kept), FORMS_AT_A_TIME):
        chosen = kept[start : start + FORMS_AT_A_TIME]
        offsets, items = take_ragged(readings.item_offsets, chosen)
        concepts = readings.concepts[items]
        text = owners(offsets)[concepts >= 0]
        concepts = represent(concepts[concepts >= 0], text)
        sorting = np.lexsort((concepts, text))
        text, concepts = text[sorting], concepts[sorting]
        first = np.ones(len(text), dtype=np.bool_)
        first[1:] = (text[1:] != text[:-1]) | (concepts[1:] != concepts[:-1])
        # Of each text its set, a zero, and its mentions; concepts count from one there.
        filled = distinct(text)
        owner = np.concatenate([text[first], filled, text])
        numbers = np.concatenate([concepts[first] + 1, np.zeros_like(filled), concepts + 1])
        content.append(numbers[np.argsort(owner, kind="stable")].astype(">u4").tobytes())
        sizes.append(4 * np.bincount(owner)[filled])
        with_attributes.append(start + filled)
    filled = np.concatenate([*with_attributes, np.zeros(0, dtype=np.int64)])
    plain = np.ones(len(kept), dtype=np.bool_)
    plain[filled] = False
    order, _ = ascending(b"".join([*content, bytes(WIDTH)]), np.cumsum(np.concatenate(sizes)))
    return np.concatenate([kept[plain], kept[filled[order]]]).astype(np.int32)


def _forms(
    order: Ints, texts: Texts, readings: Readings, represent: Represent
) -> tuple[QueryForms, Strings]:
    """The items of the texts in this order, some texts at a time; and the words, ascending."""
    lengths = np.diff(readings.item_offsets)[order]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    items = int(offsets[-1])
    item_words, item_concepts = (column(items, np.int32) for _ in range(2))
    item_kinds, item_identifiers = (column(items, np.int8) for _ in range(2))
    most = np.min_scalar_type(-1 - int(lengths.max(initial=0)))
    item_attributes = column(items, most)
    number_of: dict[str, int] = {}
    attributes = [(np.zeros(0, dtype=np.int32),) * 3]
    for start in range(0, len(order), FORMS_AT_A_TIME):
        chosen = order[start : start + FORMS_AT_A_TIME]
        own = slice(offsets[start], offsets[start + len(chosen)])
        part = readings.take(chosen)
        said = part.words(texts.strings(chosen))
        item_words[own] = [number_of.setdefault(word, len(number_of)) for word in said]
        text, concepts = owners(part.item_offsets), part.concepts
        is_mention, is_identifier = concepts >= 0, concepts <= IDENTIFIER_CONCEPT
        item_kinds[own] = np.select([is_mention, is_identifier], [ATTRIBUTE, IDENTIFIER], WORD)
        item_concepts[own] = np.maximum(concepts, NO_CONCEPT)
        item_identifiers[own] = np.where(is_identifier, IDENTIFIER_CONCEPT - concepts, -1)
        text, concepts = text[is_mention], concepts[is_mention]
        ranks, found = _distinct_attributes(text, represent(concepts, text), len(chosen))
        item_attributes[own] = -1
        item_attributes[own][is_mention] = ranks
        attributes.append(found)
    words = np.array(sorted(number_of), dtype=object)
    rank_of = np.empty(len(words), dtype=np.int32)
    rank_of[[number_of[word] for word in words.tolist()]] = np.arange(len(words), dtype=np.int32)
    del number_of
    for start in range(0, len(item_words), FORMS_AT_A_TIME):
        own = slice(start, start + FORMS_AT_A_TIME)
        item_words[own] = rank_of[item_words[own]]
    sizes, concepts, weights = map(np.concatenate, zip(*attributes, strict=True))
    forms = QueryForms(
        item_offsets=offsets,
        item_words=item_words,
        item_kinds=item_kinds,
        item_concepts=item_concepts,
        item_identifiers=item_identifiers,
        item_attributes=item_attributes,
        attribute_offsets=np.concatenate(([0], np.cumsum(sizes))),
        attributes=concepts,
        weights=weights,
    )
    return forms, words


def _distinct_attributes(
    text: Longs, standing: Ints, count: int
) -> tuple[Longs, tuple[Ints, Ints, Ints]]:
    """Which attribute of its form stands for each mention; how many each form has, these, and their
    weights."""
    keys = text * (int(standing.max(initial=0)) + 1) + standing
    _, first, inverse, weights = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    sizes = np.bincount(text[first], minlength=count).astype(np.int32)
    ranks = inverse - (np.cumsum(sizes) - sizes)[text]
    return ranks, (sizes, standing[first], weights.astype(np.int32))


def _distinct_sets(forms: QueryForms) -> tuple[AttributeSets, Ints]:
    """Fold equal neighbours: forms are in the order of their sets."""
    offsets, attributes = forms.attribute_offsets, forms.attributes
    sizes = np.diff(offsets)
    filled = np.flatnonzero(sizes)
    sizes = sizes[filled]
    is_new = np.append(True, sizes[1:] != sizes[:-1])[: len(filled)]
    # Of a form as large as the one before, each attribute is held against that one's.
    owner = np.repeat(np.arange(len(filled), dtype=np.int32), sizes)
    compared = np.flatnonzero(~is_new[owner])
    other = attributes[compared] != attributes[compared - sizes[owner[compared]]]
    is_new[owner[compared[other]]] = True
    set_of_form = np.full(len(forms), -1, dtype=np.int32)
    set_of_form[filled] = np.cumsum(is_new) - 1
    set_offsets, members = take_ragged(offsets, filled[is_new])
    return AttributeSets(offsets=set_offsets, concepts=attributes[members]), set_of_form
