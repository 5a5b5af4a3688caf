"""Distances of concepts and of records (paper §3.1–3.2, Eq. 1–8, Algorithm 2)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tasks.core.choices import Distance
from tasks.core.records import Floats, Ints
from tasks.core.taxonomy import Taxonomy


def taxonomic_distance(shared: Floats, union: Floats) -> Floats:
    """Eq. 1 from |T(x) ∩ T(y)| and |T(x) ∪ T(y)|; 1 where neither concept has ancestors."""
    safe = np.where(union > 0, union, 1.0)
    return np.where(union > 0, np.log2(1.0 + (union - shared) / safe), 1.0)


def concept_distances(
    taxonomy: Taxonomy, left: Ints, right: Ints, *, inclusive: bool = False
) -> Floats:
    """Eq. 1 for every concept of `left` (rows) with every one of `right` (columns)."""
    rows = taxonomy.ancestor_matrix(left, inclusive=inclusive)
    columns = taxonomy.ancestor_matrix(right, inclusive=inclusive)
    shared = (rows @ columns.T).toarray().astype(np.int32)
    distances = _tabled_distances(shared, np.diff(rows.indptr), np.diff(columns.indptr))
    distances[left[:, None] == right[None, :]] = 0.0
    return distances


def _tabled_distances(shared: Ints, sizes: Ints, other_sizes: Ints) -> Floats:
    """Eq. 1 looked up by |T(x) ∩ T(y)| and |T(x) ∪ T(y)|: few numbers, a logarithm for each."""
    most, most_other = int(sizes.max(initial=0)), int(other_sizes.max(initial=0))
    counts = np.arange(most + most_other + 1.0)
    known = np.minimum(counts[: min(most, most_other) + 1, None], counts)
    table = taxonomic_distance(known, counts[None, :])
    # |∪| is both sizes less |∩|: one step down in the table and one to the left.
    places = shared * np.int32(len(counts) - 1)
    places += sizes[:, None]
    places += other_sizes[None, :]
    return np.asarray(table.ravel()[places])


def paired_distances(
    taxonomy: Taxonomy, left: Ints, right: Ints, *, inclusive: bool = False
) -> Floats:
    """Eq. 1 for the pairs (left[i], right[i]), shape (len(left),)."""
    rows = taxonomy.ancestor_matrix(left, inclusive=inclusive)
    columns = taxonomy.ancestor_matrix(right, inclusive=inclusive)
    shared = _row_sums(rows.multiply(columns))
    distances = taxonomic_distance(shared, _row_sums(rows) + _row_sums(columns) - shared)
    return np.where(left == right, 0.0, distances)


def paired_squares(taxonomy: Taxonomy, left: Ints, right: Ints, *, inclusive: bool) -> Floats:
    """δ² of each pair of concepts, every distinct pair measured once, shape of `left`."""
    keys = left.astype(np.int64) * len(taxonomy) + right
    distinct, inverse = np.unique(keys, return_inverse=True)
    a, b = np.divmod(distinct, len(taxonomy))
    distances = paired_distances(
        taxonomy, a.astype(np.int32), b.astype(np.int32), inclusive=inclusive
    )
    return np.asarray((distances**2)[inverse.reshape(keys.shape)])


def _row_sums(matrix: sparse.spmatrix) -> Floats:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()


def match_attributes(similarities: Floats, threshold: float) -> list[tuple[int, int]]:
    """Algorithm 2 for two records: one-to-one pairs of attributes with sim >= threshold.

    As many pairs as possible; among those the greatest total similarity; then the order given.

    Args:
        similarities: Γ(q, q') of Eq. 3, one row per attribute of q, shape (n, m).
    """
    # A third of all that a worker would import, and only `paper` comes here.
    from scipy.optimize import linear_sum_assignment

    count, other_count = similarities.shape
    eligible = similarities >= threshold
    # One more pair outweighs all similarities together, they in turn outweigh the order.
    places = np.arange(similarities.size).reshape(similarities.shape)
    by_similarity = similarities / (min(count, other_count) + 1)
    by_order = 1e-9 * places / max(1, similarities.size)
    worth = np.where(eligible, 1.0 + by_similarity - by_order, 0.0)
    rows, columns = linear_sum_assignment(worth, maximize=True)
    chosen = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(row, column) for row, column in chosen if eligible[row, column]]


def union_count(count: int, other_count: int, shared: int) -> int:
    """|q ∪ q'| from Eq. 6: attributes of both, each matched pair counted once."""
    return count + other_count - shared


def symmetric_difference_ratio(shared: float, union: float) -> float:
    """Eq. 7 as printed: |∪| / |∩|."""
    return union / shared


def record_distances(shared: Floats, union: Floats, *, distance: Distance = "jaccard") -> Floats:
    """Distance of two records from the counts of Eq. 6.

    ``jaccard`` is (|∪| − |∩|) / |∪|, which Table 3 holds; ``printed`` is Eq. 7 and 8 as printed,
    which cancel to 1 / |∩|. Two records that share nothing are at 1 either way.
    """
    if distance == "printed":
        return np.where(shared > 0, 1.0 / np.maximum(shared, 1.0), 1.0)
    return np.where(union > 0, (union - shared) / np.maximum(union, 1.0), 1.0)
