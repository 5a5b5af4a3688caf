"""The phases of a release, in the order of the data (paper Figure 1).

Each function joins the pure algorithms of `core` to the outside world of `adapters`. They know
nothing of Prefect: `steps` wraps each as a task, and `--bare` calls them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.adapters import provenance as people
from tasks.adapters import release_files
from tasks.adapters.logs.reader import read_logs
from tasks.adapters.release_files import Draft
from tasks.adapters.report.report import write_report
from tasks.core.clustering.methods import CLUSTERINGS
from tasks.core.clustering.paper import cluster_as_printed
from tasks.core.clustering.problem import clusters_of, problem_of
from tasks.core.detection.readings import distinct_texts
from tasks.core.digests import byte_keys, digest, row_keys
from tasks.core.errors import NothingToRelease, VerificationFailed
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.part_sizes import PART_SIZES
from tasks.core.record_table import build_record_table
from tasks.core.records import Clusters, Longs, QueryLog, RecordTable, Release
from tasks.core.redaction.by_record import redact_as_printed, redact_by_terms
from tasks.core.redaction.parts import cut_into_parts
from tasks.core.redaction.published import dissolve_bare, place_attributes
from tasks.core.redaction.scrubbing import scrub
from tasks.core.similarity.concepts import ConceptDistances, class_distances, concept_classes
from tasks.core.similarity.pairs import SetPairs, least_set_pairs, parts_of_pairs
from tasks.core.starmap import Starmap, serial
from tasks.core.verification.clauses import Promise
from tasks.redacting import FEWEST_SHARDS, redact_in_shards
from tasks.runtime.errors import contained
from tasks.runtime.inputs import Fingerprint, record_ids
from tasks.runtime.kept_blocks import ComparedBlocks, KeptBlocks, left_to_compare
from tasks.runtime.kept_pairs import KeptPairs, PairCounts
from tasks.runtime.kept_readings import KeptReadings
from tasks.runtime.kept_set_pairs import KeptSetPairs
from tasks.runtime.kept_stop_words import stop_words
from tasks.runtime.knowledge import knowledge_in, wordnet
from tasks.runtime.memory import Memory, way_of_comparing, way_of_reading
from tasks.runtime.progress import Progress, silent, watched
from tasks.runtime.workers import running_blocks, running_shards
from tasks.settings import Settings
from tasks.unread import Unread


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What `compare` found, and how many pairs it compared and knew.

    Attributes:
        distances: of concepts.
        set_pairs: the least distant pairs of sets, for the paper's method.
        blocks: what there is to cluster and where its costs are kept, for the other methods.
    """

    distances: ConceptDistances
    set_pairs: SetPairs | None
    blocks: ComparedBlocks | None
    attributes: PairCounts
    records: PairCounts


@contained
def read(settings: Settings, memory: Memory, progress: Progress) -> QueryLog:
    """Read the log files; fewer people than k can never be released."""
    log = read_files(settings, memory, progress)
    if log.user_count < settings.k:
        raise NothingToRelease(
            f"nothing can be released: {len(log.texts)} usable rows by {log.user_count} users, "
            f"but k = {settings.k} ({len(log.reject_rows)} of {log.rows_read} rows set aside)"
        )
    return log


@contained
def read_files(settings: Settings, memory: Memory, progress: Progress) -> QueryLog:
    """Read the log files, whatever they hold."""
    return read_logs(
        settings.logs,
        format=settings.format,
        columns=settings.columns,
        progress=progress,
        secret=memory.secret,
    )


@contained
def analyse(settings: Settings, memory: Memory, log: QueryLog, progress: Progress) -> RecordTable:
    """§3.1: find attributes and identifiers; from here on there are only integers.

    Only texts that no earlier run has read are read.
    """
    texts, text_of = distinct_texts(log.texts)
    kept = KeptReadings(memory.cache, memory.secret, way_of_reading(settings))
    unread = Unread(settings, memory, log, texts, text_of, progress)
    readings = kept.read(texts, unread.read)
    return build_record_table(
        texts,
        readings,
        text_of,
        log.users,
        log.times,
        wordnet(settings.store).taxonomy,
        stop_words=stop_words(memory.cache, serial),
        threshold=settings.threshold,
        inclusive=settings.inclusive,
    )


@contained
def compare(
    settings: Settings, memory: Memory, table: RecordTable, progress: Progress = silent
) -> Comparison:
    """§3.1–3.2: distances of concepts (Eq. 1) and of records (Eq. 8, or graded costs in blocks).

    Only pairs that no earlier run has compared are compared.
    """
    distances, attributes = _concept_distances(settings, memory, table)
    if settings.method == "paper":
        with running_shards(settings.workers) as run:
            seen = watched(run, parts_of_pairs(len(table.sets)), progress)
            pairs, records = _set_pairs(settings, memory, table, distances, seen)
        return Comparison(distances, pairs, None, attributes, records)
    taxonomy = wordnet(settings.store).taxonomy
    problem = problem_of(table, distances, taxonomy, k=settings.k, l=settings.l)
    if settings.runner == "dask":
        blocks, records = left_to_compare(problem)
    else:
        keys = row_keys(table.sets.offsets, table.sets.concepts, memory.secret)
        kept = KeptBlocks(Path(settings.store), memory.cache, way_of_comparing(settings))
        blocks, records = kept.compare(problem, keys, progress)
    return Comparison(distances, None, blocks, attributes, records)


def _concept_distances(
    settings: Settings, memory: Memory, table: RecordTable
) -> tuple[ConceptDistances, PairCounts]:
    taxonomy, inclusive = wordnet(settings.store).taxonomy, settings.inclusive
    found = concept_classes(taxonomy, np.unique(table.sets.concepts), inclusive=inclusive)

    def compute(rows: Longs, columns: Longs) -> NDArray[np.float32]:
        left, right = found.examples[rows], found.examples[columns]
        return class_distances(taxonomy, left, right, inclusive=inclusive)

    keys = byte_keys(found.contents, memory.secret)
    matrix, counts = KeptPairs(memory.cache, way_of_comparing(settings)).read(keys, compute)
    return ConceptDistances(found.concepts, found.classes, matrix), counts


def _set_pairs(
    settings: Settings,
    memory: Memory,
    table: RecordTable,
    distances: ConceptDistances,
    run: Starmap,
) -> tuple[SetPairs, PairCounts]:
    sets, similar = distances.in_classes(table.sets), distances.similar(settings.threshold)
    way = digest(way_of_comparing(settings), settings.threshold, settings.distance)
    keys = row_keys(table.sets.offsets, table.sets.concepts, memory.secret)
    return KeptSetPairs(memory.cache, way).read(
        keys,
        lambda known, new: least_set_pairs(
            sets, similar, distance=settings.distance, known=known, new=new, starmap=run
        ),
    )


@contained
def cluster(
    settings: Settings, table: RecordTable, comparison: Comparison, progress: Progress = silent
) -> Clusters:
    """§3.3: clusters of at least k people."""
    if comparison.set_pairs is not None:
        return cluster_as_printed(
            table,
            comparison.set_pairs,
            k=settings.k,
            l=settings.l,
            distance=settings.distance,
        )
    assert comparison.blocks is not None
    problem, sources = comparison.blocks.problem, comparison.blocks.sources
    workers = settings.workers if len(problem) > PART_SIZES.sets_per_block else 1
    with running_blocks(workers) as run:
        seen = watched(run, len(sources), progress)
        return clusters_of(table, CLUSTERINGS[settings.method](problem, seen, sources), problem)


@contained
def redact(
    settings: Settings,
    table: RecordTable,
    comparison: Comparison,
    clusters: Clusters,
    progress: Progress = silent,
) -> Release:
    """§3.3: what each record publishes."""
    from tasks.adapters.detection.identifiers import load_identifier_finder

    if settings.guarantee == "strict":
        found = _redacted_strictly(settings, table, clusters, progress)
    else:
        found = _redacted(settings, table, comparison, clusters)
    release = scrub(found, table.words, load_identifier_finder(Path(settings.store)).find)
    if not release.published.any():
        raise NothingToRelease(
            f"nothing can be released: no row can be shared by k = {settings.k} users"
        )
    return release


def _redacted_strictly(
    settings: Settings, table: RecordTable, clusters: Clusters, progress: Progress
) -> Release:
    shards, known = cut_into_parts(clusters.labels), knowledge_in(settings.store, settings.topics)
    few = len(shards) < FEWEST_SHARDS
    with nullcontext(serial) if few else running_blocks(settings.workers) as run:
        return redact_in_shards(
            table,
            clusters,
            shards,
            known,
            run,
            progress,
            k=settings.k,
            inclusive=settings.inclusive,
        )


def _redacted(
    settings: Settings, table: RecordTable, comparison: Comparison, clusters: Clusters
) -> Release:
    taxonomy = wordnet(settings.store).taxonomy
    if settings.guarantee == "paper":
        return redact_as_printed(
            table, clusters, comparison.distances, taxonomy, threshold=settings.threshold
        )
    sets = generalise(members_of(table, clusters.labels), taxonomy, inclusive=settings.inclusive)
    speaking, rows = dissolve_bare(clusters, sets)
    published = place_attributes(table, speaking, rows, taxonomy, inclusive=settings.inclusive)
    return redact_by_terms(table, speaking, published, k=settings.k)


@contained
def write(
    settings: Settings,
    files: Sequence[Fingerprint],
    log: QueryLog,
    table: RecordTable,
    release: Release,
) -> Draft:
    """Write the release aside, with the private table of who stands behind each row."""
    draft = release_files.open_draft(Path(settings.out), settings.release_format)
    rows = release_files.write_rows(draft, release, table, wordnet(settings.store).taxonomy)
    release_files.write_rejects(draft, log)
    promise = Promise(
        guarantee=settings.guarantee,
        k=settings.k,
        l=settings.l,
        read=log.rows_read,
        rejected=len(log.reject_rows),
        withheld=len(table) - len(rows.records),
        published=len(rows.records),
    )
    behind = people.People(
        users=log.people[table.users[rows.records]],
        sets=table.set_of[rows.records],
        records=record_ids(files, log)[table.log_rows[rows.records]],
        promise=promise,
    )
    people.save_people(Path(settings.store), draft.release_path, behind)
    return draft


@contained
def verify(settings: Settings, draft: Draft) -> int:
    """Prove the written release; a release that fails is removed, not published."""
    from tasks.adapters.detection.identifiers import load_identifier_finder
    from tasks.adapters.verifier import verify_file

    behind = people.load_people(Path(settings.store), draft.release_path)
    faults = verify_file(
        draft.release_path,
        behind.users,
        behind.sets,
        behind.promise,
        taxonomy=wordnet(settings.store).taxonomy,
        identifiers=load_identifier_finder(Path(settings.store)),
    )
    refuse(draft, faults)
    return behind.promise.published


def refuse(draft: Draft, faults: Sequence[str]) -> None:
    """Remove a draft that does not hold what it promises."""
    if faults:
        release_files.discard(draft)
        raise VerificationFailed("verification failed, nothing published: " + "\n".join(faults))


@contained
def publish(settings: Settings, draft: Draft, measures: dict[str, Any], made_by: str) -> None:
    """Add measures and report to the verified draft, and put everything in place.

    Args:
        made_by: a digest of all that decided the release.
    """
    release_files.write_measures(draft, measures)
    write_report(draft.folder / "report.html", measures)
    release_files.publish(draft)
    people.register(Path(settings.store), draft.out, draft.out / draft.release_name, made_by)


@contained
def restate(settings: Settings, measures: dict[str, Any]) -> None:
    """Renew measures and report of a release that is in place and stays as it is."""
    draft = release_files.open_draft(Path(settings.out), settings.release_format)
    release_files.write_measures(draft, measures)
    write_report(draft.folder / "report.html", measures)
    release_files.put_beside(draft)
