"""The last step, publish: a verified draft, with measures and report, is put in place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tasks.adapters import provenance, release_files
from tasks.adapters.release_files import Draft
from tasks.adapters.report.report import write_report
from tasks.phases.job import Job
from tasks.phases.made import MadeRelease
from tasks.runtime.redacted_errors import redacted_errors
from tasks.schema import FinalMeasures


@dataclass(frozen=True, slots=True)
class InFolder:
    """A release of its own; the one before it in the folder is replaced."""

    folder: Path
    label = ""

    def facts(self, made: MadeRelease) -> dict[str, object]:
        return {}

    @redacted_errors
    def publish(self, made: MadeRelease, measures: FinalMeasures) -> None:
        """`release.tsv` comes last; a release that is in place already stays as it is."""
        if not made.draft.is_at_hand:
            _renew_beside(made.job, measures)
            return
        draft = made.draft.value
        add_measures(draft, measures)
        release_files.publish(draft)
        released, store = draft.out / draft.release_name, made.job.store.folder
        provenance.register(store, draft.out, released, made.draft.fingerprint)


def _renew_beside(job: Job, measures: FinalMeasures) -> None:
    """Renew measures and report of a release that is in place."""
    beside = release_files.open_draft(Path(job.settings.out), job.settings.release_format)
    add_measures(beside, measures)
    release_files.put_beside(beside)


def add_measures(draft: Draft, measures: FinalMeasures) -> None:
    release_files.write_measures(draft, measures)
    write_report(draft.folder / "report.html", measures)
