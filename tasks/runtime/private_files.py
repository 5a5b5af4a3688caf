"""Files that only their owner may read, and that are never seen half written."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tasks.core.errors import InputError

SECRET_BYTES = 32
ASIDE = ".aside-"


def make_private(folder: Path) -> None:
    """Make a folder that nobody else may enter, nor any folder that must be made above it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)


def write_private(path: Path, content: bytes) -> None:
    """Write aside, then rename."""
    try:
        make_private(path.parent)
        with _written_aside(path, content) as aside:
            os.replace(aside, path)
    except OSError as fault:
        raise InputError(f"cannot write to --store: {path}: {fault.strerror}") from None


def remove_asides(paths: Iterable[Path]) -> None:
    """Remove what processes that were killed meanwhile had begun to write to these paths."""
    paths = set(paths)
    for folder in {path.parent for path in paths}:
        for aside in folder.glob(f"{ASIDE}*"):
            if folder / aside.name.removeprefix(ASIDE).rpartition("-")[0] in paths:
                aside.unlink(missing_ok=True)


def store_secret(store: Path) -> bytes:
    """The secret of a store, with which texts and user ids are hashed; made on first use."""
    path = store / "secret"
    try:
        make_private(store)
        if not path.exists():
            _create_once(path, secrets.token_bytes(SECRET_BYTES))
        secret = path.read_bytes()
    except OSError as fault:
        raise InputError(f"cannot use --store {store}: {fault.strerror}") from None
    if len(secret) != SECRET_BYTES:
        raise InputError(f"{path} is damaged: restore it, or delete it to start with a new one")
    return secret


def _create_once(path: Path, content: bytes) -> None:
    """Of several processes at once one makes the file, whole; the others take that one."""
    with suppress(FileExistsError), _written_aside(path, content) as aside:
        os.link(aside, path)


@contextmanager
def _written_aside(path: Path, content: bytes) -> Iterator[Path]:
    """The content in a file beside the path, on the disk; gone afterwards, if it was not moved."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{ASIDE}{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
