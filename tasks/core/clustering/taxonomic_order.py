"""The order of sets along the taxonomy, and how near to its top neighbours in that order part."""

from __future__ import annotations

import numpy as np

from tasks.core.clustering.problem import Problem
from tasks.core.records import Ints, Longs

NONE = -1


def taxonomic_order(problem: Problem, *, last_first: bool = False) -> tuple[Longs, Longs]:
    """The sets in order, and the rank of the parting before each of them (low: near the top).

    Sets are ordered by the place of their first attribute in a depth-first walk of the taxonomy,
    then of the next, then by number. A parting at an earlier attribute ranks first, then one
    where the paths of the two attributes have less in common. With `last_first` the walk is
    taken backwards, and sets are ordered by what is their last attribute otherwise.
    """
    # Paths in lexicographic order are a depth-first walk.
    paths, places = np.unique(problem.paths, axis=0, return_inverse=True)
    places = places.ravel()
    if last_first:
        paths, places = paths[::-1], len(paths) - 1 - places
    rows = _attribute_places(problem, places)
    order = np.lexsort(rows.T[::-1])
    return order, np.append(0, _partings(rows[order], paths))


def _attribute_places(problem: Problem, places: Longs) -> Longs:
    """Places of the attributes of each set, ascending, then NONE, shape (sets, most attributes)."""
    costs = problem.costs
    sizes = np.diff(costs.offsets)
    owners = np.repeat(np.arange(len(problem)), sizes)
    order = np.lexsort((places[costs.classes], owners))
    rows = np.full((len(problem), int(sizes.max())), NONE)
    rows[owners, np.arange(len(owners)) - costs.offsets[owners]] = places[costs.classes[order]]
    return rows


def _partings(rows: Longs, paths: Ints) -> Longs:
    """Rank of the parting between each two neighbouring rows."""
    differs = rows[1:] != rows[:-1]
    # Equal rows part nowhere, which ranks last.
    differs = np.append(differs, np.ones((len(differs), 1), dtype=np.bool_), axis=1)
    attribute = np.argmax(differs, axis=1)
    either = np.append(rows, np.full((len(rows), 1), NONE), axis=1)
    every = np.arange(len(differs))
    left, right = either[:-1][every, attribute], either[1:][every, attribute]
    # Where one row ends, there is no path to share.
    alike = (paths[left] == paths[right]) & (left != NONE)[:, None]
    shared = np.cumprod(alike, axis=1).sum(axis=1)
    return np.asarray(attribute * (paths.shape[1] + 1) + shared, dtype=np.int64)
