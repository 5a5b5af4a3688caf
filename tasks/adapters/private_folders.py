"""Private folders: what the store keeps beside each release and never publishes.

STORE/releases/<key>/    record            where it was published, its manifest, its table's MAC
                         provenance.npz    who stands behind each row (`provenance.py`)
                         rejects.tsv       file, row and reason of every row set aside
                         measures.json     the internal edition of the figures, exact
                         report.html       made from these
STORE/unreleased/<digest>/                 figures and rejects of a file that only waits
STORE/releases/<hash of a folder's path>.json    which release was published in that folder

A folder's key is the MAC of its record under the store's secret. The record names all that the
release consists of, so two releases never share a private folder, not even if their files are the
same; and whoever lacks the secret can forge none. Until its release is published it is a draft.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from tasks.errors import InputError
from tasks.runtime.codec import MAC_BYTES, mac, signed, unsigned
from tasks.runtime.files import (
    RELEASES,
    make_private,
    process_lives,
    store_secret,
    sync_folder,
    write_private,
)

DRAFT: Final = ".draft-"
UNRELEASED: Final = "unreleased"
RECORD: Final = "record"
TABLE: Final = "provenance.npz"
KEY: Final = re.compile(f"[0-9a-f]{{{2 * MAC_BYTES}}}")
REMEDY: Final = "restore the store from a backup, or make the release anew with flows.run --replace"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store knows of a release.

    Attributes:
        private: its private folder.
        home: the folder that it was published in.
        manifest: its manifest as it was published.
        table: MAC of its provenance.
        fingerprints: of what decided it, by which it is recognised.
    """

    private: Path
    home: Path
    manifest: bytes = field(repr=False)
    table: str
    fingerprints: tuple[str, ...]


def secret_of(store: Path) -> bytes:
    """The secret of a store that has one: looking into a store must not make it."""
    if not (store / "secret").exists():
        raise unknown(store)
    return store_secret(store)


def open_private(store: Path) -> Path:
    """A private folder for a release that is being made; what killed runs left is removed."""
    store_secret(store)
    folder = store / RELEASES
    make_private(folder)
    for stale in folder.glob(f"{DRAFT}*"):
        if not process_lives(stale.name.removeprefix(DRAFT)):
            shutil.rmtree(stale, ignore_errors=True)
    discard_own_private(store)
    own = _own_draft(store)
    make_private(own)
    return own


def discard_own_private(store: Path) -> None:
    """Remove the private folder of what this process has not published."""
    shutil.rmtree(_own_draft(store), ignore_errors=True)


def _own_draft(store: Path) -> Path:
    return store / RELEASES / f"{DRAFT}{os.getpid()}"


def unpublished_folder(store: Path, digest: str) -> Path:
    """Where figures and rejects of a file lie of which nothing was published."""
    return store / UNRELEASED / digest[:32]


def keep_unpublished(private: Path, digest: str) -> None:
    """Keep what is no provenance of a private folder whose release is not published."""
    kept = unpublished_folder(private.parent.parent, digest)
    (private / TABLE).unlink(missing_ok=True)
    make_private(kept.parent)
    shutil.rmtree(kept, ignore_errors=True)
    os.rename(private, kept)


def settle(
    store: Path, private: Path, home: Path, manifest: bytes, fingerprints: Sequence[str] = ()
) -> Kept:
    """Give a private folder its key: from now on the store knows the release.

    If it knows the very same release already, that one stays.
    """
    table = table_mac(private)
    told = {
        "home": _path_text(home),
        "manifest": manifest.decode(),
        "table": table,
        "fingerprints": list(fingerprints),
    }
    content, secret = json.dumps(told).encode(), secret_of(store)
    settled = store / RELEASES / mac(secret, RECORD, content).hex()
    write_private(private / RECORD, signed(secret, RECORD, content))
    if settled.exists():
        shutil.rmtree(private)
    else:
        try:
            os.rename(private, settled)
            sync_folder(settled.parent)
        except OSError as fault:
            raise InputError(f"cannot write to --store {store}: {fault.strerror}") from None
    return Kept(settled, home.resolve(), manifest, table, tuple(fingerprints))


def expect(store: Path, kept: Kept) -> None:
    """Note that a release is about to take the place of what its folder holds.

    Whoever is killed on the way leaves the one or the other there.
    """
    before = [old.private.name for old in registered(store, kept.home)]
    _write_pointer(store, kept, [*before, kept.private.name])


def register(store: Path, kept: Kept) -> None:
    """Note that a release lies in its folder now."""
    _write_pointer(store, kept, [kept.private.name])


def registered(store: Path, folder: Path) -> list[Kept]:
    """The releases that may lie in a folder: one, or two if a run was killed, or none.

    Raises:
        InputError: what the store says of them is damaged.
    """
    pointer = _pointer(store, folder)
    return [] if pointer is None else [_kept(store, key) for key in pointer["releases"]]


def registered_below(store: Path, folder: Path) -> list[Kept]:
    """The releases that were published in folders of this folder."""
    places = [place for place in _pointed_at(store) if place.parent == folder.resolve()]
    return [kept for place in places for kept in registered(store, place)]


def all_kept(store: Path) -> Iterator[Kept]:
    """Every release that the store knows; damaged entries are passed over."""
    secret_of(store)
    for private in sorted((store / RELEASES).glob("*")):
        if KEY.fullmatch(private.name):
            try:
                yield _kept(store, private.name)
            except InputError:
                continue


def private_folder_of(store: Path, folder: Path) -> Path:
    """The private folder of the release that was published last in a folder.

    Raises:
        InputError: the store knows of none.
    """
    found = registered(store, folder)
    if not found:
        raise unknown(store)
    return found[-1].private


def forget(store: Path, folder: Path) -> None:
    """Forget the release of a folder, and who stands behind it."""
    try:
        found = registered(store, folder)
    except InputError:
        return
    _pointer_path(store, folder).unlink(missing_ok=True)
    for kept in found:
        shutil.rmtree(kept.private, ignore_errors=True)


def table_mac(private: Path) -> str:
    """The MAC that the provenance in a private folder begins with."""
    with open_private_file(private / TABLE) as stream:
        return stream.read(MAC_BYTES).hex()


def read_private(path: Path) -> bytes:
    with open_private_file(path) as stream:
        return stream.read()


@contextmanager
def open_private_file(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise damaged(path) from None
    except OSError as fault:
        raise InputError(f"cannot read {path}: {fault.strerror}") from None


def damaged(path: Path) -> InputError:
    return InputError(f"{path} is missing, damaged, or not of this store: {REMEDY}")


def of_another_version(path: Path) -> InputError:
    """It keeps other things; whoever wrote it had the secret."""
    return InputError(f"{path} was written by another version of this program: {REMEDY}")


def unknown(store: Path) -> InputError:
    return InputError(
        f"the store {store} does not know that release: was it changed, or made with another "
        "--store? Who has no store may check it with --public"
    )


def _kept(store: Path, key: str) -> Kept:
    path = store / RELEASES / key / RECORD
    secret = secret_of(store)
    content = unsigned(secret, RECORD, read_private(path))
    if content is None or mac(secret, RECORD, content).hex() != key:
        raise damaged(path)
    told = json.loads(content)
    try:
        return Kept(
            path.parent,
            _path_of(told["home"]),
            told["manifest"].encode(),
            told["table"],
            tuple(told["fingerprints"]),
        )
    except KeyError:
        # Written by another version of this program, which keeps other things.
        raise damaged(path) from None


def _pointer(store: Path, folder: Path) -> dict[str, Any] | None:
    path = _pointer_path(store, folder)
    if not path.exists():
        return None
    content = unsigned(secret_of(store), path.name, read_private(path))
    if content is None:
        raise damaged(path)
    pointer: dict[str, Any] = json.loads(content)
    return pointer


def _write_pointer(store: Path, kept: Kept, keys: Sequence[str]) -> None:
    path = _pointer_path(store, kept.home)
    told = {"home": _path_text(kept.home), "releases": list(dict.fromkeys(keys))}
    content = json.dumps(told).encode()
    write_private(path, signed(secret_of(store), path.name, content))


def _pointed_at(store: Path) -> Iterator[Path]:
    """Folders in which releases were published; damaged entries are passed over."""
    secret = secret_of(store)
    for path in sorted((store / RELEASES).glob("*.json")):
        content = unsigned(secret, path.name, read_private(path))
        if content is not None:
            yield _path_of(json.loads(content)["home"])


def _pointer_path(store: Path, folder: Path) -> Path:
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return store / RELEASES / f"{name}.json"


def _path_text(folder: Path) -> str:
    return os.fsencode(folder.resolve()).hex()


def _path_of(text: str) -> Path:
    return Path(os.fsdecode(bytes.fromhex(text)))
