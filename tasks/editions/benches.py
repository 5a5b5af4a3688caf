"""The workbenches of editions: a whole new edition, or one more release of the current one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from tasks import phases, pool_phases
from tasks.adapters import release_files
from tasks.adapters.provenance import release_key
from tasks.adapters.report.report import write_report
from tasks.core.append.assignment import Assignment
from tasks.core.append.redaction import clusters_in_use, with_centroids
from tasks.core.errors import BadLog, InputError
from tasks.core.records import Clusters, Longs, QueryLog, Release
from tasks.core.similarity.costs import SetCosts
from tasks.editions.inbox import done_name
from tasks.editions.ledger import Ledger
from tasks.editions.ledger_entries import Batch, Intent
from tasks.editions.ledger_entries import Release as LedgerRelease
from tasks.editions.state import EditionState, register
from tasks.measuring import measure
from tasks.runtime.errors import contained
from tasks.runtime.knowledge import wordnet
from tasks.runtime.memory import Memory
from tasks.runtime.progress import Progress, silent
from tasks.settings import Settings
from tasks.workbench import Workbench

AT_WORK: Final = ("read", "analyse", "redact")


class EditionBench(Workbench):
    """Makes one release of an edition and enters it in the ledger."""

    def __init__(
        self,
        settings: Settings,
        state: EditionState,
        ledger: Ledger,
        paths: Sequence[Path],
        progress: Progress,
    ) -> None:
        logs = tuple(map(str, paths))
        super().__init__(replace(settings, logs=logs, out=str(state.folder)), progress)
        self.state = state
        self._ledger = ledger

    @cached_property
    def in_place(self) -> bool:
        """A release of an edition is always one more."""
        return False

    @property
    def folder(self) -> Path:
        return self.state.release_folder(self.state.sequence)

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "edition": self._edition_facts()}

    def _edition_facts(self) -> dict[str, Any]:
        waiting = sum(map(len, self._waiting().values()))
        usable = self._usable_so_far()
        return {
            "number": self.state.edition.number,
            "release": self.state.sequence,
            "waiting": waiting,
            "waiting_share": waiting / max(1, usable),
        }

    def _usable_so_far(self) -> int:
        before = sum(b.rows_read - b.rows_rejected for b in self.state.batches)
        return before + sum(b.rows_read - b.rows_rejected for b in self._batches_that_came())

    @contained
    def publish(self, measures: dict[str, Any]) -> None:
        """Note what the release changes, put it in place by one rename, make the note count."""
        draft = self.result("write")
        release_files.write_measures(draft, measures)
        write_report(draft.folder / "report.html", measures)
        intent = self._ledger.prepare(self._intent())
        release_files.put_whole(draft, self.folder)
        register(Path(self.settings.store), self.folder)
        self._ledger.commit(intent)

    def _intent(self) -> Intent:
        release = LedgerRelease(self.state.sequence, release_key(self.result("write").release_path))
        return Intent(
            edition=self.state.edition,
            batches=tuple(self._changed_batches(release)),
            release=release,
            clusters=self._new_clusters(),
            waiting=self._waiting(),
        )

    def _changed_batches(self, release: LedgerRelease) -> list[Batch]:
        """Batches that came, and those of which nothing was published until now."""
        waited = [batch for batch in self.state.batches if batch.state == "waiting"]
        published = self._published_files()
        return [
            replace(batch, state="published", release=release) if batch.sha in published else batch
            for batch in (*self._batches_that_came(), *waited)
        ]

    def _batches_that_came(self) -> list[Batch]:
        log: QueryLog = self.result("read")
        known = {batch.sha for batch in self.state.batches if batch.state != "failed"}
        accepted = np.bincount(log.origins, minlength=len(self.files))
        rejected = np.bincount(log.reject_sources, minlength=len(self.files))
        return [
            Batch(
                file.digest,
                done_name(file.digest, Path(file.name).name),
                "waiting",
                rows_read=int(accepted[place] + rejected[place]),
                rows_rejected=int(rejected[place]),
            )
            for place, file in enumerate(self.files)
            if file.digest not in known
        ]

    def _published_files(self) -> set[str]:
        log, table, release = map(self.result, AT_WORK)
        origins = np.unique(log.origins[table.log_rows[release.published]])
        return {self.files[place].digest for place in origins.tolist()}

    def _waiting(self) -> Mapping[str, Longs]:
        """Rows that wait after this release, by the digest of their file."""
        log, table, release = map(self.result, AT_WORK)
        rows = table.log_rows[~release.published]
        origins = log.origins[rows]
        return {
            file.digest: np.sort(log.rows[rows[origins == place]])
            for place, file in enumerate(self.files)
        }

    def _new_clusters(self) -> Mapping[int, str]:
        """Names of the concepts that clusters publish for the first time, by number."""
        release: Release = self.result("redact")
        names = wordnet(self.settings.store).taxonomy.names
        found: dict[int, str] = {}
        for place in np.unique(release.clusters, return_index=True)[1].tolist():
            number = int(release.clusters[place]) + 1
            start, end = release.concept_offsets[place : place + 2]
            if number > 0 and number not in self.state.clusters:
                found[number] = ";".join(sorted(map(str, names[release.concepts[start:end]])))
        return found


def read_alone(settings: Settings, memory: Memory, path: Path) -> None:
    """See whether a file can be read at all.

    Raises:
        BadLog: it cannot.
    """
    alone = replace(settings, logs=(str(path),))
    try:
        phases.read_files(alone, memory, silent)
    except InputError as fault:
        raise BadLog(str(fault)) from None


class NewEditionBench(EditionBench):
    """Everything so far, clustered and published as a whole.

    Attributes:
        earlier: the edition that this one takes the place of.
    """

    earlier: EditionState | None = None

    def _new_clusters(self) -> Mapping[int, str]:
        # The paper's redaction gives a cluster no one set to which others could be added.
        return {} if self.settings.guarantee == "paper" else super()._new_clusters()

    def _edition_facts(self) -> dict[str, Any]:
        """With what somebody learns who holds both editions, unless the earlier one is gone."""
        facts = super()._edition_facts()
        if self.earlier is None or not self.earlier.is_complete():
            return facts
        draft, earlier = self.result("write"), self.earlier.release_files()
        risk = pool_phases.intersect(self.settings, earlier, draft.release_path)
        return {**facts, "intersection_with_earlier": risk}


class AppendBench(EditionBench):
    """New rows and those that waited; what was published stays as it is."""

    @contained
    def is_known(self, phase: str) -> bool:
        """It depends on an edition that no other release will meet in this state again."""
        return False

    def _keep(self, phase: str, made: Any) -> None:
        """Nothing but readings and pairs is worth keeping."""

    def _kept(self, phase: str) -> Any:
        return None

    def _beside(self) -> str:
        return self.state.digest()

    def _read(self) -> QueryLog:
        return pool_phases.read_pool(
            self.settings, self.memory, self.files, self.state.waiting, self.progress
        )

    def _cluster(self) -> Assignment:
        clusters: Clusters = super()._cluster()
        table = self.result("analyse")
        return pool_phases.settle_pool(self.settings, table, clusters, self.state)

    def _redact(self) -> Release:
        return pool_phases.redact(self.settings, self.result("analyse"), self.result("cluster"))

    def _measure(self) -> dict[str, Any]:
        clusters, _ = clusters_in_use(self.result("cluster"))
        made = {phase: self.result(phase) for phase in ("read", "analyse", "compare", "redact")}
        table, compared = made["analyse"], made["compare"]
        costs = SetCosts.of(table.sets, compared.distances)
        clusters = with_centroids(table, clusters, costs)
        return measure(self.settings, made["read"], table, compared, clusters, made["redact"])

    def _verify(self) -> int:
        return pool_phases.verify_edition(
            self.settings, self.state.release_files(), self.result("write")
        )

    def _edition_facts(self) -> dict[str, Any]:
        settlement: Assignment = self.result("cluster")
        joined = (settlement.labels >= 0) & (settlement.labels < settlement.known)
        return {
            **super()._edition_facts(),
            "joined": int(joined.sum()),
            "new_clusters": len(self._new_clusters()),
        }

    def _waiting(self) -> Mapping[str, Longs]:
        """Rows of files that could not be read again go on waiting."""
        return {**self.state.waiting, **super()._waiting()}
