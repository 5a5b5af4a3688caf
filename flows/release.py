"""From log to release: every phase once, in order. Read `make_release` from the top down.

`flows.run`, `flows.inbox` and both kinds of edition go this way. What differs is what they put in:
the `Job` (which rows, appended to what) and the `Publication` (a folder, or an edition). `Phases`
runs each phase as it is; under Prefect (`flows/anonymise.py`) each is a task.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from flows.display import Shown
from flows.inspection import in_short
from flows.process import heed_interrupts
from tasks.adapters.private_folders import private_folder_of, unpublished_folder
from tasks.adapters.rejects import REJECTS
from tasks.adapters.release_files import MEASURES, discard_own_draft
from tasks.editions.ledger import open_ledger
from tasks.phases.analyse import analyse
from tasks.phases.cluster import cluster
from tasks.phases.compare import compare, pair_counts
from tasks.phases.count import OVERSPENT, Book, count, counts_told, refuse_overspending
from tasks.phases.job import Job
from tasks.phases.made import MadeRelease, Publication
from tasks.phases.measure import measure
from tasks.phases.publish import InFolder, refuse_replacement
from tasks.phases.read import read
from tasks.phases.redact import redact
from tasks.phases.verify import verify
from tasks.phases.write import write
from tasks.runtime.columns import most_on_disk, past_memory
from tasks.runtime.files import locked
from tasks.runtime.results import Result
from tasks.schema import FileRead, FinalMeasures

T = TypeVar("T")
AsTask = Callable[[Result[Any], str, Sequence[Result[Any]]], None]
"""Makes a result, unless it is known, under a name that ends in the label, after others."""


class Phases:
    """Runs phases, shows and times them: as they are, or each as a task of something."""

    def __init__(
        self, display: Shown, as_task: AsTask | None = None, started: float | None = None
    ) -> None:
        """Take `started` as the moment from which the user has been waiting."""
        self.display = display
        self._as_task = as_task
        self._started = time.perf_counter() if started is None else started
        self._seconds: dict[str, float] = {}
        self._known: dict[str, bool] = {}

    def run(self, result: Result[T], label: str = "", *after: Result[Any]) -> Result[T]:
        """Have a phase make its result, unless that is known, from those of other phases."""
        heed_interrupts()
        started = time.perf_counter()
        with self.display.phase(result.phase) as line:
            line.cached = result.is_known
            if self._as_task:
                self._as_task(result, label, after)
            elif not line.cached:
                _ = result.value
        self._known[result.phase] = line.cached
        self._seconds[result.phase] = round(time.perf_counter() - started, 3)
        return result

    def publish(self, publication: Publication, made: MadeRelease, measures: FinalMeasures) -> None:
        heed_interrupts()
        publication.publish(made, measures)

    def seconds(self, made: MadeRelease) -> dict[str, float]:
        """Of each phase, and in all; of one whose result was known, of the run that made it."""
        wall = time.perf_counter() - self._started
        took, store = dict(self._seconds), made.job.store
        for phase, fingerprint in made.fingerprints.items():
            if self._known[phase]:
                took |= store.load(f"seconds:{fingerprint}", dict) or {}
            else:
                store.save(f"seconds:{fingerprint}", {phase: took[phase]})
        earlier = sum(took.values()) - sum(self._seconds.values())
        return {**took, "total": round(wall + earlier, 3)}


def release_into_folder(job: Job, phases: Phases) -> FinalMeasures:
    """Make one release in a folder of its own, on which one run works at a time."""
    out = Path(job.settings.out)

    def waiting() -> None:
        phases.display.say(f"another run is at work on {out}; waiting for it")

    with (
        past_memory(job.settings.temp, job.settings.memory),
        locked(out, waiting),
        _book(job) as book,
    ):
        refuse_replacement(job)
        if book:
            refuse_overspending(job, book)
        return make_release(job, InFolder(out, book), phases)


@contextmanager
def _book(job: Job) -> Iterator[Book | None]:
    """The prices of counts, in the ledger, if counts are asked for."""
    if job.settings.counts == "none":
        yield None
        return
    with open_ledger(job.store.folder) as ledger:
        yield ledger.book(None)


def make_release(job: Job, publication: Publication, phases: Phases) -> FinalMeasures:
    """Make, verify and publish one release; returns its measures."""
    label = publication.label
    try:
        log = phases.run(read(job), label)
        if log.is_at_hand:  # of a log that is known already all was said
            _say_what_was_read(log.value.files, log.value.warnings, phases.display)
        table = phases.run(analyse(job, log), label, log)
        compared = phases.run(compare(job, table), label, table)
        clustering = phases.run(cluster(job, log, table, compared), label, table, compared)
        release = phases.run(redact(job, table, compared, clustering), label, table, clustering)
        measured = measure(job, log, table, compared, clustering, release)
        measures = phases.run(measured, label, clustering, release)
        draft = phases.run(write(job, log, table, release), label, release)
        proven = phases.run(verify(job, draft), label, draft)
        counts = None
        if publication.book and (not job.in_edition or release.value.published.any()):
            counts = phases.run(count(job, log, table, publication.book), label, table)
            if counts.value.content is None:
                phases.display.say(f"no counts.tsv: {OVERSPENT}")
        made = MadeRelease(
            *(job, log, table, compared, clustering, release, measures, draft, proven), counts
        )
        final = final_measures(made, publication, phases.seconds(made))
        phases.publish(publication, made, final)
    except BaseException:
        # Also when the run is cancelled: nothing half-done is left.
        discard_own_draft(Path(job.settings.out), job.store.folder)
        raise
    say_private(job, publication, final, phases)
    if job.store.unwritten:
        phases.display.say("the store has no room: what was computed is not kept for the next run")
    return final


def say_private(job: Job, publication: Publication, final: FinalMeasures, phases: Phases) -> None:
    """Tell where the exact figures are, and the rows set aside: both are private."""
    store, came = job.store.folder, job.files[-1].digest
    published, rejected = final["records"]["published"], final["records"]["rejected"]
    private = (
        private_folder_of(store, publication.folder)
        if published
        else unpublished_folder(store, came)
    )
    phases.display.say(f"exact figures, not for publication: {private}")
    if rejected:
        phases.display.say(
            f"{rejected:,} rows set aside: file, row and reason in {private / REJECTS}"
        )


def _say_what_was_read(files: Sequence[FileRead], warnings: Sequence[str], shown: Shown) -> None:
    """What each file was taken for, in short."""
    for file in files:
        shown.say(in_short(file))
    for warning in warnings:
        shown.say(f"warning: {warning}")


def _day_of(made: MadeRelease, publication: Publication) -> str:
    """Of the publication, by UTC; of a release that stays in place, when it was published.

    SOURCE_DATE_EPOCH, as builds that are to be reproduced have it, says which day it is.
    """
    if made.draft.is_at_hand:
        said = os.environ.get("SOURCE_DATE_EPOCH", "")
        return time.strftime("%Y-%m-%d", time.gmtime(int(said) if said.isdecimal() else None))
    day: str = json.loads((publication.folder / MEASURES).read_bytes())["certificate"]["released"]
    return day


def final_measures(
    made: MadeRelease, publication: Publication, seconds: dict[str, float]
) -> FinalMeasures:
    """What `measures.json` holds: the release's own figures, and those of this run."""
    final = FinalMeasures(
        verified=True,
        certificate={**made.job.settings.certificate, "released": _day_of(made, publication)},
        rounded={},
        **made.measures.value,
        pairs=pair_counts(made.job, made.compared),
        edition=publication.facts(made),
        counts=counts_told(made.job, made.counts, publication.book)
        if made.counts and publication.book
        else {},
        shards=made.job.executor.take_figures(),
        seconds=seconds,
        peak_memory_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        peak_disk_mb=round(most_on_disk() / 2**20, 1),
    )
    if not final["edition"]:
        del final["edition"]
    if not final["counts"]:
        del final["counts"]
    if not final["shards"]:
        del final["shards"]
    return final
