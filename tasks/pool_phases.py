"""What phases do otherwise for one more release of an edition (docs/decisions.md#append)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tasks.adapters.provenance import People, load_people
from tasks.adapters.release_files import Draft
from tasks.adapters.verifier import read_release, verify_union
from tasks.core.append.assignment import Assignment, assign
from tasks.core.append.redaction import KAnonymous, redact_pool
from tasks.core.errors import BadLog, InputError
from tasks.core.generalisation.generalise import generalise
from tasks.core.generalisation.members import members_of
from tasks.core.measures.risk import PublishedRecords, intersection_risk
from tasks.core.records import Clusters, Ints, Longs, QueryLog, RecordTable, Release
from tasks.core.redaction.scrubbing import scrub
from tasks.core.verification.union import union_promise
from tasks.editions.state import EditionState, numbered_people
from tasks.phases import read_files, refuse
from tasks.runtime.errors import contained
from tasks.runtime.inputs import Fingerprint, refuse_changed
from tasks.runtime.knowledge import wordnet
from tasks.runtime.memory import Memory
from tasks.runtime.progress import Progress
from tasks.settings import Settings


@contained
def read_pool(
    settings: Settings,
    memory: Memory,
    files: Sequence[Fingerprint],
    waiting: Mapping[str, Longs],
    progress: Progress,
) -> QueryLog:
    """The rows that wait and all rows of the files that are new."""
    try:
        log = read_files(settings, memory, progress)
    except InputError as fault:
        raise BadLog(str(fault)) from None
    refuse_changed(files)
    new = np.array([file.digest not in waiting for file in files], dtype=np.bool_)
    chosen = new[log.origins]
    for place, file in enumerate(files):
        if file.digest in waiting:
            chosen |= (log.origins == place) & np.isin(log.rows, waiting[file.digest])
    return log.only(chosen, new[log.reject_sources])


@contained
def settle_pool(
    settings: Settings, table: RecordTable, clusters: Clusters, state: EditionState
) -> Assignment:
    """Find a place for each record: in a published cluster, in a new one, or nowhere yet."""
    taxonomy, inclusive = wordnet(settings.store).taxonomy, settings.inclusive
    rows = generalise(members_of(table, clusters.labels), taxonomy, inclusive=inclusive)
    return assign(
        table,
        clusters,
        rows,
        state.published_rows(taxonomy),
        taxonomy,
        inclusive=inclusive,
        k=settings.k,
        l=settings.l,
    )


@contained
def redact(settings: Settings, table: RecordTable, settlement: Assignment) -> Release:
    """What each record publishes now; possibly nothing of any."""
    from tasks.adapters.detection.identifiers import load_identifier_finder

    taxonomy = wordnet(settings.store).taxonomy
    guarantee: KAnonymous = "strict" if settings.guarantee == "strict" else "terms"
    found = redact_pool(
        table,
        settlement,
        taxonomy,
        inclusive=settings.inclusive,
        guarantee=guarantee,
        k=settings.k,
    )
    return scrub(found, table.words, load_identifier_finder(Path(settings.store)).find)


@contained
def verify_edition(settings: Settings, earlier: Sequence[Path], draft: Draft) -> int:
    """Prove the draft alone and together with all earlier releases of its edition."""
    from tasks.adapters.detection.identifiers import load_identifier_finder

    files = [*earlier, draft.release_path]
    tables = [load_people(Path(settings.store), file) for file in files]
    promises = [table.promise for table in tables]
    faults = verify_union(
        files,
        numbered_people(tables),
        union_promise(promises),
        taxonomy=wordnet(settings.store).taxonomy,
        identifiers=load_identifier_finder(Path(settings.store)),
    )
    refuse(draft, faults)
    return promises[-1].published


@contained
def intersect(settings: Settings, earlier: Sequence[Path], now: Path) -> dict[str, Any]:
    """What somebody learns who still holds the earlier edition (docs/decisions.md#new-edition)."""
    store = Path(settings.store)
    tables = [load_people(store, file) for file in (*earlier, now)]
    users = [own for own, _, _ in numbered_people(tables)]
    before = _published(earlier, tables[:-1], users[:-1])
    after = _published([now], tables[-1:], users[-1:])
    return dict(intersection_risk(before, after, k=settings.k)._asdict())


def _published(
    files: Sequence[Path], tables: Sequence[People], users: Sequence[Ints]
) -> PublishedRecords:
    """The records of some releases; rows that read alike are one class."""
    numbers: dict[tuple[str, ...], int] = {}
    rows = (row for file in files for row in read_release(file).rows)
    classes = [numbers.setdefault(row, len(numbers)) for row in rows]
    return PublishedRecords(
        ids=np.concatenate([table.records for table in tables]),
        classes=np.array(classes, dtype=np.int32),
        users=np.concatenate(users),
    )
