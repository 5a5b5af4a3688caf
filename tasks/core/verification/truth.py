"""Whether what a row publishes is true of the record behind it.

A concept is true of a record if the record mentions it, or something below it. Many rows publish
the same concepts for records that mention the same: each such pair is judged once.
"""

from __future__ import annotations

import numpy as np

from tasks.core.records import Flags, Ints, Longs
from tasks.core.taxonomy import Taxonomy
from tasks.core.verification.evidence import CONCEPTS, Evidence, numbered, spread


def rows_told_falsely(evidence: Evidence) -> Flags:
    """Mark the rows that publish a concept which is not true of the record behind them."""
    cell_of = np.append(numbered(row[CONCEPTS] for row in evidence.classes), -1)[evidence.class_of]
    readable, width = evidence.readable, max(1, len(evidence.behind.mentioned))
    keys = cell_of[readable] * width + evidence.behind.mentions[readable]
    pairs, pair_of = np.unique(keys, return_inverse=True)
    cells, records = np.divmod(pairs, width)
    told_falsely = np.zeros(len(evidence.rows), dtype=np.bool_)
    told_falsely[readable] = _pairs_told_falsely(evidence, cells, records)[pair_of]
    return told_falsely


def _pairs_told_falsely(evidence: Evidence, cells: Longs, records: Longs) -> Flags:
    """The same for pairs of a cell of concepts and of a set of concepts that a record mentions."""
    offsets, published = _published_concepts(evidence)
    pair_of, places = spread(offsets, cells)
    concepts = published[places]
    mentioned = evidence.behind.mentioned
    claim_of, mentions = spread(mentioned.offsets, records[pair_of])
    is_above = _at_or_above(
        evidence.knowledge.taxonomy, concepts[claim_of], mentioned.concepts[mentions]
    )
    is_true = np.bincount(claim_of[is_above], minlength=len(concepts)) > 0
    return np.asarray(np.bincount(pair_of[~is_true], minlength=len(cells)) > 0)


def _published_concepts(evidence: Evidence) -> tuple[Longs, Longs]:
    """Concepts of each distinct cell as a ragged array; -1 for one that WordNet lacks."""
    cells = list(dict.fromkeys(row[CONCEPTS] for row in evidence.classes))
    rows = [cell.split(";") if cell else [] for cell in cells]
    number = evidence.knowledge.numbers.get
    concepts = [number(name, -1) for row in rows for name in row]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array(concepts, dtype=np.int64)


def _at_or_above(taxonomy: Taxonomy, above: Longs, below: Ints) -> Flags:
    """Whether each concept is the other one, or an ancestor of it."""
    count, lengths = len(taxonomy), np.diff(taxonomy.ancestor_offsets)
    # Ascending, as the ancestors of each concept are.
    known = np.repeat(np.arange(count) * count, lengths) + taxonomy.ancestors
    keys = below.astype(np.int64) * count + above
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found = known[places] == keys if len(known) else np.zeros(len(keys), dtype=np.bool_)
    return np.asarray((above == below) | (found & (above >= 0)))
