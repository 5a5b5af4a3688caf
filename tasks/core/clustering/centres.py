"""The best centres of many clusters of sets at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.core.clustering.problem import Problem
from tasks.core.generalisation.candidates import (
    batch_choices,
    batches,
    gather_candidates,
    gather_entries,
    marks_of,
)
from tasks.core.generalisation.members import Members
from tasks.core.generalisation.search import search_slots
from tasks.core.records import Floats, Ints, Longs
from tasks.core.rows import compress, owners, take_rows


def improved_centres(
    problem: Problem, groups: Longs, sets: Longs, centres: Sequence[Ints]
) -> list[Ints]:
    """Centres (classes) that cost groups of sets, as compressed rows, no more than those given.

    Candidates are the groups' own classes and those of the given centres.
    """
    members = _members(problem, groups, sets)
    squares = problem.costs.squares

    def between(left: Ints, right: Ints) -> Floats:
        # Sums of single-precision squares are too coarse to tell a saving from rounding.
        return squares[left, right].astype(np.float64)

    width = len(squares)
    entries = gather_entries(members, members.concepts, width)
    offsets, given = compress(centres)
    labels = owners(offsets)
    # Endless weight: a given class stays a candidate.
    candidates = gather_candidates(entries, labels, given, np.full(len(given), np.inf))
    found: list[Ints] = [np.zeros(0, dtype=np.int32)] * len(centres)
    for batch in batches(entries, candidates):
        choices = batch_choices(members, entries, candidates, batch, between)
        starts, places = take_rows(offsets, batch.clusters)
        marks = marks_of(candidates, batch, owners(starts), given[places])
        marks = search_slots(choices, marks)
        classes = candidates.classes[batch.candidates].astype(np.int32)
        for row, cluster in enumerate(batch.clusters.tolist()):
            found[cluster] = classes[row][marks[row]]
    return found


def _members(problem: Problem, groups: Longs, sets: Longs) -> Members:
    offsets, places = take_rows(problem.costs.offsets, sets)
    counts = problem.counts[sets]
    return Members(
        labels=owners(groups),
        counts=counts,
        offsets=offsets,
        concepts=problem.costs.classes[places],
        weights=np.repeat(counts, np.diff(offsets)).astype(np.float64),
    )
