"""The record table: each query reduced to its set of attributes (paper §3.1, Algorithm 1).

Of the attributes of one query that are similar one stands for all; queries that say the same are
one form, forms with the same attributes share one set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import connected_components

from tasks.core.arrays import take_ragged
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
    texts: Sequence[str],
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
        texts: the distinct normalised queries.
        readings: what the text pipeline found in each of them.
        text_of, users, times: of each record; `text_of` points into `texts`.
        bits_of: the information content of words.
    """
    offsets, concepts = readings.item_offsets, readings.concepts
    item_text = np.repeat(np.arange(len(texts)), np.diff(offsets))
    mentions = np.flatnonzero(concepts >= 0)
    standing = concepts.copy()
    standing[mentions] = _representatives(
        concepts[mentions], item_text[mentions], taxonomy, threshold=threshold, inclusive=inclusive
    )
    order = _canonical_order(texts, standing, offsets)
    words, item_words = _vocabulary(readings.words(texts))
    forms = _forms(order, item_words, concepts, standing, offsets)
    sets, set_of_form = _distinct_sets(forms)
    form_of_text = np.empty(len(texts), dtype=np.int32)
    form_of_text[order] = np.arange(len(texts), dtype=np.int32)
    form_of = form_of_text[text_of]
    canonical = np.lexsort((users, times, form_of))
    rows_of_text = np.bincount(text_of, minlength=len(texts))
    doubts = np.bincount(item_text[readings.in_doubt], minlength=len(texts))
    return RecordTable(
        forms=forms,
        sets=sets,
        set_of_form=set_of_form,
        form_of=form_of[canonical],
        users=users[canonical],
        times=times[canonical],
        log_rows=canonical.astype(np.int32),
        words=words,
        word_bits=bits_of(words),
        fillers=np.array(
            [stop_words.issuperset(said.split(" ")) for said in words.tolist()], dtype=np.bool_
        ),
        in_doubt=int(doubts[text_of].sum()),
        identifiers=_identifier_counts(concepts, rows_of_text[item_text]),
    )


def _identifier_counts(concepts: Ints, mentioned: Longs) -> Longs:
    """How many identifiers of each kind the log holds, given in how many rows each item stands."""
    identifiers = np.flatnonzero(concepts <= IDENTIFIER_CONCEPT)
    kinds, weights = IDENTIFIER_CONCEPT - concepts[identifiers], mentioned[identifiers]
    return np.bincount(kinds, weights, minlength=len(KINDS)).astype(np.int64)


def _vocabulary(said: list[str]) -> tuple[Strings, Ints]:
    """The distinct words, ascending, and which of them each item says."""
    vocabulary = sorted(set(said))
    index_of = {word: index for index, word in enumerate(vocabulary)}
    item_words = np.array([index_of[word] for word in said], dtype=np.int32)
    return np.array(vocabulary, dtype=object), item_words


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


def _canonical_order(texts: Sequence[str], standing: Ints, offsets: Longs) -> Longs:
    """Indices of the texts ordered by attribute set, then mentions, then text."""
    text = np.repeat(np.arange(len(texts)), np.diff(offsets))[standing >= 0]
    concepts = standing[standing >= 0]
    order = np.lexsort((concepts, text))
    text, concepts = text[order], concepts[order]
    first = np.append(True, (text[1:] != text[:-1]) | (concepts[1:] != concepts[:-1]))[: len(text)]
    sets = _comparable_rows(text[first], concepts[first], len(texts))
    mentions = _comparable_rows(text, concepts, len(texts))
    keys = list(zip(sets, mentions, texts, strict=True))
    return np.array(sorted(range(len(texts)), key=keys.__getitem__), dtype=np.int64)


def _comparable_rows(text: Longs, concepts: Ints, count: int) -> list[bytes]:
    """The concepts of each text as bytes, which compare as lists of numbers do, only faster."""
    content, width = concepts.astype(">u4").tobytes(), 4
    bounds = np.searchsorted(text, np.arange(count + 1)).tolist()
    return [content[width * start : width * end] for start, end in pairwise(bounds)]


def _forms(
    order: Longs, item_words: Ints, concepts: Ints, standing: Ints, offsets: Longs
) -> QueryForms:
    """The items of all texts in canonical order."""
    lengths = np.diff(offsets)[order]
    new_offsets = np.concatenate(([0], np.cumsum(lengths)))
    items = np.repeat(offsets[order] - new_offsets[:-1], lengths) + np.arange(new_offsets[-1])
    kinds = np.select(
        [concepts >= 0, concepts <= IDENTIFIER_CONCEPT], [ATTRIBUTE, IDENTIFIER], WORD
    )
    text = np.repeat(np.arange(len(order)), lengths)
    own_standing = standing[items]
    ranks, attribute_offsets, attributes, weights = _distinct_attributes(
        text, own_standing, len(order)
    )
    return QueryForms(
        item_offsets=new_offsets.astype(np.int64),
        item_words=item_words[items],
        item_kinds=kinds[items].astype(np.int32),
        item_concepts=np.maximum(concepts[items], NO_CONCEPT),
        item_identifiers=np.where(
            kinds[items] == IDENTIFIER, IDENTIFIER_CONCEPT - concepts[items], -1
        ).astype(np.int32),
        item_attributes=ranks,
        attribute_offsets=attribute_offsets,
        attributes=attributes,
        weights=weights,
    )


def _distinct_attributes(text: Longs, standing: Ints, count: int) -> tuple[Ints, Longs, Ints, Ints]:
    """Which attribute of its form stands for each item; the forms' attributes and their weights."""
    mentions = np.flatnonzero(standing >= 0)
    keys = text[mentions] * (int(standing.max(initial=0)) + 1) + standing[mentions]
    _, first, inverse, weights = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    attribute_text = text[mentions][first]
    offsets = np.searchsorted(attribute_text, np.arange(count + 1)).astype(np.int64)
    ranks = np.full(len(standing), -1, dtype=np.int32)
    ranks[mentions] = inverse - offsets[text[mentions]]
    return ranks, offsets, standing[mentions][first], weights.astype(np.int32)


def _distinct_sets(forms: QueryForms) -> tuple[AttributeSets, Ints]:
    """Fold equal neighbours: forms are in the order of their sets."""
    offsets, attributes = forms.attribute_offsets, forms.attributes
    filled = np.flatnonzero(np.diff(offsets))
    content, width = attributes.tobytes(), attributes.itemsize
    rows = [content[width * offsets[f] : width * offsets[f + 1]] for f in filled.tolist()]
    is_new = np.array([a != b for a, b in pairwise([b"", *rows])], dtype=np.bool_)
    set_of_form = np.full(len(forms), -1, dtype=np.int32)
    set_of_form[filled] = np.cumsum(is_new) - 1
    set_offsets, members = take_ragged(offsets, filled[is_new])
    return AttributeSets(offsets=set_offsets, concepts=attributes[members]), set_of_form
