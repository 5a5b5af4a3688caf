"""Releases over time: what an edition holds, and where its releases lie.

OUT/edition-0001/release-0001/    release.tsv, report.html, README.md, measures.json, manifest.json
OUT/edition-0001/release-0002/    …
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from tasks.adapters import private_folders
from tasks.adapters.detection.topics import DEFAULT_TOPICS, topics_content
from tasks.adapters.published import find
from tasks.adapters.release_files import ASIDE
from tasks.core.digests import digest
from tasks.core.records import Ints, Longs
from tasks.core.taxonomy import Taxonomy
from tasks.editions.inbox import find_done
from tasks.editions.ledger import Ledger
from tasks.editions.ledger_entries import Batch, Edition, Kind, Release
from tasks.errors import InputError, UsageError
from tasks.settings import Settings

SHARED: Final = (
    *("k", "l", "dominance", "rounding", "guarantee", "scope", "time"),
    *("method", "threshold", "ancestors", "distance", "spacy_model", "release_format"),
    *("format", "columns", "person", "exact_ids", "query_param", "date_order"),
)
"""Settings that all releases of an edition share: they decide what it promises, and who is
read as having asked what, and when."""


@dataclass(frozen=True, slots=True, eq=False)
class EditionState:
    """An edition as the ledger has it, before the next release.

    Attributes:
        edition: its number and settings.
        batches: the files that came so far.
        waiting: rows that wait, by the digest of their file.
        clusters: published concepts by number.
        releases: what was published so far.
    """

    edition: Edition
    batches: tuple[Batch, ...] = ()
    waiting: Mapping[str, Longs] = field(default_factory=dict)
    clusters: Mapping[int, str] = field(default_factory=dict)
    releases: tuple[Release, ...] = ()

    @property
    def sequence(self) -> int:
        """The number of the release to come."""
        return self.releases[-1].sequence + 1 if self.releases else 1

    @property
    def folder(self) -> Path:
        return Path(self.edition.out) / f"edition-{self.edition.number:04d}"

    def release_folder(self, sequence: int) -> Path:
        return self.folder / f"release-{sequence:04d}"

    def release_files(self) -> list[Path]:
        """The release files of the edition so far."""
        folders = [self.release_folder(release.sequence) for release in self.releases]
        return [release_file(folder) for folder in folders]

    def is_complete(self) -> bool:
        """Whether all its releases lie where they were published: it was not withdrawn."""
        folders = (self.release_folder(release.sequence) for release in self.releases)
        return all(folder.exists() for folder in folders)

    def published_rows(self, taxonomy: Taxonomy) -> list[Ints]:
        """Concepts of the clusters by number - 1; a number never published has none."""
        place = {name: place for place, name in enumerate(taxonomy.names.tolist())}
        rows = [np.zeros(0, dtype=np.int32)] * max(self.clusters, default=0)
        for number, names in self.clusters.items():
            rows[number - 1] = _concepts(names, place)
        return rows

    def digest(self) -> str:
        """Changes with whatever decides the next release beside its file."""
        waiting = [(sha, digest(rows)) for sha, rows in sorted(self.waiting.items())]
        return digest(self.edition.number, self.sequence, waiting, sorted(self.clusters.items()))


def _concepts(names: str, place: Mapping[str, int]) -> Ints:
    try:
        return np.array(sorted(place[name] for name in names.split(";")), dtype=np.int32)
    except KeyError:
        raise InputError(
            "this edition was made with another WordNet: start a new one with --edition new"
        ) from None


def shared_settings(settings: Settings) -> str:
    """What all releases of an edition share, as the ledger keeps it."""
    topics = digest(topics_content(settings.topics_path or DEFAULT_TOPICS))
    shared = {name: getattr(settings, name) for name in SHARED}
    return json.dumps({**shared, "topics": topics}, sort_keys=True)


def current_state(ledger: Ledger, out: Path) -> EditionState | None:
    """The newest edition of a folder."""
    edition = ledger.current_edition(out)
    if edition is None:
        return None
    return EditionState(
        edition,
        tuple(ledger.batches(edition)),
        ledger.waiting(edition),
        ledger.clusters(edition),
        tuple(ledger.releases(edition)),
    )


def next_state(ledger: Ledger, settings: Settings, out: Path, kind: Kind) -> EditionState:
    """An edition that is about to begin."""
    return EditionState(ledger.begin_edition(out, shared_settings(settings), kind))


def refuse_other_settings(state: EditionState, settings: Settings) -> None:
    """An edition promises one thing."""
    before, now = json.loads(state.edition.settings), json.loads(shared_settings(settings))
    if not can_be_read(state, settings):
        raise UsageError(
            f"edition {state.edition.number} was begun by an earlier logveil, which did not note "
            "all that is needed to add to it: begin a new one with --edition new"
        )
    other = [f"{name} was {before[name]}" for name in now if before[name] != now[name]]
    if other:
        raise UsageError(
            f"edition {state.edition.number} was begun with other settings "
            f"({'; '.join(other)}): use those, or begin a new one with --edition new"
        )


def refuse_strangers(state: EditionState | None, out: Path, store: Path) -> None:
    """What lies in a folder of editions must be known, or releases would be mixed up.

    Args:
        state: the newest edition that the ledger knows there.

    Raises:
        InputError: there is an edition, or a release of the newest one, after all that are known.
    """
    editions = _numbered_after(out, "edition", state.edition.number if state else 0)
    # A run that failed or was killed leaves the folder of an edition without any release.
    found = [own for edition in editions for own in _numbered_after(edition, "release", 0)]
    if state is not None:
        found += _numbered_after(state.folder, "release", state.sequence - 1)
    if found:
        raise InputError(
            f"{found[0]} is there, but the ledger in {store} does not know it: the folder was "
            "moved or copied here, or made with another store, or the ledger is older than it; "
            "move it back, name its own store with --store, or begin in another --out"
        )


def _numbered_after(folder: Path, kind: str, last: int) -> list[Path]:
    """Folders edition-0001, say, that are numbered after the last one known."""
    named = {path: path.name.partition("-")[2] for path in sorted(folder.glob(f"{kind}-*"))}
    return [path for path, number in named.items() if number.isdecimal() and int(number) > last]


def can_be_read(state: EditionState, settings: Settings) -> bool:
    """Whether this version of the program has begun an edition, and knows what it noted."""
    before, now = json.loads(state.edition.settings), json.loads(shared_settings(settings))
    return set(before) == set(now)


def files_that_wait(state: EditionState, inbox: Path) -> tuple[dict[str, Path], list[str]]:
    """The files, by digest, in which rows wait, and the names of those that are gone."""
    found = {sha: find_done(inbox, sha) for sha in state.waiting}
    names = {batch.sha: batch.name for batch in state.batches}
    there = {sha: path for sha, path in found.items() if path is not None}
    return there, [names[sha] for sha, path in found.items() if path is None]


def recover(ledger: Ledger, store: Path, out: Path) -> None:
    """End what a killed run has begun: its release is in place, or was never seen."""
    intent = ledger.pending(out)
    if intent is None or intent.id is None:
        return
    state = EditionState(intent.edition)
    folder = state.release_folder(intent.release.sequence) if intent.release else None
    if folder is None or folder.exists():
        if folder is not None:
            register(store, folder)
        ledger.commit(intent.id)
    else:
        ledger.rollback(intent.id)


def withdraw_old(store: Path, out: Path, keep: int) -> list[Path]:
    """Remove all but the newest editions, and who stands behind their rows; returns their folders.

    A folder is moved aside first, so that nobody sees a part of it.
    """
    folders = sorted(out.glob("edition-[0-9]*"))[:-keep]
    for folder in folders:
        for release in sorted(folder.glob("release-*")):
            private_folders.forget(store, release)
        aside = folder.with_name(f"{ASIDE}{os.getpid()}")
        os.replace(folder, aside)
        shutil.rmtree(aside)
    return folders


def register(store: Path, folder: Path) -> None:
    """Let `flows.verify` find the proof of a published folder."""
    kept = find(store, folder)
    if kept is not None and kept.home == folder.resolve():
        private_folders.register(store, kept)


def release_file(folder: Path) -> Path:
    """The one release in a folder."""
    found = sorted(folder.glob("release.*"))
    if len(found) != 1:
        raise InputError(
            f"{folder} should hold one release: put it back, or begin anew with --edition new"
        )
    return found[0]
