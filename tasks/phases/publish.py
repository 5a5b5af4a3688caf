"""The last step, publish: a verified draft, with measures and report, is put in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.adapters import private_folders, provenance, release_files
from tasks.adapters.descriptors import write_descriptors
from tasks.adapters.manifest import MANIFEST, RELEASE_NAMES, Manifest, Place, files_in
from tasks.adapters.private_folders import Kept
from tasks.adapters.published import holds
from tasks.adapters.report.report import render_report
from tasks.adapters.report.verdict import counted, promise_of, verdict_of
from tasks.core.digests import digest
from tasks.core.measures.public import public_measures as public_measures
from tasks.core.verification.clauses import promised
from tasks.errors import UsageError
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
            return
        store = made.job.store.folder
        known_by = (made.draft.fingerprint, task_fingerprint(made.job))
        kept = complete(made, measures, self.folder, known_by=known_by)
        private_folders.expect(store, kept)
        release_files.publish(made.draft.value)
        private_folders.register(store, kept)


def refuse_replacement(job: Job) -> None:
    """What lies in a folder is replaced only if that was said; what is not ours never is.

    A release that is known, unchanged, to be of the same logs and settings may stay or be renewed:
    whoever has updated the program gives the same command again.

    Raises:
        UsageError: the folder holds another release, or something else.
    """
    out = Path(job.settings.out)
    foreign = release_files.foreign_names(out)
    if foreign:
        raise UsageError(
            f"--out {out} holds what is no part of a release ({', '.join(foreign)}): a release "
            "needs a folder of its own, name another --out"
        )
    held = any((out / name).exists() for name in RELEASE_NAMES)
    if not held or job.settings.replace:
        return
    if not holds(job.store.folder, out, task_fingerprint(job)):
        raise UsageError(
            f"{out} holds a release already, and not of these logs, settings and --store, or "
            "changed since: add --replace to put the new one in its place, or name another --out"
        )


def task_fingerprint(job: Job) -> str:
    """Of what a user asks for: the same after an update of the program."""
    return digest("task", [file.digest for file in job.files], job.settings.published())


def complete(
    made: MadeRelease,
    measures: FinalMeasures,
    home: Path,
    *,
    place: Place | None = None,
    known_by: Sequence[str] = (),
) -> Kept:
    """Add to a draft what is published beside its rows, the manifest last, and let the store know.

    The public edition of figures and report goes to the draft, the internal one to the store.

    Args:
        home: the folder that it will be published in.
        place: in an edition.
        known_by: fingerprints by which the next run recognises it.
    """
    draft, store = made.draft.value, made.job.store.folder
    public = public_measures(measures)
    release_files.write_figures(
        draft, (public, render_report(public)), (measures, render_report(measures))
    )
    write_descriptors(draft.release_path, f"{verdict_of(public)} {promise_of(public)}")
    manifest = Manifest(
        files=files_in(draft.folder),
        place=place,
        counted=counted(measures["users"]).whom,
        settings=measures["settings"],
        versions=measures["versions"],
        promises=promised(provenance.load(store, draft.private).promise),
    ).as_json()
    (draft.folder / MANIFEST).write_bytes(manifest)
    return private_folders.settle(store, draft.private, home, manifest, known_by)
