"""The taxonomy of concepts: parents, ancestors, branches (paper §3.1, Figure 2).

Concepts are integers in the order of their synset names' source; everything later phases need
to know about a concept is an array indexed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from tasks.core.records import Flags, Floats, Ints, Longs, Strings, freeze

NO_CONCEPT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """A forest-like graph of concepts with all their ancestors spelt out.

    Attributes:
        names: WordNet name of each concept, such as ``flu.n.01``, shape (n,).
        words: the same in plain words, such as ``respiratory disease``, shape (n,).
        ancestor_offsets, ancestors: T(x) as a ragged array: all proper ancestors over every
            path, without the root, ascending (Eq. 1's T).
        main_parents: the parent on the longest path to the top, or NO_CONCEPT, shape (n,).
        depths: number of steps of that path, shape (n,).
        instances: concepts that are one thing with a name (*paris*), not a kind (*city*), (n,).
        information: information content of each concept in bits, shape (n,).
        version: content hash of the files it was built from.
    """

    names: Strings
    words: Strings
    ancestor_offsets: Longs = field(repr=False)
    ancestors: Ints = field(repr=False)
    main_parents: Ints = field(repr=False)
    depths: Ints = field(repr=False)
    instances: Flags = field(repr=False)
    information: Floats = field(repr=False)
    version: str

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.names)

    def ancestors_of(self, concept: int) -> Ints:
        """T(x) of Eq. 1: the proper ancestors of one concept, without the root."""
        start, end = self.ancestor_offsets[concept], self.ancestor_offsets[concept + 1]
        return self.ancestors[start:end]

    def ancestor_matrix(self, concepts: Ints, *, inclusive: bool) -> sparse.csr_matrix:
        """Membership of T(x), one row per concept given; with x itself if `inclusive`."""
        starts = self.ancestor_offsets[concepts]
        lengths = self.ancestor_offsets[concepts + 1] - starts
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        ones = np.ones(len(places), dtype=np.float32)
        shape = (len(concepts), len(self))
        matrix = sparse.csr_matrix((ones, self.ancestors[places], offsets), shape=shape)
        return matrix + _selection(concepts, len(self)) if inclusive else matrix

    @property
    def tops(self) -> Ints:
        """Where the longest path up from each concept ends, shape (n,)."""
        tops = np.arange(len(self), dtype=np.int32)
        for _ in range(int(self.depths.max(initial=0))):
            above = self.main_parents[tops]
            tops = np.where(above >= 0, above, tops)
        return tops

    @property
    def root(self) -> int:
        """The concept in which most longest paths end, ties by order."""
        return int(np.argmax(np.bincount(self.tops)))

    def branches(self, roots: Ints) -> Flags:
        """Mark every concept that is one of the roots or lies below one, shape (n,)."""
        marked = np.zeros(len(self), dtype=np.bool_)
        marked[roots] = True
        below = np.add.reduceat(
            np.append(marked[self.ancestors], False).astype(np.int64), self.ancestor_offsets[:-1]
        )
        has_ancestors = np.diff(self.ancestor_offsets) > 0
        return marked | (has_ancestors & (below > 0))


def _selection(columns: Ints, width: int) -> sparse.csr_matrix:
    ones = np.ones(len(columns), dtype=np.float32)
    return sparse.csr_matrix(
        (ones, columns, np.arange(len(columns) + 1)), shape=(len(columns), width)
    )


def build_taxonomy(
    names: Sequence[str],
    words: Sequence[str],
    parents: Sequence[Sequence[int]],
    *,
    root: str,
    version: str,
    instances: Sequence[int] = (),
) -> Taxonomy:
    """Spell out ancestors, main parents and depths from the direct parents of each concept."""
    root_index = names.index(root) if root in names else NO_CONCEPT
    rows = [sorted(_closure(concept, parents) - {root_index}) for concept in range(len(names))]
    depths = _longest_paths(parents)
    main_parents = [
        max(row, key=lambda parent: (depths[parent], -parent), default=NO_CONCEPT)
        for row in parents
    ]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    ancestors = np.array([concept for row in rows for concept in row], dtype=np.int32)
    return Taxonomy(
        names=np.array(names, dtype=object),
        words=np.array(words, dtype=object),
        ancestor_offsets=offsets,
        ancestors=ancestors,
        main_parents=np.array(main_parents, dtype=np.int32),
        depths=np.array(depths, dtype=np.int32),
        instances=np.isin(np.arange(len(names)), instances),
        information=intrinsic_information(offsets, ancestors, root_index),
        version=version,
    )


def intrinsic_information(offsets: Longs, ancestors: Ints, root: int) -> Floats:
    """Information content by the taxonomy alone, in bits; the root says nothing.

    -log2((leaves below x / subsumers of x + 1) / (leaves + 1)), x counted among its subsumers
    (Sánchez, Batet, Isern, Knowledge-Based Systems 24, 2011). It needs no corpus, so it does not
    change from batch to batch; nothing says more than what lies below it.
    """
    count = len(offsets) - 1
    is_leaf = np.ones(count, dtype=np.bool_)
    is_leaf[ancestors] = False
    if root != NO_CONCEPT:
        is_leaf[root] = False
    owners = np.repeat(np.arange(count), np.diff(offsets))
    leaves_below = np.bincount(ancestors[is_leaf[owners]], minlength=count)
    share = (leaves_below / (np.diff(offsets) + 1) + 1) / (np.count_nonzero(is_leaf) + 1)
    information = -np.log2(share)
    if root != NO_CONCEPT:
        information[root] = 0.0
    return np.asarray(np.maximum(information, 0.0))


def _closure(concept: int, parents: Sequence[Sequence[int]]) -> set[int]:
    """All proper ancestors. WordNet 3.0 holds a cycle of two verbs: neither is its own ancestor."""
    found: set[int] = set()
    waiting = list(parents[concept])
    while waiting:
        ancestor = waiting.pop()
        if ancestor not in found:
            found.add(ancestor)
            waiting.extend(parents[ancestor])
    return found - {concept}


def _longest_paths(parents: Sequence[Sequence[int]]) -> list[int]:
    """Steps of the longest way up, a concept met again on the way not counted twice."""
    depths: list[int | None] = [None] * len(parents)

    def climb(concept: int, way: frozenset[int]) -> int:
        known = depths[concept]
        if known is None:
            above = [p for p in parents[concept] if p not in way]
            known = max((climb(p, way | {p}) + 1 for p in above), default=0)
            depths[concept] = known
        return known

    return [climb(concept, frozenset((concept,))) for concept in range(len(parents))]
