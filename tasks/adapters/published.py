"""Published folders, and what the store knows of them."""

from __future__ import annotations

from pathlib import Path

from tasks.adapters import provenance
from tasks.adapters.manifest import MANIFEST, Manifest, differences, is_plain, read_manifest
from tasks.adapters.private_folders import (
    TABLE,
    Kept,
    all_kept,
    damaged,
    registered,
    unknown,
)
from tasks.adapters.provenance import Provenance
from tasks.errors import InputError
from tasks.runtime.fingerprint import content_digest


def manifest_of(kept: Kept) -> Manifest:
    """The manifest of a release as the store has it."""
    found = read_manifest(kept.manifest)
    if found is None:
        raise damaged(kept.private)
    return found


def holds(store: Path, folder: Path, fingerprint: str) -> bool:
    """Whether a folder holds, unchanged, what these decisions led to before, and its proof."""
    try:
        known = [kept for kept in registered(store, folder) if fingerprint in kept.fingerprints]
        return any(
            (kept.private / TABLE).exists()
            and not differences(folder, manifest_of(kept), kept.manifest)
            for kept in known
        )
    except InputError:
        return False


def find(store: Path, folder: Path) -> Kept | None:
    """What the store knows of the release whose manifest lies in a folder, wherever it was made."""
    if not is_plain(folder / MANIFEST):
        return None
    try:
        manifest = (folder / MANIFEST).read_bytes()
    except OSError:
        return None
    here = folder.resolve()
    # Not all at once: an edition may have thousands of releases, each in its place.
    for candidates in (registered(store, folder), all_kept(store)):
        same = [kept for kept in candidates if kept.manifest == manifest]
        if same:
            # Releases of the same files, made of other logs: the one that was published here.
            return min(same, key=lambda kept: kept.home != here)
    return None


def provenance_of(store: Path, release_file: Path) -> Provenance:
    """Who stands behind a published release.

    Raises:
        InputError: the store does not know it, or the file was changed.
    """
    kept = find(store, release_file.parent)
    if kept is None:
        raise unknown(store)
    if manifest_of(kept).files.get(release_file.name, (0, ""))[1] != content_digest(release_file):
        raise unknown(store)
    return provenance.load_kept(store, kept)
