"""Record distances against a plain loop over Python sets, results equal.

Which concepts are similar is known to both sides before the clock starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tasks.core.records import AttributeSets, Ints
from tasks.core.similarity.concepts import ConceptDistances, measure_concepts
from tasks.core.similarity.pairs import Pairs, least_set_pairs, record_pairs
from tasks.core.taxonomy import Taxonomy
from tests.bench.ratios import ratio
from tests.bench.timing import median_timed, timed
from tests.oracles import paper as oracles

THRESHOLD: Final = 0.8

Pair = tuple[int, int]


def compare_records(taxonomy: Taxonomy, sets: AttributeSets, set_of: Ints) -> dict[str, Any]:
    """Algorithm 2 and Eq. 9: for each record the later ones of least distance.

    Args:
        set_of: the set of each record, ascending; every set is some record's.
    """
    distances = measure_concepts(taxonomy, np.unique(sets.concepts))
    ours = median_timed(lambda: _our_pairs(distances, sets, set_of))
    similar = similar_concepts(distances)
    records = [frozenset(sets.row(row).tolist()) for row in set_of.tolist()]
    loop = timed(lambda: least_pairs_by_loop(records, similar))
    return {
        **{"records": len(records), "distinct_sets": len(sets)},
        "pairs": len(records) * (len(records) - 1) // 2,
        **{"our_seconds": ours.seconds, "python_set_loop_seconds": loop.seconds},
        "ratio": ratio(loop.seconds, ours.seconds),
        "equal": oracles.expanded(ours.result) == loop.result,
    }


def _our_pairs(distances: ConceptDistances, sets: AttributeSets, set_of: Ints) -> Pairs:
    similar = distances.similar(THRESHOLD)
    least = least_set_pairs(distances.in_classes(sets), similar, distance="jaccard")
    bounds = np.searchsorted(set_of, np.arange(len(sets) + 1)).astype(np.int64)
    return record_pairs(least, sets, bounds, distance="jaccard")


def similar_concepts(distances: ConceptDistances) -> dict[int, frozenset[int]]:
    """For each concept those that may be matched with it (Eq. 2)."""
    near = 1.0 - distances.matrix >= THRESHOLD
    return {
        concept: frozenset(distances.concepts[near[row][distances.classes]].tolist())
        for concept, row in zip(
            distances.concepts.tolist(), distances.classes.tolist(), strict=True
        )
    }


def least_pairs_by_loop(
    records: Sequence[frozenset[int]], similar: dict[int, frozenset[int]]
) -> dict[Pair, float]:
    """Algorithm 2 and Eq. 9, pair by pair."""
    chosen: dict[Pair, float] = {}
    for i, left in enumerate(records):
        partners = [similar[concept] for concept in left]
        row: dict[Pair, float] = {}
        for j in range(i + 1, len(records)):
            shared = most_matches([near & records[j] for near in partners])
            if shared:
                union = len(left) + len(records[j]) - shared
                row[i, j] = (union - shared) / union
        least = min(row.values(), default=None)
        chosen.update({pair: score for pair, score in row.items() if score == least})
    return chosen


def most_matches(partners: Sequence[frozenset[int]]) -> int:
    """The greatest number of one-to-one pairs, given what each may be paired with."""
    open_to = [near for near in partners if near]
    if len(open_to) < 2:
        return len(open_to)
    first, *others = open_to
    with_first = (1 + most_matches([near - {one} for near in others]) for one in first)
    return max(most_matches(others), *with_first)
