"""What `flows.verify --public` proves to somebody who has the public folder and no store.

The files are held against the manifest beside them, the rows against what that promises. Who stands
behind the rows, and whether the manifest itself is the publisher's, cannot be seen from there; the
verdict says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tasks.adapters.detection.identifiers import load_identifier_finder
from tasks.adapters.manifest import (
    ADDED,
    MANIFEST,
    MISSING,
    NOT_PLAIN,
    RELEASE_NAMES,
    Manifest,
    differences,
    is_lock,
    is_plain,
    read_manifest,
    shown,
)
from tasks.adapters.public_data import stop_words
from tasks.adapters.resources import wordnet
from tasks.adapters.verifier import ReleaseContent, read_release
from tasks.adapters.word_names import load_names
from tasks.core.verification.evidence import FileRows, Knowledge, Promise
from tasks.core.verification.public import (
    Names,
    public_faults,
    public_promise,
    publicly_promised,
    unchecked_names,
)
from tasks.errors import InputError
from tasks.phases.prove import RELEASE_FOLDERS, Verdict, names_in

AS_MANIFEST: Final = "the files in this folder are those that its manifest names, and no others"
NO_MANIFEST: Final = f"{MANIFEST}: not a manifest of a release"
NO_PROMISE: Final = f"{MANIFEST}: it does not say what is promised"
NOT_CHECKED: Final = (
    "not checked, because only the publisher's store knows it: who stands behind the rows (k rows "
    "need not be k people), whether concepts are true of what was typed, what was withheld",
    "not checked, because nobody can see it here: whether somebody exchanged files and manifest "
    "together; compare the manifest's SHA-256 with the publisher's",
)
NOTHING: Final = ReleaseContent((), FileRows.of([]), [])
NOT_THE_LAST: Final = "not checked, because nobody can see it here: whether later releases exist"


@dataclass(frozen=True, slots=True)
class Expert:
    """What is known of words and names, whoever made the release."""

    knowledge: Knowledge
    names: Names
    wordnet: str


@dataclass(frozen=True, slots=True)
class Found:
    """A release folder by itself."""

    folder: Path
    manifest: Manifest | None
    promise: Promise | None
    verdict: Verdict


def prove_public(folder: Path, store: Path) -> Verdict:
    """Judge a release, or the releases of an edition, by nothing but their files.

    Args:
        store: keeps what is compiled of public data; nothing else of it is used.

    Raises:
        InputError: the folder holds no release.
    """
    names = names_in(folder)
    if not names.isdisjoint({*RELEASE_NAMES, MANIFEST}):
        found = _judge(folder, _expert(store))
        told = found.verdict
        return Verdict(told.proven, told.faults, [*told.notes, *NOT_CHECKED])
    if not any(name.startswith(RELEASE_FOLDERS) for name in names):
        raise InputError(f"{folder} holds no {' or '.join(RELEASE_NAMES)}")
    return _judge_edition(folder, _expert(store))


def _expert(store: Path) -> Expert:
    known = wordnet(str(store))
    finder = load_identifier_finder(store)
    knowledge = Knowledge(known.taxonomy, finder.find, stop_words())
    return Expert(knowledge, load_names(store), known.version)


def _judge(folder: Path, expert: Expert) -> Found:
    """A release by itself."""
    path = folder / MANIFEST
    if not is_plain(path):
        return _without(folder, f"{MANIFEST}: {NOT_PLAIN if os.path.lexists(path) else MISSING}")
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot read {path}: {fault.strerror}") from None
    manifest = read_manifest(content)
    if manifest is None:
        return _without(folder, NO_MANIFEST)
    promise = public_promise(manifest.settings)
    if promise is None:
        return _without(folder, NO_PROMISE)
    faults, name = differences(folder, manifest, content), manifest.release_name
    reading = read_release(folder / name) if is_plain(folder / name) else NOTHING
    broken = list(reading.faults)
    if reading.header:
        broken += public_faults(
            reading.header, reading.rows, promise, expert.knowledge, expert.names
        )
    faults += [f"{name}: {fault}" for fault in broken]
    proven = [AS_MANIFEST, *(f"{name}: {c}" for c in publicly_promised(promise, expert.names))]
    notes = [
        f"the manifest says: k counts {shown(manifest.counted)}",
        f"SHA-256 of {MANIFEST}: {hashlib.sha256(content).hexdigest()}",
        *_notes_of_words(manifest, reading.rows, expert),
    ]
    return Found(folder, manifest, promise, Verdict([] if faults else proven, faults, notes))


def _without(folder: Path, fault: str) -> Found:
    return Found(folder, None, None, Verdict([], [fault], []))


def _notes_of_words(manifest: Manifest, rows: FileRows, expert: Expert) -> list[str]:
    notes = []
    unchecked = unchecked_names(rows, expert.knowledge, expert.names)
    if unchecked:
        notes.append(f"{unchecked} rows may name a concept by a word that WordNet lacks")
    if expert.wordnet not in str(manifest.versions.get("wordnet", "")):
        notes.append("the release was made with another WordNet than the one here")
    return notes


def _judge_edition(folder: Path, expert: Expert) -> Verdict:
    """Each release by itself, and whether they belong together."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    releases = [
        entry
        for entry in entries
        if entry.name.startswith(RELEASE_FOLDERS) and entry.is_dir(follow_symlinks=False)
    ]
    foreign = [entry for entry in entries if entry not in releases and not is_lock(entry)]
    faults = [f"{shown(entry.name)}: {ADDED}" for entry in foreign]
    found = [_judge(Path(entry), expert) for entry in releases]
    faults += _faults_of_places(found)
    faults += [f"{_name(each)}: {fault}" for each in found for fault in each.verdict.faults]
    proven = [f"{_name(each)}: {clause}" for each in found for clause in each.verdict.proven]
    notes = [f"{_name(each)}: {note}" for each in found for note in each.verdict.notes]
    return Verdict([] if faults else proven, faults, [*notes, *NOT_CHECKED, NOT_THE_LAST])


def _name(found: Found) -> str:
    return shown(found.folder.name)


def _up_to(last: int, first: int) -> str:
    return f" to {last:04d}" if last > first else ""


def _faults_of_places(found: Sequence[Found]) -> list[str]:
    """Releases that are missing in between, renamed, copied in, or of another edition."""
    known = [(each, each.manifest) for each in found if each.manifest]
    places = [(each, manifest.place) for each, manifest in known]
    faults = []
    for each, place in places:
        own = f"{RELEASE_FOLDERS}{place.release:04d}" if place else "a release of its own"
        if own != each.folder.name:
            faults.append(f"{_name(each)}: renamed, or copied in: its manifest says {own}")
    numbers = sorted({place.release for _, place in places if place})
    faults += [
        f"{RELEASE_FOLDERS}{before + 1:04d}{_up_to(after - 1, before + 1)}: {MISSING}"
        for before, after in pairwise([0, *numbers])
        if after > before + 1
    ]
    if len({place.edition for _, place in places if place}) > 1:
        faults.append("the releases are of several editions")
    if len({each.promise for each in found if each.promise}) > 1:
        faults.append("the releases promise different things")
    return faults
