"""Phase 8, verify: the written release is read back and proven, clause by clause.

In: the `Draft`. Out: how many rows were proven. A release that breaks a clause is removed, not
published. The same two judgements serve `flows.verify`: of a release alone, by its provenance, and
of all releases of an edition, each alone and all together. No code of redaction or of the writer
is used (`adapters/verifier.py`, `core/verification`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.adapters import provenance, release_files
from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.provenance import Provenance
from tasks.adapters.release_files import Draft
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import verify_file, verify_union
from tasks.core.errors import VerificationFailed
from tasks.core.verification.union import union_promise
from tasks.phases.job import Job
from tasks.phases.write import write_fingerprint
from tasks.runtime.errors import contained
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.results import AsKnownAs, Result


def verify(job: Job, draft: Result[Draft]) -> Result[int]:
    return Result(
        "verify",
        verify_fingerprint(job),
        lambda: verify_draft(job, draft.value),
        AsKnownAs(lambda: draft.is_known),
        lambda rows: f"{rows} rows proven",
    )


def verify_fingerprint(job: Job) -> str:
    return job.fingerprint("verify", write_fingerprint(job), code_fingerprint(__name__))


@contained
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
    return verify_file(
        file,
        behind.users,
        behind.sets,
        behind.promise,
        taxonomy=wordnet(str(store)).taxonomy,
        identifiers=load_identifier_finder(store),
    )


def faults_of_edition(
    store: Path, files: Sequence[Path], tables: Sequence[Provenance]
) -> list[str]:
    """The same for the releases of an edition, each alone and all together."""
    return verify_union(
        files,
        provenance.numbered_people(tables),
        union_promise([table.promise for table in tables]),
        taxonomy=wordnet(str(store)).taxonomy,
        identifiers=load_identifier_finder(store),
    )
