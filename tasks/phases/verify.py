"""Phase 8, verify: the written release is read back and proven, clause by clause.

In: the `Draft`. Out: how many rows were proven. A release that breaks a clause is removed, not
published. The same two judgements, of a release alone and of all releases of an edition, each
alone and all together, serve `flows.verify`, which proves what was published before (`prove.py`).
No code of redaction or of the writer is used (`adapters/verifier.py`, `core/verification`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tasks.adapters import provenance, release_files
from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.provenance import Provenance
from tasks.adapters.public_data import stop_words
from tasks.adapters.published import provenance_of
from tasks.adapters.release_files import Draft
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import verify_file, verify_union
from tasks.core.verification.clauses import not_promised
from tasks.core.verification.evidence import Knowledge
from tasks.core.verification.union import union_promise
from tasks.errors import InputError, VerificationFailed
from tasks.phases.job import Job
from tasks.phases.write import write_fingerprint
from tasks.runtime.fingerprint import code_fingerprint
from tasks.runtime.results import AsKnownAs, Result


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
    store = job.store.folder
    behind = provenance.load(store, draft.private)
    if job.appended_to is None:
        faults = faults_of_release(store, draft.release_path, behind)
    else:
        earlier = job.appended_to.releases
        tables = [*(provenance_of(store, file) for file in earlier), behind]
        faults = faults_of_edition(store, [*earlier, draft.release_path], tables)
    if faults:
        release_files.discard(draft)
        # The first line is what Prefect's list of runs shows.
        first, *more = faults
        raise VerificationFailed(f"verification failed, nothing published: {first}", *more)
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
