"""Graded costs between the sets of each block of a log, kept from run to run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tasks.core.clustering.blocks import Between, compared_sets, cut_into_blocks
from tasks.core.clustering.problem import Problem, between_sets
from tasks.core.digests import Keys, digest
from tasks.core.records import Longs
from tasks.core.similarity.costs import Costs, costs_between
from tasks.runtime.cache import BlobCache
from tasks.runtime.kept_pairs import KeptPairs, PairCounts
from tasks.runtime.progress import Progress, silent

NO_LIMIT: Final = 2**62
"""Who only reads evicts nothing."""


@dataclass(frozen=True, slots=True)
class KeptCosts:
    """Gives the costs between the sets of one block, in whatever process it is clustered."""

    store: Path
    measure: str
    keys: Keys = field(repr=False)

    def __call__(self, problem: Problem) -> Costs:
        cache = BlobCache(self.store, NO_LIMIT)
        try:
            kept = KeptPairs(cache, self.measure).table(self.keys)
        finally:
            cache.close()
        # What was evicted since it was compared is computed again.
        return between_sets(problem) if kept is None else kept


@dataclass(frozen=True, slots=True, eq=False)
class ComparedBlocks:
    """A problem and, for each block of its cut, where the costs between its sets come from."""

    problem: Problem
    sources: tuple[Between, ...]


def left_to_compare(problem: Problem) -> tuple[ComparedBlocks, PairCounts]:
    """Leave the costs to whoever clusters a block: to move them between machines takes longer."""
    blocks = cut_into_blocks(problem) if problem.solvable else []
    sizes = [len(compared_sets(problem.part(block))) for block in blocks]
    pairs = sum(size * (size - 1) // 2 for size in sizes)
    return ComparedBlocks(problem, (between_sets,) * len(blocks)), PairCounts(pairs, 0)


class KeptBlocks:
    """The costs between sets that a store knows."""

    def __init__(self, store: Path, cache: BlobCache, way: str) -> None:
        """Take `way` as a digest of all that decides the distance of two concepts."""
        self._store = store
        self._measure = digest("graded", way)
        self._pairs = KeptPairs(cache, self._measure)

    def compare(
        self, problem: Problem, keys: Keys, progress: Progress = silent
    ) -> tuple[ComparedBlocks, PairCounts]:
        """Compare the sets of each block, given by their content, as far as that is new."""
        sources, counts = [], PairCounts(0, 0)
        blocks = cut_into_blocks(problem) if problem.solvable else []
        progress(0, len(blocks))
        for done, block in enumerate(blocks, start=1):
            part = problem.part(block)
            compared = compared_sets(part)
            counts += self._complete(part.part(compared), keys[block[compared]])
            sources.append(KeptCosts(self._store, self._measure, keys[block[compared]]))
            progress(done, len(blocks))
        return ComparedBlocks(problem, tuple(sources)), counts

    def _complete(self, problem: Problem, keys: Keys) -> PairCounts:
        def compute(rows: Longs, columns: Longs) -> Costs:
            return costs_between(problem.costs, rows, columns)

        return self._pairs.complete(keys, compute)
