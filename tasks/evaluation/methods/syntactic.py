"""Microaggregation by how queries are spelt: the baseline that knows no meaning."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from tasks.core.clustering.mdav import mdav_labels
from tasks.core.clustering.problem import clusters_of
from tasks.core.records import Ints
from tasks.core.similarity.costs import Costs, SetCosts
from tasks.evaluation.methods.interface import Material, Method, Outcome, published_by_clusters


def _syntactic(material: Material, k: int) -> Outcome:
    problem = material.problem(k)
    sets, concepts = material.table.sets, material.distances.concepts
    spelt = SetCosts(
        sets.offsets,
        np.searchsorted(concepts, sets.concepts).astype(np.int32),
        string_distances(tuple(material.taxonomy.words[concepts].tolist())),
    )
    # Blocks of large logs are still cut along the taxonomy, by the paths of the concepts.
    paths = problem.paths[material.distances.classes]
    labels: Ints = mdav_labels(replace(problem, costs=spelt, paths=paths), material.run)
    return published_by_clusters(material, clusters_of(material.table, labels, problem))


@lru_cache(maxsize=1)
def string_distances(words: tuple[str, ...]) -> Costs:
    """Edit distance of each pair, in shares of the longer one: 0 for the same, 1 at most.

    Remembered for the next k.
    """
    return np.asarray(cdist(words, words, scorer=Levenshtein.normalized_distance, dtype=np.float32))


SYNTACTIC: Final = Method(
    "syntactic",
    "baseline",
    True,
    _syntactic,
    "G. Navarro-Arribas, V. Torra, A. Erola, J. Castellà-Roca: User k-anonymity for privacy "
    "preserving data mining of query logs, IPM 48 (2012)",
    "Theirs are whole users, here the units are records, as for every method (and as in the "
    "paper's comparison). A record's strings are the words of its attributes; two records are at "
    "the sum of every string's normalised edit distance to the nearest of the other. Clicks and "
    "times are left out. MDAV with k people; published as adaptive's, which is kinder than one "
    "member's query. Written from the abstract and the paper's account of it.",
)
