"""Microaggregation of other people's: by how queries are spelt, and by recurrence-weighted meaning.

Both are MDAV on a distance of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from scipy import sparse

from tasks.core.arrays import owners, take_ragged
from tasks.core.clustering.blocks import Between, compared_sets, cut_into_blocks, in_blocks
from tasks.core.clustering.mdav import SetSpace, mdav, mdav_labels
from tasks.core.clustering.problem import Problem, UserSizes, clusters_of
from tasks.core.records import Floats, Ints, Longs, RecordTable
from tasks.core.similarity.costs import Costs, SetCosts, nearest_squares
from tasks.errors import UsageError
from tasks.evaluation.method import Material, Method, Outcome, published_by_clusters

try:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist
except ModuleNotFoundError:
    message = "a comparison of methods needs rapidfuzz: pip install 'logveil[compare]'"
    raise UsageError(message) from None


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
    labels: Ints = mdav_labels(replace(problem, costs=spelt, paths=paths), material.starmap)
    return published_by_clusters(material, clusters_of(material.table, labels, problem), k)


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
    "times are left out. MDAV with k people; rows are chosen within clusters, kinder than one "
    "member's query. Written from the abstract and the paper's account of it.",
)


def _semantic(material: Material, k: int) -> Outcome:
    problem = material.problem(k)
    shares, matrix = recurrences(material), material.distances.matrix
    blocks = cut_into_blocks(problem) if problem.solvable else []
    sources = [_Given(shares[_compared(problem, block)], matrix) for block in blocks]
    labels = in_blocks(problem, _cluster_block, material.starmap, sources)
    return published_by_clusters(material, clusters_of(material.table, labels, problem), k)


def _compared(problem: Problem, block: Longs) -> Longs:
    return block[compared_sets(problem.part(block))]


def _cluster_block(problem: Problem, between: Between) -> Ints:
    return mdav(SetSpace(problem, between(problem)), UserSizes(problem), len(problem))


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """Distances of the sets of a block, whose recurrences are given."""

    shares: sparse.csr_matrix
    matrix: Costs

    def __call__(self, problem: Problem) -> Costs:
        return weighted_distances(self.shares, self.matrix)


def weighted_distances(shares: sparse.csr_matrix, matrix: Costs) -> Costs:
    """Mean δ of the attributes of two records, each counted as often as it recurs.

    Every attribute with the nearest one of the other record, both ways: symmetric, and nothing
    between equal records.

    Args:
        shares: part of each class in each record, rows sum to 1, shape (n, classes).
        matrix: δ between classes.
    """
    used = np.unique(shares.indices)
    own = shares[:, used].tocsr()
    close = matrix[np.ix_(used, used)]
    # For each record and class the distance of the class to the record's nearest.
    nearest = nearest_squares(own.indptr.astype(np.int64), own.indices, close)
    one_way: Floats = np.asarray(own @ np.ascontiguousarray(nearest.T))
    return ((one_way + one_way.T) / 2).astype(np.float32)


def recurrences(material: Material) -> sparse.csr_matrix:
    """Part of each class in the mentions of each distinct set, over all its records."""
    table, distances = material.table, material.distances
    weights = _mentions(table)
    totals = np.repeat(np.add.reduceat(weights, table.sets.offsets[:-1]), table.sets.sizes)
    rows = distances.in_classes(table.sets)
    return sparse.csr_matrix(
        (weights / totals, rows.concepts, rows.offsets),
        shape=(len(table.sets), len(distances.matrix)),
    )


def _mentions(table: RecordTable) -> Floats:
    """How often each attribute of each set is mentioned, in the order of the sets' values."""
    forms = np.flatnonzero(table.set_of_form >= 0)
    records = np.bincount(table.form_of, minlength=len(table.forms))[forms]
    offsets, places = take_ragged(table.forms.attribute_offsets, forms)
    # Forms of one set list their attributes in the same order.
    within = np.arange(len(places)) - offsets[owners(offsets)]
    values = table.sets.offsets[table.set_of_form[forms[owners(offsets)]]] + within
    weights = table.forms.weights[places] * records[owners(offsets)]
    found = np.bincount(values, weights, minlength=len(table.sets.concepts))
    return found.astype(np.float64)


SEMANTIC: Final = Method(
    "semantic",
    "baseline",
    True,
    _semantic,
    "M. Batet, A. Erola, D. Sánchez, J. Castellà-Roca: Utility preserving query log anonymization "
    "via semantic microaggregation, Information Sciences 242 (2013)",
    "WordNet and Eq. 1 in place of the Open Directory; records in place of whole users. Two "
    "records are at the mean distance of every attribute to the nearest of the other, counted as "
    "often as it recurs, both ways. MDAV with k people; rows are chosen within clusters, kinder "
    "than their centroid. Written from the abstract and the paper's account of it.",
)
