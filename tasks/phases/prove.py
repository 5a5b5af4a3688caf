"""What `flows.verify` proves of published folders, with the store that they were made with.

A folder is a release or an edition, never both: whatever else lies there is named. First its files
are held against the manifest that the store has of it, then its rows are judged as they were before
they were published (`verify.py`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tasks.adapters import provenance
from tasks.adapters.audit import (
    OF_EDITION,
    OF_RELEASE,
    audit_of_edition,
    audit_of_release,
    write_audit,
)
from tasks.adapters.manifest import (
    ADDED,
    MANIFEST,
    MISSING,
    RELEASE_NAMES,
    Manifest,
    differences,
    is_lock,
    shown,
)
from tasks.adapters.private_folders import (
    Kept,
    all_kept,
    registered,
    registered_below,
    unknown,
)
from tasks.adapters.provenance import Provenance
from tasks.adapters.published import find, manifest_of
from tasks.adapters.release_files import COUNTS, faults_of_counts
from tasks.core.verification.clauses import not_promised, promised
from tasks.core.verification.union import union_promise
from tasks.errors import InputError, UsageError
from tasks.phases.verify import faults_of_edition, faults_of_release
from tasks.runtime.files import refuse_lost_secret
from tasks.runtime.fingerprint import content_digest
from tasks.runtime.moved_store import take_over

UNCHANGED: Final = "the files in this folder are those that were released, and no others"
ANOTHER: Final = "holds another release of this store than was published here"
RELEASE_FOLDERS: Final = "release-"


class Verdict(NamedTuple):
    """What was proven, what is broken, and what was never promised, a sentence each.

    If anything is broken, nothing counts as proven.
    """

    proven: list[str]
    faults: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """A release folder beside what the store knows of it.

    Attributes:
        faults: of its files.
        is_copy: whether it was published in another folder.
    """

    folder: Path
    kept: Kept
    manifest: Manifest
    faults: list[str]
    is_copy: bool

    @property
    def release_file(self) -> Path:
        return self.folder / self.manifest.release_name


def prove_folder(folder: Path, store: Path) -> Verdict:
    """Judge a release, or all releases of an edition.

    Raises:
        InputError: the folder holds no release, or the store does not know it.
    """
    take_over(store)
    refuse_lost_secret(store)
    if is_edition(folder, store):
        return _prove_edition(folder, store)
    judged = judge_files(folder, store)
    table = provenance.load_kept(store, judged.kept)
    faults = list(judged.faults)
    if judged.release_file.is_file():
        broken = faults_of_release(store, judged.release_file, table)
        faults += [f"{judged.release_file.name}: {fault}" for fault in broken]
    faults += _faults_of_counts(judged, table.promise.k)
    proven = [UNCHANGED, *(f"{judged.release_file.name}: {c}" for c in promised(table.promise))]
    if COUNTS in judged.manifest.files:
        proven.append(f"{COUNTS}: no count is below {table.promise.k} people")
    notes = [*not_promised(table.promise.guarantee), *_notes_of_copy(judged)]
    return Verdict([] if faults else proven, faults, notes)


def _faults_of_counts(judged: Judged, k: int) -> list[str]:
    """Of the counts beside a release, if there are any; that they are private no file can show."""
    path = judged.folder / COUNTS
    if COUNTS not in judged.manifest.files or not path.is_file():
        return []
    return [f"{COUNTS}: {fault}" for fault in faults_of_counts(path, k)]


def _notes_of_copy(judged: Judged) -> list[str]:
    copied = f"this is a copy: the release was published in {shown(str(judged.kept.home))}"
    return [copied] if judged.is_copy else []


def is_edition(folder: Path, store: Path) -> bool:
    """Whether a folder is judged as an edition; what lies in a release folder never hides it.

    Raises:
        InputError: it is no folder, or neither.
    """
    names = names_in(folder)
    if not names.isdisjoint({*RELEASE_NAMES, MANIFEST}) or registered(store, folder):
        return False
    if any(name.startswith(RELEASE_FOLDERS) for name in names) or registered_below(store, folder):
        return True
    editions = sorted(name for name in names if name.startswith("edition-"))
    hint = f": name one of its editions, {shown(editions[0])} say" if editions else ""
    raise InputError(f"{folder} holds no {' or '.join(RELEASE_NAMES)}{hint}")


def names_in(folder: Path) -> set[str]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: name the --out folder of a release")
    try:
        return set(os.listdir(folder))
    except OSError as fault:
        raise InputError(f"cannot read {folder}: {fault.strerror}") from None


def judge_files(folder: Path, store: Path) -> Judged:
    """Hold the files of a release folder against what the store knows of it.

    Raises:
        InputError: it knows nothing of it.
    """
    here, found = registered(store, folder), find(store, folder)
    expected = _of_same_manifest(here, found) or (here[-1] if here else found)
    expected = expected or _by_release_file(folder, store)
    if expected is None:
        raise unknown(store)
    manifest = manifest_of(expected)
    faults = differences(folder, manifest, expected.manifest)
    if found is not None and found.manifest != expected.manifest:
        faults.insert(0, ANOTHER)
    is_copy = expected.home != folder.resolve()
    return Judged(folder, expected, manifest, faults, is_copy)


def _of_same_manifest(here: list[Kept], found: Kept | None) -> Kept | None:
    same = [kept for kept in here if found is not None and kept.manifest == found.manifest]
    return same[-1] if same else None


def _by_release_file(folder: Path, store: Path) -> Kept | None:
    """A copy whose manifest was changed is known by its rows."""
    digests = {
        name: content_digest(folder / name) for name in RELEASE_NAMES if (folder / name).is_file()
    }
    for kept in all_kept(store):
        manifest = manifest_of(kept)
        name = manifest.release_name
        if name in digests and manifest.files[name][1] == digests[name]:
            return kept
    return None


def audit_folder(folder: Path, store: Path, file: Path) -> int:
    """Write the private audit of a release, or of all releases of an edition.

    If the release file was changed since, this speaks of what was released.

    Returns:
        How many lines it has, one for each row that was read.

    Raises:
        InputError: the folder holds no release, the store does not know it, or the audit cannot
            be written.
    """
    if is_edition(folder, store):
        judged = _in_order(_known_releases(folder, store).values())
        tables = [provenance.load_kept(store, each.kept) for each in judged]
        lines = audit_of_edition([each.folder.name for each in judged], tables)
        return write_audit(file, OF_EDITION, lines)
    kept = judge_files(folder, store).kept
    lines = audit_of_release(provenance.load_kept(store, kept))
    return write_audit(file, OF_RELEASE, lines)


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


def _prove_edition(folder: Path, store: Path) -> Verdict:
    """Judge the releases of an edition, each alone and all together."""
    known = _known_releases(folder, store)
    judged = _in_order(known.values())
    misplaced = [*_foreign(folder, known), *_faults_of_places(folder, store, known)]
    faults = [f"{shown(each.folder.name)}: {fault}" for each in judged for fault in each.faults]
    tables = [provenance.load_kept(store, each.kept) for each in judged]
    if all(each.release_file.is_file() for each in judged):
        faults += _broken_clauses(store, judged, tables, together=not misplaced)
    promise = union_promise([table.promise for table in tables])
    count = f"each of {len(judged)} releases, and all together"
    proven = [f"{count}: {clause}" for clause in (UNCHANGED, *promised(promise))]
    notes = [*not_promised(promise.guarantee), *_notes_of_copy(judged[0])[:1]]
    return Verdict([] if misplaced or faults else proven, [*misplaced, *faults], notes)


def _broken_clauses(
    store: Path, judged: list[Judged], tables: list[Provenance], *, together: bool
) -> list[str]:
    if together:
        return faults_of_edition(store, [each.release_file for each in judged], tables)
    return [
        f"{shown(each.folder.name)}: {fault}"
        for each, table in zip(judged, tables, strict=True)
        for fault in faults_of_release(store, each.release_file, table)
    ]


def _known_releases(folder: Path, store: Path) -> dict[str, Judged]:
    """The release folders of an edition of which the store knows anything, by name."""
    known: dict[str, Judged] = {}
    for name in sorted(names_in(folder)):
        own = folder / name
        if name.startswith(RELEASE_FOLDERS) and own.is_dir() and not own.is_symlink():
            try:
                known[name] = judge_files(own, store)
            except InputError as fault:
                if str(fault) != str(unknown(store)):
                    raise
    if not known:
        raise unknown(store)
    return known


def _in_order(judged: Iterable[Judged]) -> list[Judged]:
    return sorted(judged, key=lambda each: (_number(each), each.folder.name))


def _number(judged: Judged) -> int:
    return judged.manifest.place.release if judged.manifest.place else 0


def _foreign(folder: Path, known: Mapping[str, Judged]) -> list[str]:
    """Whatever lies in the folder of an edition beside its releases."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    foreign = [entry for entry in entries if entry.name not in known and not is_lock(entry)]
    return [f"{shown(entry.name)}: {ADDED}" for entry in foreign]


def _faults_of_places(folder: Path, store: Path, known: Mapping[str, Judged]) -> list[str]:
    """Releases of the edition that are missing, and others that are not where they belong."""
    homes = Counter(judged.kept.home.parent for judged in known.values())
    home = folder.resolve() if registered_below(store, folder) else homes.most_common(1)[0][0]
    faults = [
        f"{shown(kept.home.name)}: {MISSING}"
        for kept in registered_below(store, home)
        if kept.home.name not in known
    ]
    for name, judged in known.items():
        published = judged.kept.home
        if published != home / name:
            whose = "this edition" if published.parent == home else "another edition"
            faults.append(
                f"{shown(name)}: renamed, or copied in: it is {shown(published.name)} of {whose}"
            )
    return faults
