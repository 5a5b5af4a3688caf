"""Phase 8, verify: the written release is read back and proven, clause by clause.

In: the `Draft`. Out: how many rows were proven. A release that breaks a clause is removed, not
published. The same two judgements, of a release alone and of all releases of an edition, each
alone and all together, serve `flows.verify`, which proves what was published before. No code
of redaction or of the writer is used (`adapters/verifier.py`, `core/verification`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tasks.adapters import provenance, release_files
from tasks.adapters.audit import audit_of_edition, audit_of_release, write_audit
from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.provenance import Provenance
from tasks.adapters.public_data import stop_words
from tasks.adapters.release_files import Draft
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import verify_file, verify_union
from tasks.core.verification.clauses import not_promised, promised
from tasks.core.verification.evidence import Knowledge
from tasks.core.verification.union import union_promise
from tasks.errors import InputError, UsageError, VerificationFailed
from tasks.phases.job import Job
from tasks.phases.write import write_fingerprint
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.results import AsKnownAs, Result

RELEASE_NAMES: Final = ("release.tsv", "release.parquet")
UNCHANGED: Final = "the file in this folder is the one that was released"
CHANGED: Final = f"{UNCHANGED}: broken, its content has changed"


def verify(job: Job, draft: Result[Draft]) -> Result[int]:
    return Result(
        "verify",
        verify_fingerprint(job),
        lambda: verify_draft(job, draft.value),
        AsKnownAs(lambda: draft.is_known),
        lambda rows: "; ".join([f"{rows} rows proven", *not_promised(job.settings.guarantee)]),
    )


def verify_fingerprint(job: Job) -> str:
    return job.fingerprint("verify", write_fingerprint(job), code_fingerprint(__name__))


def verify_draft(job: Job, draft: Draft) -> int:
    """Prove the draft, alone and together with all earlier releases of its edition."""
    behind = provenance.load(job.store.folder, draft.release_path)
    if job.appended_to is None:
        faults = faults_of_release(job.store.folder, draft.release_path, behind)
    else:
        files = [*job.appended_to.releases, draft.release_path]
        tables = [provenance.load(job.store.folder, file) for file in files]
        faults = faults_of_edition(job.store.folder, files, tables)
    if faults:
        release_files.discard(draft)
        raise VerificationFailed("verification failed, nothing published: " + "\n".join(faults))
    return behind.promise.published


def faults_of_release(store: Path, file: Path, behind: Provenance) -> list[str]:
    """One sentence for each clause that a release breaks, judged by its provenance."""
    (people,) = provenance.numbered_people([behind])
    return verify_file(file, people, behind.promise, _knowledge(store, [behind]))


def faults_of_edition(
    store: Path, files: Sequence[Path], tables: Sequence[Provenance]
) -> list[str]:
    """The same for the releases of an edition, each alone and all together."""
    promises = [table.promise for table in tables]
    people = list(zip(provenance.numbered_people(tables), promises, strict=True))
    return verify_union(files, people, union_promise(promises), _knowledge(store, tables))


def _knowledge(store: Path, tables: Sequence[Provenance]) -> Knowledge:
    """What the verifier knows, of which WordNet must be the one that numbered the concepts."""
    taxonomy = wordnet(str(store)).taxonomy
    if any(table.wordnet != taxonomy.version for table in tables):
        raise InputError("the release was made with another WordNet: its concepts are not known")
    return Knowledge(taxonomy, load_identifier_finder(store).find, stop_words())


class Verdict(NamedTuple):
    """What was proven, what is broken, and what was never promised, a sentence each.

    If anything is broken, nothing counts as proven.
    """

    proven: list[str]
    faults: list[str]
    notes: list[str]


def prove_folder(folder: Path, store: Path) -> Verdict:
    """Judge every release file of a folder.

    Raises:
        InputError: the folder holds no release, or the store does not know it.
    """
    releases = _releases(folder)
    if releases:
        return _prove_edition(releases, store)
    known = [(file, *_behind(store, folder, file)) for file in _release_files(folder)]
    proven: list[str] = []
    faults: list[str] = []
    for file, behind, changed in known:
        found = [*([CHANGED] if changed else []), *faults_of_release(store, file, behind)]
        faults += [f"{file.name}: {fault}" for fault in found]
        proven += [f"{file.name}: {clause}" for clause in (UNCHANGED, *promised(behind.promise))]
    notes = not_promised(known[0][1].promise.guarantee)
    return Verdict([] if faults else proven, faults, notes)


def audit_folder(folder: Path, store: Path, file: Path) -> int:
    """Write the private audit of a release, or of all releases of an edition.

    If the release file was changed since, this speaks of what was released.

    Returns:
        How many lines it has, one for each row that was read.

    Raises:
        InputError: the folder holds no release, the store does not know it, or the audit cannot
            be written.
    """
    releases = _releases(folder)
    tables = [_behind(store, own, _release_files(own)[0])[0] for own in releases or [folder]]
    names = [own.name for own in releases]
    lines = audit_of_edition(names, tables) if releases else audit_of_release(tables[0])
    write_audit(file, lines)
    return len(lines)


def refuse_public_audit(folder: Path, file: Path) -> None:
    """An audit undoes the release: it must not lie where that is published.

    Raises:
        UsageError: it would lie in the folder of the release, or of its edition.
    """
    public = folder.resolve()
    edition = public.parent if public.parent.name.startswith("edition-") else public
    if file.resolve().is_relative_to(edition):
        raise UsageError(
            f"--audit {file} lies in {edition}, which is published: the audit tells who stands "
            "behind each row; keep it in a private folder"
        )


def _releases(folder: Path) -> list[Path]:
    """The releases of an edition; none if the folder is a release itself."""
    return sorted(path for path in folder.glob("release-*") if path.is_dir())


def _prove_edition(folders: list[Path], store: Path) -> Verdict:
    """Judge the releases of an edition, each alone and all together."""
    files = [file for folder in folders for file in _release_files(folder)]
    known = [_behind(store, file.parent, file) for file in files]
    tables = [behind for behind, _ in known]
    faults = [
        f"{file.parent.name}: {CHANGED}"
        for file, (_, changed) in zip(files, known, strict=True)
        if changed
    ]
    faults += faults_of_edition(store, files, tables)
    promise = union_promise([behind.promise for behind in tables])
    proven = [f"each of {len(files)} releases, and all together: {c}" for c in promised(promise)]
    return Verdict([] if faults else proven, faults, not_promised(promise.guarantee))


def _release_files(folder: Path) -> list[Path]:
    """The release of a folder; more than one file if somebody put another beside it."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: name the --out folder of a release")
    found = [folder / name for name in RELEASE_NAMES if (folder / name).is_file()]
    if not found:
        raise InputError(f"{folder} holds no {' or '.join(RELEASE_NAMES)}")
    return found


def _behind(store: Path, folder: Path, release_file: Path) -> tuple[Provenance, bool]:
    """The provenance to judge a file by, and whether the file is another than was released."""
    if provenance.knows(store, release_file):
        return provenance.load(store, release_file), False
    return provenance.load_registered(store, folder), True
