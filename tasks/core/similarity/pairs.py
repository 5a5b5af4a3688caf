"""Least distant pairs of records (paper §3.2–3.3, Algorithm 2, Eq. 9, Table 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from tasks.core.arrays import take_ragged
from tasks.core.choices import Distance
from tasks.core.part_sizes import PART_SIZES
from tasks.core.records import AttributeSets, Flags, Floats, Ints, Longs, freeze
from tasks.core.similarity.distances import record_distances
from tasks.core.starmap import Starmap, serial


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of nodes with their score; a node stands for `sizes[node]` interchangeable records.

    Attributes:
        left, right: nodes, left <= right, ordered by left, then right; left == right stands for
            the pairs among the records of one node.
        scores: distance of each pair (Eq. 8).
        sizes: how many records each node stands for, shape (nodes,).
        starts: its first record in canonical order, shape (nodes,).
    """

    left: Longs
    right: Longs
    scores: Floats
    sizes: Longs
    starts: Longs

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def counts(self) -> Floats:
        """How many pairs of records each pair of nodes stands for."""
        sizes = self.sizes.astype(np.float64)
        own = sizes[self.left] * (sizes[self.left] - 1) / 2
        return np.where(self.left == self.right, own, sizes[self.left] * sizes[self.right])


@dataclass(frozen=True, slots=True, eq=False)
class SetPairs:
    """Pairs of distinct sets i < j that share an attribute, least distant of each row i.

    `compared` counts the pairs that share an attribute at all.
    """

    left: Longs
    right: Longs
    scores: Floats
    compared: int

    def __post_init__(self) -> None:
        freeze(self)


SETS_AT_A_TIME: Final = 1024
"""Sets of a part that are held against all others at a time."""
NO_PAIRS: Final = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float64))


def least_of_rows(left: Longs, scores: Floats) -> Flags:
    """Eq. 9: marks the pairs of least score in each row, ties kept (`left` ascending)."""
    if not len(left):
        return np.zeros(0, dtype=np.bool_)
    starts = np.flatnonzero(np.append(True, np.diff(left) > 0))
    least = np.minimum.reduceat(scores, starts)
    return np.asarray(scores == np.repeat(least, np.diff(np.append(starts, len(left)))))


def least_set_pairs(
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    *,
    distance: Distance,
    known: SetPairs | None = None,
    new: Longs | None = None,
    starmap: Starmap = serial,
    pairs_per_part: int = PART_SIZES.pairs_per_part,
) -> SetPairs:
    """Algorithm 2 and Eq. 9 on distinct sets; a pair that shares nothing is no pair.

    Args:
        sets: the distinct sets; their values are rows of `similar`.
        similar: which values are similar, each to itself too.
        known: the least distant pairs of all but the `new` sets among each other: only pairs
            with a new set are compared, and counted.
        starmap: who compares which sets does not matter.
        pairs_per_part: pairs that are compared at a time.
    """
    every = np.arange(len(sets))
    given = (sets, similar.indptr, similar.indices, distance)

    def least(rows: Longs, columns: Longs) -> SetPairs:
        parts = ((*given, *part) for part in _parts_of_rows(rows, columns, pairs_per_part))
        return _appended(list(starmap(_least_of_part, parts)))

    if known is None or new is None:
        return least(every, every)
    with_new, with_old = least(new, every), least(np.setdiff1d(every, new), new)
    return _joined_least([known, with_new, with_old], with_new.compared + with_old.compared)


def parts_of_pairs(count: int, pairs_per_part: int = PART_SIZES.pairs_per_part) -> int:
    """How many parts it takes to compare so many sets with each other."""
    return count * (count - 1) // 2 // pairs_per_part + 1


def _parts_of_rows(
    rows: Longs, columns: Longs, pairs_per_part: int
) -> Iterator[tuple[Longs, Longs]]:
    """Neighbouring rows, each with the columns behind its first row; both are ascending.

    Early rows have more columns behind them: parts hold about as many pairs, not rows.
    """
    behind = np.searchsorted(columns, rows, side="right")
    before = np.cumsum(len(columns) - behind) - (len(columns) - behind)
    starts = np.flatnonzero(np.diff(before // pairs_per_part, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(rows)]):
        yield rows[start:end], columns[behind[start] :]


def _least_of_part(
    sets: AttributeSets,
    offsets: Ints,
    classes: Ints,
    distance: Distance,
    rows: Longs,
    columns: Longs,
) -> SetPairs:
    return _least_between(sets, _similar(offsets, classes), rows, columns, distance)


def _similar(offsets: Ints, classes: Ints) -> sparse.csr_matrix:
    """Which classes are similar, from a ragged array: a matrix is not sent to other processes."""
    ones = np.ones(len(classes), dtype=np.float32)
    return sparse.csr_matrix((ones, classes, offsets), shape=(len(offsets) - 1,) * 2)


def _appended(parts: Sequence[SetPairs]) -> SetPairs:
    """The pairs of rows that come one after another."""
    found = [NO_PAIRS, *((part.left, part.right, part.scores) for part in parts)]
    left, right, scores = (np.concatenate(values) for values in zip(*found, strict=True))
    return SetPairs(left, right, scores, sum(part.compared for part in parts))


def _joined_least(parts: Sequence[SetPairs], compared: int) -> SetPairs:
    """The least of each row, of which every part knows the least of some columns."""
    left = np.concatenate([part.left for part in parts])
    right = np.concatenate([part.right for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = np.lexsort((right, left))
    left, right, scores = left[order], right[order], scores[order]
    least = least_of_rows(left, scores)
    return SetPairs(left[least], right[least], scores[least], compared)


def _least_between(
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    rows: Longs,
    columns: Longs,
    distance: Distance,
) -> SetPairs:
    """The least distant pairs of each of the rows with later ones of the columns."""
    members = _membership(sets, similar.shape[0])
    reach = (members @ similar).tocsr()
    covered = (reach > 0).astype(np.float32)
    sides = _Sides(members[columns].T, covered[columns].T, columns)
    parts = []
    for start in range(0, len(rows), SETS_AT_A_TIME):
        some = rows[start : start + SETS_AT_A_TIME]
        counts = _match_bounds(members[some], reach[some], covered[some], some, sides)
        least = _least_of_bounds(sets, similar, counts, distance)
        parts.append(SetPairs(*least, compared=len(counts.rows)))
    return _appended(parts)


@dataclass(frozen=True, slots=True)
class _MatchBounds:
    """For pairs rows < columns: `most` matched pairs are possible; exact unless `unsure`."""

    rows: Longs
    columns: Longs
    most: Floats
    unsure: Flags


def _membership(sets: AttributeSets, width: int) -> sparse.csr_matrix:
    ones = np.ones(len(sets.concepts), dtype=np.float32)
    return sparse.csr_matrix((ones, sets.concepts, sets.offsets), shape=(len(sets), width))


class _Sides(NamedTuple):
    """The columns of a comparison: what they hold, what is similar to it, and which they are."""

    members: sparse.csc_matrix
    covered: sparse.csc_matrix
    columns: Longs


def _match_bounds(
    members: sparse.csr_matrix,
    reach: sparse.csr_matrix,
    covered: sparse.csr_matrix,
    rows: Longs,
    sides: _Sides,
) -> _MatchBounds:
    """Bounds on |∩| from three sparse products.

    The similar attributes of two records form a bipartite graph. No more pairs can be matched
    than either side has attributes with a partner; and that many are, if on one side every
    attribute has a single partner, or if only one pair is possible.
    """
    edges = _upper(reach @ sides.members, rows, sides.columns)
    partnered_right = _upper(covered @ sides.members, rows, sides.columns)
    partnered_left = _upper(members @ sides.covered, rows, sides.columns)
    most = np.minimum(partnered_right.data, partnered_left.data)
    single = (edges.data == partnered_right.data) | (edges.data == partnered_left.data)
    return _MatchBounds(
        rows=rows[edges.row],
        columns=sides.columns[edges.col],
        most=most.astype(np.float64),
        unsure=np.asarray((most > 1) & ~single),
    )


def _upper(product: sparse.spmatrix, rows: Longs, columns: Longs) -> sparse.coo_matrix:
    """The entries right of the diagonal of the whole, ordered by row and column."""
    ordered = product.tocsr()
    ordered.sort_indices()
    entries = ordered.tocoo()
    keep = columns[entries.col] > rows[entries.row]
    return sparse.coo_matrix(
        (entries.data[keep], (entries.row[keep], entries.col[keep])), shape=entries.shape
    )


def _least_of_bounds(
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    bounds: _MatchBounds,
    distance: Distance,
) -> tuple[Longs, Longs, Floats]:
    """Count the matches of unsure pairs that may be least of their row, then take the least."""
    sizes = sets.sizes
    both = (sizes[bounds.rows] + sizes[bounds.columns]).astype(np.float64)
    shared = bounds.most.copy()
    scores = record_distances(shared, both - shared, distance=distance)
    waiting = bounds.unsure.copy()
    while True:
        least = least_of_rows(bounds.rows, scores)
        unsettled = np.flatnonzero(least & waiting)
        if not len(unsettled):
            return bounds.rows[least], bounds.columns[least], scores[least]
        for pair in unsettled:
            left, right = sets.row(bounds.rows[pair]), sets.row(bounds.columns[pair])
            shared[pair] = _matching_size(similar, left, right)
        waiting[unsettled] = False
        fixed = both[unsettled] - shared[unsettled]
        scores[unsettled] = record_distances(shared[unsettled], fixed, distance=distance)


def _matching_size(similar: sparse.csr_matrix, left: Ints, right: Ints) -> int:
    graph = similar[left][:, right].tocsr()
    partners = maximum_bipartite_matching(graph, perm_type="column")
    return int((partners >= 0).sum())


def paired_matches(
    sets: AttributeSets,
    similar: sparse.csr_matrix,
    left: Longs,
    right: Longs,
    *,
    starmap: Starmap = serial,
    matches_per_part: int = PART_SIZES.matches_per_part,
) -> Floats:
    """|∩| of Eq. 6 for the pairs (left[i], right[i]) of sets, shape (len(left),)."""
    starts = range(0, len(left), matches_per_part)
    slices = (slice(start, start + matches_per_part) for start in starts)
    parts = (_with_their_sets(sets, similar, left[own], right[own]) for own in slices)
    return np.concatenate([np.zeros(0), *starmap(_matches_of_part, parts)])


def _with_their_sets(
    sets: AttributeSets, similar: sparse.csr_matrix, left: Longs, right: Longs
) -> tuple[AttributeSets, Ints, Ints, Longs, Longs]:
    """Some pairs with no more than the sets and the similar classes that they need."""
    chosen, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    offsets, values = take_ragged(sets.offsets, chosen)
    used, classes = np.unique(sets.concepts[values], return_inverse=True)
    near = similar[used][:, used].tocsr()
    own = AttributeSets(offsets, classes.astype(np.int32))
    return own, near.indptr, near.indices, places[: len(left)], places[len(left) :]


def _matches_of_part(
    sets: AttributeSets, offsets: Ints, classes: Ints, left: Longs, right: Longs
) -> Floats:
    similar = _similar(offsets, classes)
    members = _membership(sets, similar.shape[0])
    reach = (members @ similar).tocsr()
    covered = (reach > 0).astype(np.float32)
    edges = _paired_sums(reach[left], members[right])
    partnered_right = _paired_sums(covered[left], members[right])
    partnered_left = _paired_sums(members[left], covered[right])
    shared = np.minimum(partnered_left, partnered_right)
    unsure = (shared > 1) & (edges != partnered_left) & (edges != partnered_right)
    for pair in np.flatnonzero(unsure):
        rows = sets.row(int(left[pair])), sets.row(int(right[pair]))
        shared[pair] = _matching_size(similar, *rows)
    return shared


def _paired_sums(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Floats:
    return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()


def record_pairs(
    set_pairs: SetPairs, sets: AttributeSets, first_records: Longs, *, distance: Distance
) -> Pairs:
    """Eq. 9 on records, with records of equal sets folded.

    Records stand in canonical order, so those of one set are neighbours. All but the last of
    them see the same records behind them (each other and all later sets), the last one sees
    only later sets: so each set becomes one node for all but its last record and one for the
    last, and the pairs of records are pairs of nodes.

    Args:
        first_records: first record of each set, and the end of the last, shape (sets + 1,).
    """
    sizes = np.diff(first_records)
    node_sizes = np.stack([sizes - 1, np.ones_like(sizes)], axis=1).ravel()
    starts = np.stack([first_records[:-1], first_records[1:] - 1], axis=1).ravel()
    own = record_distances(
        sets.sizes.astype(np.float64), sets.sizes.astype(np.float64), distance=distance
    )
    least = np.full(len(sets), np.inf)
    least[set_pairs.left] = set_pairs.scores
    body_last = _self_pairs(np.flatnonzero((sizes > 1) & (own <= least)), own)
    body_keeps = (least <= own)[set_pairs.left] & (sizes[set_pairs.left] > 1)
    later = _later_pairs(set_pairs, body_keeps)
    left, right, scores = (np.concatenate(c) for c in zip(*body_last, *later, strict=True))
    real = (node_sizes[left] > 0) & (node_sizes[right] > np.where(left == right, 1, 0))
    order = np.lexsort((right[real], left[real]))
    return Pairs(left[real][order], right[real][order], scores[real][order], node_sizes, starts)


_Columns = tuple[Longs, Longs, Floats]


def _self_pairs(chosen: Longs, own: Floats) -> list[_Columns]:
    """Pairs among the records of one set: within the first node, and of it with the last."""
    body, last = 2 * chosen, 2 * chosen + 1
    return [(body, body, own[chosen]), (body, last, own[chosen])]


def _later_pairs(pairs: SetPairs, body_keeps: Flags) -> list[_Columns]:
    """Pairs with later sets: the last record's always, the others' where that is their least."""
    parts: list[_Columns] = []
    for side in (0, 1):
        right = 2 * pairs.right + side
        parts.append((2 * pairs.left + 1, right, pairs.scores))
        parts.append((2 * pairs.left[body_keeps], right[body_keeps], pairs.scores[body_keeps]))
    return parts
