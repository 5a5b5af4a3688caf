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

from tasks.adapters import provenance, release_files
from tasks.adapters.provenance import Provenance, release_key
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import read_release
from tasks.core.measures.risk import PublishedRecords, intersection_risk
from tasks.core.records import Ints, Longs
from tasks.editions.inbox import done_name
from tasks.editions.ledger import Ledger
from tasks.editions.ledger_entries import Batch, Intent
from tasks.editions.ledger_entries import Release as LedgerRelease
from tasks.editions.state import EditionState, register
from tasks.phases.job import Published
from tasks.phases.made import MadeRelease
from tasks.phases.publish import add_measures
from tasks.runtime.redacted_errors import redacted_errors
from tasks.schema import FinalMeasures
from tasks.settings import Settings


def published_so_far(settings: Settings, state: EditionState) -> Published:
    """What a release that is appended has to fit."""
    return Published(
        waiting=state.waiting,
        sets=tuple(state.published_rows(wordnet(settings.store).taxonomy)),
        releases=tuple(state.release_files()),
        fingerprint=state.digest(),
    )


@dataclass(frozen=True, slots=True)
class InEdition:
    """Publishes one more release of an edition.

    Attributes:
        state: the edition before it.
        earlier: the edition that this one takes the place of.
    """

    state: EditionState
    ledger: Ledger
    earlier: EditionState | None = None

    @property
    def folder(self) -> Path:
        return self.state.release_folder(self.state.sequence)

    @property
    def label(self) -> str:
        return f" {self.state.sequence}"

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
            **(self._of_new_edition(made) if made.job.appended_to is None else self._of_more(made)),
        }

    def _of_new_edition(self, made: MadeRelease) -> dict[str, object]:
        """What somebody learns who holds both editions, unless the earlier one is gone."""
        if self.earlier is None or not self.earlier.is_complete():
            return {}
        now = made.draft.value.release_path
        return {"intersection_with_earlier": intersection(made, self.earlier.release_files(), now)}

    def _of_more(self, made: MadeRelease) -> dict[str, object]:
        """Records that publish what the edition has published before, and what it has not."""
        release = made.release.value
        clusters = release.clusters[release.class_of[release.published]]
        known = max(self.state.clusters, default=0)
        joined = int(((clusters >= 0) & (clusters < known)).sum())
        return {"joined": joined, "new_clusters": len(new_clusters(made, self.state))}

    @redacted_errors
    def publish(self, made: MadeRelease, measures: FinalMeasures) -> None:
        """Note what the release changes, put it in place by one rename, make the note count."""
        draft = made.draft.value
        add_measures(draft, measures)
        intent = self.ledger.prepare(self._intent(made))
        release_files.put_whole(draft, self.folder)
        register(made.job.store.folder, self.folder)
        self.ledger.commit(intent)

    def _intent(self, made: MadeRelease) -> Intent:
        release = LedgerRelease(self.state.sequence, release_key(made.draft.value.release_path))
        return Intent(
            edition=self.state.edition,
            batches=tuple(changed_batches(made, self.state, release)),
            release=release,
            clusters=new_clusters(made, self.state),
            waiting=waiting_rows(made, self.state),
        )


def changed_batches(made: MadeRelease, state: EditionState, release: LedgerRelease) -> list[Batch]:
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
    accepted = np.bincount(log.origins, minlength=len(files))
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
    origins = np.unique(log.origins[table.log_rows[release.published]])
    return {made.job.files[place].digest for place in origins.tolist()}


def waiting_rows(made: MadeRelease, state: EditionState) -> Mapping[str, Longs]:
    """Rows that wait after this release, by the digest of their file.

    Rows of files that could not be read again go on waiting.
    """
    log, table, release = made.log.value, made.table.value, made.release.value
    rows = table.log_rows[~release.published]
    origins = log.origins[rows]
    now = {
        file.digest: np.sort(log.rows[rows[origins == place]])
        for place, file in enumerate(made.job.files)
    }
    return now if made.job.appended_to is None else {**state.waiting, **now}


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


def intersection(made: MadeRelease, earlier: Sequence[Path], now: Path) -> dict[str, float]:
    """What somebody learns who still holds the earlier edition."""
    store = made.job.store.folder
    tables = [provenance.load(store, file) for file in (*earlier, now)]
    users = [behind.users for behind in provenance.numbered_people(tables)]
    before = _published(earlier, tables[:-1], users[:-1])
    after = _published([now], tables[-1:], users[-1:])
    return dict(intersection_risk(before, after, k=made.job.settings.k)._asdict())


def _published(
    files: Sequence[Path], tables: Sequence[Provenance], users: Sequence[Ints]
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
