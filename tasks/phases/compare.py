"""Phase 3, compare: how near concepts and records are (paper §3.1–3.2, Eq. 1–9).

In: the `RecordTable`. Out: a `Comparison`: distances of concepts (Eq. 1) and, for the paper's
method, the least distant pairs of attribute sets (Eq. 6–9, Algorithm 2); for MDAV the graded costs
between the sets of each block, left where they are kept. Every pair is kept under the content of
both sides, so that a later batch compares new pairs only. The default, adaptive, needs distances
of concepts alone, for the paper's measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.adapters.resources import wordnet
from tasks.adapters.wordnet import wordnet_version
from tasks.core.clustering.problem import problem_of
from tasks.core.digests import byte_keys, digest, row_keys
from tasks.core.records import Longs, RecordTable
from tasks.core.similarity.concepts import ConceptDistances, class_distances, concept_classes
from tasks.core.similarity.pairs import SetPairs, least_set_pairs, parts_of_pairs
from tasks.phases.analyse import analysis_fingerprint
from tasks.phases.job import Job
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.pair_cache import (
    BlockCache,
    ComparedBlocks,
    PairCache,
    PairCounts,
    SetPairCache,
    left_to_compare,
)
from tasks.runtime.progress import watched
from tasks.runtime.results import Counts, Nothing, Result
from tasks.settings import Settings

PAIRS_PER_SECOND = 25_000_000

PAIR_CODE: Final = ("tasks.runtime.pair_cache", "tasks.adapters.wordnet")
"""These import all that decides the values of pairs: their computation, and the taxonomy."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What `compare` found, and how many pairs it compared and knew.

    Attributes:
        distances: of concepts.
        set_pairs: the least distant pairs of sets, for the paper's method.
        blocks: what there is to cluster and where its costs are kept, for MDAV and V-MDAV.
    """

    distances: ConceptDistances
    set_pairs: SetPairs | None
    blocks: ComparedBlocks | None
    attributes: PairCounts
    records: PairCounts


def compare(job: Job, table: Result[RecordTable]) -> Result[Comparison]:
    return Result(
        "compare",
        comparison_fingerprint(job),
        lambda: compare_records(job, table.value),
        Nothing() if job.appended_to else Counts(job.store, _totals),
        lambda found: f"{len(found.distances.concepts)} concepts",
    )


def comparison_fingerprint(job: Job) -> str:
    chosen = job.settings
    decisive = (chosen.method, chosen.distance, chosen.k, chosen.l, job.sizes.sets_per_block)
    before = (analysis_fingerprint(job), concept_fingerprint(chosen), code_fingerprint(__name__))
    return job.fingerprint("compare", *before, *decisive)


def concept_fingerprint(settings: Settings) -> str:
    """Of all that decides the distance of two concepts, and so the pairs that are kept.

    Whatever finds the concepts does not: pairs outlive a change of the tokeniser.
    """
    code = [*map(code_fingerprint, PAIR_CODE), digest(Path(__file__).read_bytes())]
    return digest(
        "concepts", code, wordnet_version(Path(settings.store)), settings.inclusive_distances
    )


def pair_counts(job: Job, compared: Result[Comparison]) -> dict[str, int]:
    """Pairs that this run computed, and that it took from earlier ones."""
    if compared.is_at_hand:
        counts = {"attributes": compared.value.attributes, "records": compared.value.records}
    else:
        known = Counts(job.store, _totals).counts(compared.fingerprint)
        counts = {kind: PairCounts(0, known.get(kind, 0)) for kind in ("attributes", "records")}
    return {
        f"{kind}_{what}": getattr(count, what)
        for kind, count in counts.items()
        for what in ("computed", "reused")
    }


def _totals(found: Comparison) -> dict[str, int]:
    return {"attributes": found.attributes.total, "records": found.records.total}


def compare_records(job: Job, table: RecordTable) -> Comparison:
    """Distances of concepts, then of records: pairs of sets (paper), or costs in blocks (MDAV).

    Adaptive compares no records with each other: it counts who shares what.
    """
    distances, attributes = _concept_distances(job, table)
    if job.settings.method == "adaptive":
        return Comparison(distances, None, None, attributes, PairCounts(0, 0))
    if job.settings.method == "paper":
        pairs, records = _set_pairs(job, table, distances)
        return Comparison(distances, pairs, None, attributes, records)
    blocks, records = _blocks(job, table, distances)
    return Comparison(distances, None, blocks, attributes, records)


def _concept_distances(job: Job, table: RecordTable) -> tuple[ConceptDistances, PairCounts]:
    """Eq. 1, once for all concepts with the same ancestors."""
    taxonomy, inclusive = wordnet(job.settings.store).taxonomy, job.settings.inclusive_distances
    found = concept_classes(taxonomy, np.unique(table.sets.concepts), inclusive=inclusive)

    def compute(rows: Longs, columns: Longs) -> NDArray[np.float32]:
        return class_distances(
            taxonomy,
            found.examples[rows],
            found.examples[columns],
            inclusive=inclusive,
            concepts_per_part=job.sizes.concepts_per_part,
        )

    keys = byte_keys(found.contents, job.store.secret)
    matrix, counts = PairCache(job.store, concept_fingerprint(job.settings)).read(keys, compute)
    return ConceptDistances(found.concepts, found.classes, matrix), counts


def _set_pairs(
    job: Job, table: RecordTable, distances: ConceptDistances
) -> tuple[SetPairs, PairCounts]:
    """Eq. 6–9 and Algorithm 2: for each set the others at the least distance."""
    settings = job.settings
    sets, similar = distances.in_classes(table.sets), distances.similar(settings.threshold)
    measure = digest(concept_fingerprint(settings), settings.threshold, settings.distance)
    keys = row_keys(table.sets.offsets, table.sets.concepts, job.store.secret)
    parts = parts_of_pairs(len(table.sets), job.sizes.pairs_per_part)
    seconds = len(table.sets) ** 2 / 2 / PAIRS_PER_SECOND
    with job.executor.running(seconds) as starmap:
        seen = watched(starmap, parts, job.progress)
        return SetPairCache(job.store, measure).read(
            keys,
            lambda known, new: least_set_pairs(
                sets,
                similar,
                distance=settings.distance,
                known=known,
                new=new,
                starmap=seen,
                pairs_per_part=job.sizes.pairs_per_part,
            ),
        )


def _blocks(
    job: Job, table: RecordTable, distances: ConceptDistances
) -> tuple[ComparedBlocks, PairCounts]:
    """Graded costs between the sets of each block; on other machines where it is clustered."""
    taxonomy, settings = wordnet(job.settings.store).taxonomy, job.settings
    problem = problem_of(table, distances, taxonomy, k=settings.k, l=settings.l)
    most = job.sizes.sets_per_block
    if job.executor.is_remote:
        return left_to_compare(problem, sets_per_block=most)
    keys = row_keys(table.sets.offsets, table.sets.concepts, job.store.secret)
    cache = BlockCache(job.store, concept_fingerprint(settings), sets_per_block=most)
    return cache.compare(problem, keys, job.progress)
