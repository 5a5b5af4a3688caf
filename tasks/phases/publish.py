"""The last step, publish: a verified draft, with measures and report, is put in place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np

from tasks.adapters import private_folders, release_files
from tasks.adapters.descriptors import write_descriptors
from tasks.adapters.manifest import MANIFEST, RELEASE_NAMES, Manifest, Place, files_in, shown
from tasks.adapters.private_folders import Kept
from tasks.adapters.published import holds
from tasks.adapters.release_files import CARD, MEASURES, REPORT, render_classes
from tasks.adapters.report.examples import Class, example_classes, listed_classes
from tasks.adapters.report.report import Facts, render_card, render_report
from tasks.adapters.report.verdict import counted, promise_of, verdict_of
from tasks.adapters.resources import topic_map, wordnet
from tasks.core.arrays import taken
from tasks.core.digests import digest
from tasks.core.diversity import sensitive_sets
from tasks.core.measures.public import public_measures as public_measures
from tasks.core.measures.risk import homogeneous_classes
from tasks.core.members import members_of
from tasks.core.verification.clauses import Promise, promised
from tasks.errors import InputError, UsageError
from tasks.phases.analyse import curve_key
from tasks.phases.count import PRIVATE, Book
from tasks.phases.job import Job
from tasks.phases.made import MadeRelease
from tasks.phases.write import what_is_promised
from tasks.runtime.files import write_private
from tasks.runtime.redacted_errors import redacted_errors
from tasks.schema import FinalMeasures


@dataclass(frozen=True, slots=True)
class InFolder:
    """A release of its own; the one before it in the folder is replaced."""

    folder: Path
    book: Book | None = None
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
    asked = (job.settings.published(), job.settings.certificate)
    return digest("task", [file.digest for file in job.files], *asked)


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
    promise = what_is_promised(made.job, made.log.value, made.table.value, made.release.value)
    public = public_measures(measures)
    promises, content = promised(promise), made.counts.value.content if made.counts else None
    if content is not None:
        (draft.folder / release_files.COUNTS).write_bytes(content)
        promises = [*promises, PRIVATE]
    release_files.write_measures(draft, public, measures)
    said = made.job.settings
    described = f"{verdict_of(public)} {promise_of(public)}"
    write_descriptors(draft.release_path, described, said.title, said.licence)
    earlier, (classes, homogeneous) = _earlier(store, home, place), _classes(made)
    exact = example_classes(classes)
    seen = Facts(
        promise=promise,
        files=files_in(draft.folder),
        rows=promise.published,
        examples=[replace(one, people=_promised_people(promise)) for one in exact],
        earlier=earlier and public_measures(earlier),
    )
    (draft.folder / REPORT).write_bytes(render_report(public, seen).encode())
    (draft.folder / CARD).write_bytes(render_card(public, seen).encode())
    manifest = Manifest(
        files=files_in(draft.folder),
        place=place,
        counted=counted(measures["users"]).whom,
        settings=measures["settings"],
        versions=measures["versions"],
        promises=promises,
    ).as_json()
    (draft.folder / MANIFEST).write_bytes(manifest)
    internal = replace(
        seen,
        examples=exact,
        earlier=earlier,
        manifest=hashlib.sha256(manifest).hexdigest(),
        logs=[(shown(Path(file.name).name), file.digest) for file in made.job.files],
        homogeneous=listed_classes(compress(classes, homogeneous)),
        by_k=made.job.store.load(curve_key(made.job), list) or (),
    )
    write_private(draft.private / REPORT, render_report(measures, internal).encode())
    return private_folders.settle(store, draft.private, home, manifest, known_by)


def _promised_people(promise: Promise) -> str:
    """What may be told in public of the people behind any class of rows."""
    return f"at least {promise.k}" if promise.guarantee == "strict" else "not told"


def _classes(made: MadeRelease) -> tuple[list[Class], list[bool]]:
    """The rows that read alike, with their people, and whether they tell what is sensitive of all.

    Redacted record by record, several classes of a release may read alike.
    """
    release, table, settings = made.release.value, made.table.value, made.job.settings
    rendered = render_classes(release, table, wordnet(settings.store).taxonomy)
    texts = list(rendered.rows(np.arange(release.class_count)))
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    # The last entry is for records that are withheld.
    number_of = np.array([*(numbers[text] for text in texts), -1], dtype=np.int32)
    alike = replace(release, class_of=taken(number_of, release.class_of))
    members = members_of(alike.class_of, len(numbers))
    rows, people = members.sizes.tolist(), members.people(table.users).tolist()
    sets = sensitive_sets(table, topic_map(settings.store, settings.topics).sensitive)
    tell: list[bool] = homogeneous_classes(table, alike, sets).alike.tolist()
    return list(zip(numbers, rows, people, strict=True)), tell


def _earlier(store: Path, home: Path, place: Place | None) -> FinalMeasures | None:
    """The exact measures of the release before this one in its edition."""
    if place is None or place.release == 1:
        return None
    before = home.with_name(f"release-{place.release - 1:04d}")
    try:
        private = private_folders.private_folder_of(store, before)
        found: FinalMeasures = json.loads((private / MEASURES).read_bytes())
    except (InputError, OSError):
        return None
    return found
