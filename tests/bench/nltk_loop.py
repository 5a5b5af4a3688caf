"""Attribute distances against a plain loop over NLTK's synsets, results equal.

Before the clock starts both sides know the concepts: the synsets are looked up and NLTK has read
every line of WordNet that the loops need.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from tasks.adapters.wordnet import ROOT
from tasks.core.records import Floats, Ints
from tasks.core.similarity.concepts import measure_concepts
from tasks.core.taxonomy import Taxonomy
from tests.bench.ratios import ratio
from tests.bench.timing import Timed, median_timed, timed

NAIVE_PAIRS: Final = 2_000
ROUNDING: Final = 1e-6
"""Ours are kept in single precision."""

STRAIGHT: Final = "ancestors asked of NLTK for each pair; a sample of the pairs, extrapolated"
CACHED: Final = "ancestors asked of NLTK once per synset, then Python sets; all pairs"

Pair = tuple[int, int]


def compare_attributes(
    taxonomy: Taxonomy, reader: Any, concepts: Ints, *, seed: int
) -> dict[str, Any]:
    """Eq. 1 for all pairs of the concepts: ours, a straight loop, and one with a cache."""
    ours = median_timed(lambda: _our_matrix(taxonomy, concepts))
    root = reader.synset(ROOT)
    synsets = _read_before(reader, taxonomy.names[concepts].tolist(), root)
    pairs = list(combinations(range(len(synsets)), 2))
    sample = random.Random(seed).sample(pairs, min(NAIVE_PAIRS, len(pairs)))
    cached = timed(lambda: loop_with_cached_ancestors(synsets, root))
    naive = timed(lambda: straight_loop(synsets, root, sample))
    found = ((pairs, cached.result), (sample, naive.result))
    furthest = max(_largest_difference(ours.result, *each) for each in found)
    return {
        **{"concepts": len(concepts), "pairs": len(pairs), "our_seconds": ours.seconds},
        "straight_pair_loop": _against(STRAIGHT, ours.seconds, naive, len(pairs)),
        "loop_with_cached_ancestors": _against(CACHED, ours.seconds, cached, len(pairs)),
        "largest_difference": furthest,
        "equal": furthest < ROUNDING,
    }


def _read_before(reader: Any, names: Sequence[str], root: Any) -> list[Any]:
    """The synsets; NLTK keeps the lines that it reads for their ancestors."""
    synsets = [reader.synset(name) for name in names]
    for synset in synsets:
        ancestors(synset, root)
    return synsets


def _against(what: str, ours: float, loop: Timed[list[float]], pairs: int) -> dict[str, Any]:
    timed_pairs = len(loop.result)
    seconds = round(loop.seconds * pairs / timed_pairs, 3)
    figures = {"pairs_timed": timed_pairs, "seconds": seconds, "ratio": ratio(seconds, ours)}
    return {"what": what, **figures}


def _largest_difference(matrix: Floats, pairs: Sequence[Pair], found: Sequence[float]) -> float:
    left, right = np.array(pairs, dtype=np.int64).T
    return float(np.abs(matrix[left, right] - np.array(found)).max())


def _our_matrix(taxonomy: Taxonomy, concepts: Ints) -> Floats:
    return measure_concepts(taxonomy, concepts).between(concepts, concepts)


def straight_loop(synsets: Sequence[Any], root: Any, pairs: Sequence[Pair]) -> list[float]:
    """Eq. 1 as one writes it down: both ancestor sets for each pair."""
    return [eq_1(ancestors(synsets[i], root), ancestors(synsets[j], root)) for i, j in pairs]


def loop_with_cached_ancestors(synsets: Sequence[Any], root: Any) -> list[float]:
    """Eq. 1 for all pairs, the ancestors of each synset looked up once."""
    sets = [ancestors(synset, root) for synset in synsets]
    return [eq_1(left, right) for left, right in combinations(sets, 2)]


def ancestors(synset: Any, root: Any) -> set[Any]:
    """T(x): all proper ancestors over hypernym and instance links, without the root."""
    above = synset.closure(lambda of: of.hypernyms() + of.instance_hypernyms())
    return set(above) - {synset, root}


def eq_1(left: set[Any], right: set[Any]) -> float:
    """The distance of two different concepts from their ancestors."""
    union = len(left | right)
    return math.log2(1 + (union - len(left & right)) / union) if union else 1.0
