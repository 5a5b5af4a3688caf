"""One more release of an edition: its job, what it says of the edition, and its publication.

A release of an edition goes through the same phases as any other. What differs is what goes in
(for *append*: what the edition has published, and the rows that wait) and where it is put: noted
in the ledger, moved into place by one rename, and then made to count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tasks.adapters import private_folders, provenance, release_files
from tasks.adapters.manifest import Place
from tasks.adapters.provenance import Provenance
from tasks.adapters.published import provenance_of
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import read_release
from tasks.core.arrays import taken
from tasks.core.columns import computed, counts_of, joined, places_of, row_parts
from tasks.core.digests import digest
from tasks.core.events import event_keys
from tasks.core.measures.risk import PublishedRecords, intersection_risk, returning_risk
from tasks.core.members import members_of
from tasks.core.records import Ints, Longs, Narrow, QueryLog, RecordTable
from tasks.core.rows.returning import PublishedRows
from tasks.core.verification.evidence import classify
from tasks.editions.inbox import done_name
from tasks.editions.ledger import Ledger
from tasks.editions.ledger_entries import Batch, Intent
from tasks.editions.ledger_entries import Release as LedgerRelease
from tasks.editions.state import EditionState
from tasks.phases.count import Book
from tasks.phases.job import Published
from tasks.phases.made import MadeRelease
from tasks.phases.publish import complete
from tasks.runtime.fingerprint import content_digest, record_ids
from tasks.runtime.redacted_errors import redacted_errors
from tasks.schema import FinalMeasures
from tasks.settings import Settings


def published_so_far(settings: Settings, state: EditionState, ledger: Ledger) -> Published:
    """What a release that is appended has to fit."""
    files, events = state.release_files(), ledger.events(state.edition)
    counted, rows = [], RowsBehind()
    for file in files:
        table = provenance_of(Path(settings.store), file)
        counted.append(table.promise.counted)
        rows.add(file, table)
    return Published(
        waiting=state.waiting,
        sets=tuple(state.published_rows(wordnet(settings.store).taxonomy)),
        releases=tuple(files),
        # A release of nothing may know no column.
        counted=max(counted, key=lambda own: len(own.column), default=None),
        events=events,
        rows=rows.all(),
        fingerprint=digest(state.digest(), events),
    )


class RowsBehind:
    """The rows of some releases; those of one release that read alike are one class."""

    def __init__(self) -> None:
        self._units: list[Longs] = []
        self._people: list[Longs] = []
        self._classes: list[tuple[int, Ints]] = []
        self._known = 0

    def add(self, file: Path, table: Provenance) -> None:
        rows = read_release(file).rows
        self._units.append(table.units)
        self._people.append(table.people)
        self._classes.append((self._known, rows.number_of))
        self._known += len(rows.distinct)

    def all(self) -> PublishedRows:
        count = sum(map(len, self._units))
        classes = (
            numbers[part] + np.int64(first)
            for first, numbers in self._classes
            for part in row_parts(len(numbers))
        )
        return PublishedRows(
            units=joined(count, np.int64, self._units),
            classes=joined(count, np.int64, classes),
            people=joined(count, np.int64, self._people),
        )


@dataclass(frozen=True, slots=True)
class InEdition:
    """Publishes one more release of an edition.

    Attributes:
        state: the edition before it.
        earlier: the edition that this one takes the place of.
        counted: whether counts are asked for.
    """

    state: EditionState
    ledger: Ledger
    earlier: EditionState | None = None
    counted: bool = False

    @property
    def folder(self) -> Path:
        return self.state.release_folder(self.state.sequence)

    @property
    def label(self) -> str:
        return f" {self.state.sequence}"

    @property
    def book(self) -> Book | None:
        return self.ledger.book(self.state.edition) if self.counted else None

    @redacted_errors
    def facts(self, made: MadeRelease) -> dict[str, object]:
        waiting = sum(map(len, waiting_rows(made, self.state).values()))
        usable = sum(
            batch.rows_read - batch.rows_rejected
            for batch in (*self.state.batches, *batches_that_came(made, self.state))
        )
        return {
            "number": self.state.edition.number,
            "release": self.state.sequence,
            "waiting": waiting,
            "waiting_share": waiting / max(1, usable),
            **(
                self._of_new_edition(made)
                if made.job.appended_to is None
                else self._of_more(made, made.job.appended_to)
            ),
        }

    def _of_new_edition(self, made: MadeRelease) -> dict[str, object]:
        """What somebody learns who holds both editions, unless the earlier one is gone."""
        if self.earlier is None or not self.earlier.is_complete():
            return {}
        return {"intersection_with_earlier": intersection(made, self.earlier.release_files())}

    def _of_more(self, made: MadeRelease, before: Published) -> dict[str, object]:
        """Records that publish what the edition has published before, and what it has not.

        And what somebody learns of people who ask the same again.
        """
        release = made.release.value
        sizes, clusters = counts_of(release.class_of, release.class_count), release.clusters
        known = max(self.state.clusters, default=0)
        draft = made.draft.value
        table = provenance.load(made.job.store.folder, draft.private)
        now = RowsBehind()
        now.add(draft.release_path, table)
        risk = returning_risk(before.rows, now.all(), k=made.job.settings.k)
        return {
            "joined": int(sizes[(clusters >= 0) & (clusters < known)].sum()),
            "new_clusters": len(new_clusters(made, self.state)),
            "intersection_with_earlier": dict(risk._asdict()),
        }

    @redacted_errors
    def publish(self, made: MadeRelease, measures: FinalMeasures) -> None:
        """Note what the release changes, put it in place by one rename, make the note count.

        Where no row can be published nothing is: a new file, even an empty one, would tell that
        somebody has come. All rows wait.
        """
        if not made.release.value.published.any():
            self._let_wait(made, measures)
            return
        draft = made.draft.value
        intent = self._intent(made)
        place = Place(self.state.edition.number, self.state.sequence)
        kept = complete(made, measures, self.folder, place=place)
        noted = self.ledger.prepare(intent)
        release_files.put_whole(draft, self.folder)
        private_folders.register(made.job.store.folder, kept)
        self.ledger.commit(noted)

    def _let_wait(self, made: MadeRelease, measures: FinalMeasures) -> None:
        """Whoever is killed on the way does all of it again."""
        intent = self._intent(made, published=False)
        release_files.withdraw(made.draft.value, measures, made.job.files[-1].digest)
        self.ledger.commit(self.ledger.prepare(intent))

    def _intent(self, made: MadeRelease, *, published: bool = True) -> Intent:
        release = None
        if published:
            digest = content_digest(made.draft.value.release_path)
            release = LedgerRelease(self.state.sequence, digest)
        return Intent(
            edition=self.state.edition,
            batches=tuple(changed_batches(made, self.state, release)),
            release=release,
            clusters=new_clusters(made, self.state),
            waiting=waiting_rows(made, self.state),
            events=new_events(made, self.state),
        )


def changed_batches(
    made: MadeRelease, state: EditionState, release: LedgerRelease | None
) -> list[Batch]:
    """Batches that came, and those of which nothing was published until now."""
    waited = [batch for batch in state.batches if batch.state == "waiting"]
    published = _published_files(made)
    return [
        replace(batch, state="published", release=release) if batch.sha in published else batch
        for batch in (*batches_that_came(made, state), *waited)
    ]


def batches_that_came(made: MadeRelease, state: EditionState) -> list[Batch]:
    """The files that the edition has not met before."""
    log, files = made.log.value, made.job.files
    known = {batch.sha for batch in state.batches if batch.state != "failed"}
    accepted = counts_of(log.origins, len(files))
    rejected = np.bincount(log.reject_sources, minlength=len(files))
    return [
        Batch(
            file.digest,
            done_name(file.digest, Path(file.name).name),
            "waiting",
            rows_read=int(accepted[place] + rejected[place]),
            rows_rejected=int(rejected[place]),
        )
        for place, file in enumerate(files)
        if file.digest not in known
    ]


def _published_files(made: MadeRelease) -> set[str]:
    log, table, release = made.log.value, made.table.value, made.release.value
    published = counts_of(_origins(log, table, places_of(release.published)), len(made.job.files))
    return {made.job.files[place].digest for place in np.flatnonzero(published).tolist()}


def _origins(log: QueryLog, table: RecordTable, records: Ints) -> Narrow:
    """The file of each of some records, as an index into those of the job."""
    return taken(log.origins, taken(table.log_rows, records))


def waiting_rows(made: MadeRelease, state: EditionState) -> Mapping[str, Longs]:
    """Rows that wait after this release, by the digest of their file.

    Rows of files that could not be read again go on waiting.
    """
    log, table, release = made.log.value, made.table.value, made.release.value
    withheld = places_of(~release.published)
    rows = taken(log.rows, taken(table.log_rows, withheld))
    by_file = members_of(_origins(log, table, withheld), len(made.job.files))
    now = {
        file.digest: np.sort(rows[own]).astype(np.int64)
        for file, own in zip(made.job.files, by_file.each(), strict=True)
    }
    return now if made.job.appended_to is None else {**state.waiting, **now}


def new_events(made: MadeRelease, state: EditionState) -> Mapping[str, Longs]:
    """Keys of the events that the files which came have told first, by their digests."""
    log, came = made.log.value, {batch.sha for batch in batches_that_came(made, state)}
    keys = event_keys(log, made.job.store.secret)
    by_file = members_of(log.origins, len(made.job.files))
    return {
        file.digest: taken(keys, own)
        for file, own in zip(made.job.files, by_file.each(), strict=True)
        if file.digest in came
    }


def new_clusters(made: MadeRelease, state: EditionState) -> Mapping[int, str]:
    """Names of the concepts that clusters publish for the first time, by number."""
    if made.job.settings.guarantee == "paper":
        # That redaction gives a cluster no one set to which others could be added.
        return {}
    release, names = made.release.value, wordnet(made.job.settings.store).taxonomy.names
    found: dict[int, str] = {}
    for place in np.unique(release.clusters, return_index=True)[1].tolist():
        number = int(release.clusters[place]) + 1
        start, end = release.concept_offsets[place : place + 2]
        if number > 0 and number not in state.clusters:
            found[number] = ";".join(sorted(map(str, names[release.concepts[start:end]])))
    return found


def intersection(made: MadeRelease, earlier: Sequence[Path]) -> dict[str, float]:
    """What somebody learns who still holds the earlier edition."""
    store, draft = made.job.store.folder, made.draft.value
    tables = [provenance_of(store, file) for file in earlier]
    tables.append(provenance.load(store, draft.private))
    users = [behind.users for behind in provenance.numbered_people(tables)]
    before = _published(earlier, tables[:-1], users[:-1])
    after = _published([draft.release_path], tables[-1:], users[-1:])
    return dict(intersection_risk(before, after, k=made.job.settings.k)._asdict())


def records_behind(table: Provenance) -> Longs:
    """The record behind each row, numbered alike in all releases of the same files."""
    read = table.read
    return computed(
        len(table.sets),
        np.int64,
        lambda part: record_ids(read.digests, read.origins[part], read.rows[part]),
    )


def _published(
    files: Sequence[Path], tables: Sequence[Provenance], users: Sequence[Ints]
) -> PublishedRecords:
    """The records of some releases; rows that read alike are one class."""
    _, classes = classify([read_release(file).rows for file in files])
    count = len(classes)
    return PublishedRecords(
        ids=joined(count, np.int64, map(records_behind, tables)),
        classes=classes,
        users=joined(count, np.int32, users),
    )
