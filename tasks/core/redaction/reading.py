"""How published rows read: which terms queries say, and in which order a row says them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import (
    VALUES,
    distinct,
    group_by,
    owners,
    ragged_from_keys,
    ragged_keys,
    take_ragged,
)
from tasks.core.records import ATTRIBUTE, WORD, Floats, Ints, Longs, RecordTable
from tasks.core.redaction.published import NO_CLUSTER, PublishedSets

UNSAID_PLACE = 1.0
"""Where a concept stands that no query of its row says: last."""
DECIMALS = 9
"""Places are compared after rounding, so that ties go to the lower term."""


class Said(NamedTuple):
    """Terms that queries say: whose term it is, ascending, the term, its place from 0 to 1."""

    queries: Longs
    terms: Longs
    places: Floats


def said_terms(
    table: RecordTable, forms: Ints | Longs, clusters: Ints | Longs, published: PublishedSets
) -> Said:
    """What the items of each query become, in their order: form forms[i] in cluster clusters[i]."""
    offsets, items = take_ragged(table.forms.item_offsets, forms)
    queries = owners(offsets)
    places = (np.arange(len(items)) - offsets[queries] + 0.5) / np.diff(offsets)[queries]
    kinds = table.forms.item_kinds[items]
    terms = table.forms.item_words[items].astype(np.int64)
    held = np.flatnonzero((kinds == ATTRIBUTE) & (clusters[queries] != NO_CLUSTER))
    own, slots = queries[held], table.forms.item_slots[items[held]]
    concepts = published.replacements(table.set_of_form[forms[own]], clusters[own], slots)
    terms[held] = -1 - concepts
    said = kinds == WORD
    said[held] = concepts >= 0
    return Said(queries[said], terms[said], places[said])


def ordered_terms(
    table: RecordTable,
    row_of: Longs,
    clusters: Ints,
    words: tuple[Longs, Ints],
    published: PublishedSets,
) -> tuple[Longs, Ints]:
    """Words and concepts of each row in the mean order in which its queries say them.

    Args:
        row_of: row of each record, or -1.
        clusters: cluster of each row.
        words: words of each row, as compressed rows.
    """
    wanted = _wanted(words, published.concepts(clusters))
    records = np.flatnonzero(row_of >= 0)
    first, query_of = group_by(row_of[records], table.form_of[records])
    rows, forms = row_of[records[first]], table.form_of[records[first]]
    said = said_terms(table, forms, clusters[rows], published)
    keys = ragged_keys(rows[said.queries], said.terms)
    weights = np.bincount(query_of, minlength=len(first))[said.queries]
    means = _mean_places(wanted, keys, weights, said.places)
    order = np.lexsort((wanted, np.round(means, DECIMALS), wanted // VALUES))
    return ragged_from_keys(wanted[order], len(clusters))


def _wanted(words: tuple[Longs, Ints], concepts: tuple[Longs, Ints]) -> Longs:
    """The terms of all rows, ascending."""
    keys = [
        ragged_keys(owners(words[0]), words[1]),
        ragged_keys(owners(concepts[0]), -1 - concepts[1]),
    ]
    return distinct(np.concatenate(keys))


def _mean_places(wanted: Longs, said: Longs, weights: Longs, places: Floats) -> Floats:
    """The mean place of each wanted term over all that is said."""
    held = np.isin(said, wanted)
    found, counts = np.searchsorted(wanted, said[held]), weights[held]
    totals = np.bincount(found, counts * places[held], minlength=len(wanted))
    said_by = np.bincount(found, counts, minlength=len(wanted))
    return np.where(said_by > 0, totals / np.maximum(said_by, 1), UNSAID_PLACE)
