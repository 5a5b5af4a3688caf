"""Whether what a row publishes is true of the record behind it.

A concept is true of a record if the record mentions it, or something below it. Many rows publish
the same concepts for records that mention the same: each such pair is judged once.
"""

from __future__ import annotations

import numpy as np

from tasks.core.arrays import taken
from tasks.core.columns import computed
from tasks.core.members import members_of
from tasks.core.records import Flags, Ints, Longs
from tasks.core.taxonomy import Taxonomy
from tasks.core.verification.evidence import (
    CONCEPTS,
    PART,
    Evidence,
    spread,
)


def rows_told_falsely(evidence: Evidence) -> Flags:
    """Mark the rows that publish a concept which is not true of the record behind them."""
    # Where nothing is published nothing is untrue.
    cells = evidence.concepts_of_class
    published, known = _published_concepts(evidence), _known_pairs(evidence.knowledge.taxonomy)
    mentions, width = evidence.behind.mentions, len(evidence.behind.mentioned)
    cell_of = taken(np.append(cells, np.int32(-1)), evidence.class_of)
    found = computed(len(evidence), np.bool_, lambda rows: np.zeros(rows.stop - rows.start, bool))
    for own, rows, group_of in members_of(cell_of, len(published[0]) - 1).parts():
        pairs, pair_of = np.unique(group_of * width + mentions[rows], return_inverse=True)
        untrue = [
            _pairs_told_falsely(evidence, published, known, part // width + own.start, part % width)
            for part in np.array_split(pairs, len(pairs) // PART + 1)
        ]
        found[rows] = np.concatenate(untrue)[pair_of]
    return found


def _pairs_told_falsely(
    evidence: Evidence, published: tuple[Longs, Longs], known: Longs, cells: Longs, records: Longs
) -> Flags:
    """The same for pairs of a cell of concepts and of a set of concepts that a record mentions."""
    pair_of, places = spread(published[0], cells)
    concepts = published[1][places]
    mentioned = evidence.behind.mentioned
    claim_of, mentions = spread(mentioned.offsets, records[pair_of])
    is_above = _at_or_above(
        known, len(evidence.knowledge.taxonomy), concepts[claim_of], mentioned.concepts[mentions]
    )
    is_true = np.bincount(claim_of[is_above], minlength=len(concepts)) > 0
    return np.asarray(np.bincount(pair_of[~is_true], minlength=len(cells)) > 0)


def _published_concepts(evidence: Evidence) -> tuple[Longs, Longs]:
    """Concepts of each distinct cell that has any, as a ragged array; -1: WordNet lacks it."""
    _, *cells = evidence.cells[CONCEPTS - 1]
    rows = [cell.split(";") for cell in cells]
    number = evidence.knowledge.numbers.get
    concepts = [number(name, -1) for row in rows for name in row]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array(concepts, dtype=np.int64)


def _known_pairs(taxonomy: Taxonomy) -> Longs:
    """Every concept with each that lies above it as one number, ascending."""
    count, lengths = len(taxonomy), np.diff(taxonomy.ancestor_offsets)
    return np.asarray(np.repeat(np.arange(count) * count, lengths) + taxonomy.ancestors)


def _at_or_above(known: Longs, count: int, above: Longs, below: Ints) -> Flags:
    """Whether each concept is the other one, or an ancestor of it."""
    keys = below.astype(np.int64) * count + above
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found = known[places] == keys if len(known) else np.zeros(len(keys), dtype=np.bool_)
    return np.asarray((above == below) | (found & (above >= 0)))
