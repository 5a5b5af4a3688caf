"""The record table: each query reduced to its set of attributes (paper §3.1, Algorithm 1).

Of the attributes of one query that are similar one stands for all; queries that say the same are
one form, forms with the same attributes share one set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy.sparse.csgraph import connected_components

from tasks.core.arrays import distinct, owners, take_ragged
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.readings import IDENTIFIER_CONCEPT, Readings
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
ITEM_COLUMNS: Final[dict[str, Any]] = {
    "item_words": np.int32,
    "item_kinds": np.int32,
    "item_concepts": np.int32,
    "item_identifiers": np.int32,
    "item_attributes": np.int32,
}


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


def build_record_table(
    texts: Texts,
    readings: Readings,
    text_of: Ints,
    users: Ints,
    times: Longs,
    taxonomy: Taxonomy,
    *,
    stop_words: frozenset[str],
    bits_of: Callable[[Strings], Floats],
    threshold: float,
    inclusive: bool,
) -> RecordTable:
    """Reduce each query to its attribute set and put everything in canonical order.

    Args:
        texts: the distinct normalised queries, ascending; one that no record has is no form.
        readings: what the text pipeline found in each of them.
        text_of, users, times: of each record; `text_of` points into `texts`.
        bits_of: the information content of words.
    """
    rows_of_text = np.bincount(text_of, minlength=len(texts)).astype(np.int32)
    in_doubt, identifiers = _mention_counts(readings, rows_of_text)
    standing = _standing(readings, taxonomy, threshold=threshold, inclusive=inclusive)
    order = _canonical_order(standing, readings.item_offsets, np.flatnonzero(rows_of_text))
    form_of_text = rows_of_text
    form_of_text[order] = np.arange(len(order), dtype=np.int32)
    forms, words = _forms(order, texts, readings, standing)
    # From here on there are records, and no room for texts beside them.
    del texts, readings, standing, order
    sets, set_of_form = _distinct_sets(forms)
    form_of = form_of_text[text_of]
    canonical = np.lexsort((users, times, form_of)).astype(np.int32)
    return RecordTable(
        forms=forms,
        sets=sets,
        set_of_form=set_of_form,
        form_of=form_of[canonical],
        users=users[canonical],
        times=times[canonical],
        log_rows=canonical,
        words=words,
        word_bits=bits_of(words),
        fillers=np.array(
            [stop_words.issuperset(said.split(" ")) for said in words.tolist()], dtype=np.bool_
        ),
        in_doubt=in_doubt,
        identifiers=identifiers,
    )


def _mention_counts(readings: Readings, rows_of_text: Ints) -> tuple[int, Longs]:
    """Over all rows: the mentions in doubt, and the identifiers of each kind."""

    def rows_of(items: Longs) -> Ints:
        return rows_of_text[np.searchsorted(readings.item_offsets, items, side="right") - 1]

    identifiers = np.flatnonzero(readings.concepts <= IDENTIFIER_CONCEPT)
    kinds = IDENTIFIER_CONCEPT - readings.concepts[identifiers]
    counts = np.bincount(kinds, rows_of(identifiers), minlength=len(KINDS)).astype(np.int64)
    return int(rows_of(np.flatnonzero(readings.in_doubt)).sum()), counts


def _standing(readings: Readings, taxonomy: Taxonomy, *, threshold: float, inclusive: bool) -> Ints:
    """The concept that stands for each item, by Algorithm 1 on some texts at a time."""
    offsets, standing = readings.item_offsets, readings.concepts.copy()
    for start in range(0, len(readings), FORMS_AT_A_TIME):
        bounds = offsets[start : start + FORMS_AT_A_TIME + 1]
        mentions = bounds[0] + np.flatnonzero(standing[bounds[0] : bounds[-1]] >= 0)
        text = np.searchsorted(bounds, mentions, side="right") - 1
        standing[mentions] = _representatives(
            standing[mentions], text, taxonomy, threshold=threshold, inclusive=inclusive
        )
    return standing


def _representatives(
    concepts: Ints, text: Longs, taxonomy: Taxonomy, *, threshold: float, inclusive: bool
) -> Ints:
    """Algorithm 1 on all texts at once; only texts that hold a similar pair are grouped."""
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


def _canonical_order(standing: Ints, offsets: Longs, kept: Longs) -> Ints:
    """The kept texts, which ascend, ordered by attribute set, then mentions, then text."""
    content, sizes = [], []
    for start in range(0, len(kept), FORMS_AT_A_TIME):
        chosen = kept[start : start + FORMS_AT_A_TIME]
        own_offsets, items = take_ragged(offsets, chosen)
        concepts = standing[items]
        text = owners(own_offsets)[concepts >= 0]
        concepts = concepts[concepts >= 0]
        order = np.lexsort((concepts, text))
        text, concepts = text[order], concepts[order]
        first = np.ones(len(text), dtype=np.bool_)
        first[1:] = (text[1:] != text[:-1]) | (concepts[1:] != concepts[:-1])
        # Of each text its set, a zero, and its mentions; concepts count from one there.
        filled = distinct(text)
        owner = np.concatenate([text[first], filled, text])
        numbers = np.concatenate([concepts[first] + 1, np.zeros_like(filled), concepts + 1])
        content.append(numbers[np.argsort(owner, kind="stable")].astype(">u4").tobytes())
        sizes.append(4 * np.bincount(owner, minlength=len(chosen)))
    ends = np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64)
    order, _ = ascending(b"".join([*content, bytes(WIDTH)]), ends)
    return kept[order].astype(np.int32)


def _forms(
    order: Ints, texts: Texts, readings: Readings, standing: Ints
) -> tuple[QueryForms, Strings]:
    """The items of the texts in this order, some texts at a time; and the words, ascending."""
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(np.diff(readings.item_offsets)[order], out=offsets[1:])
    columns = {name: np.empty(offsets[-1], dtype=kind) for name, kind in ITEM_COLUMNS.items()}
    number_of: dict[str, int] = {}
    none = np.zeros(0, dtype=np.int32)
    attributes = [(none.astype(np.int64), none, none)]
    for start in range(0, len(order), FORMS_AT_A_TIME):
        chosen = order[start : start + FORMS_AT_A_TIME]
        own = slice(offsets[start], offsets[start + len(chosen)])
        part = readings.take(chosen)
        said = part.words(texts.strings(chosen))
        columns["item_words"][own] = [number_of.setdefault(word, len(number_of)) for word in said]
        concepts = part.concepts
        is_identifier = concepts <= IDENTIFIER_CONCEPT
        columns["item_kinds"][own] = np.select(
            [concepts >= 0, is_identifier], [ATTRIBUTE, IDENTIFIER], WORD
        )
        columns["item_concepts"][own] = np.maximum(concepts, NO_CONCEPT)
        columns["item_identifiers"][own] = np.where(
            is_identifier, IDENTIFIER_CONCEPT - concepts, -1
        )
        own_standing = standing[take_ragged(readings.item_offsets, chosen)[1]]
        columns["item_attributes"][own], found = _distinct_attributes(
            owners(part.item_offsets), own_standing, len(chosen)
        )
        attributes.append(found)
    words = np.array(sorted(number_of), dtype=object)
    rank_of = np.empty(len(words), dtype=np.int32)
    rank_of[[number_of[word] for word in words.tolist()]] = np.arange(len(words), dtype=np.int32)
    columns["item_words"] = rank_of[columns["item_words"]]
    sizes, concepts, weights = map(np.concatenate, zip(*attributes, strict=True))
    forms = QueryForms(
        item_offsets=offsets,
        **columns,
        attribute_offsets=np.concatenate(([0], np.cumsum(sizes))),
        attributes=concepts,
        weights=weights,
    )
    return forms, words


def _distinct_attributes(
    text: Longs, standing: Ints, count: int
) -> tuple[Longs, tuple[Longs, Ints, Ints]]:
    """Which attribute of its form stands for each item; how many each form has, these, and their
    weights."""
    mentions = np.flatnonzero(standing >= 0)
    keys = text[mentions] * (int(standing.max(initial=0)) + 1) + standing[mentions]
    _, first, inverse, weights = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    sizes = np.bincount(text[mentions][first], minlength=count).astype(np.int64)
    ranks = np.full(len(standing), -1, dtype=np.int64)
    ranks[mentions] = inverse - (np.cumsum(sizes) - sizes)[text[mentions]]
    return ranks, (sizes, standing[mentions][first], weights.astype(np.int32))


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
