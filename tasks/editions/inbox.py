"""The folder of incoming files: which are complete, and where they go when they are dealt with.

    inbox/done/     published or waiting, under a name that begins with their content's hash
    inbox/known/    whose content had come before
    inbox/failed/   that cannot be used, each beside a file with the reason

Only regular files directly in the folder count. A link does not: moved aside, it might lead
nowhere. A file is moved by one rename, so a run that is killed leaves it in one place.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from tasks.errors import DiskTrouble, InputError
from tasks.runtime.files import sync_folder
from tasks.runtime.fingerprint import content_digest

UNFINISHED: Final = (".part", ".tmp", ".partial", ".crdownload", ".swp", "~")
"""How names end that programs give to files they are still writing."""

DONE: Final = "done"
KNOWN: Final = "known"
FAILED: Final = "failed"
REASON: Final = ".reason.txt"
SHA_LENGTH: Final = 12
NAME_BYTES: Final = 200
"""Of a file's own name; leaves room for what is put before and after it."""


PROCESSES: Final = Path("/proc")
WRITTEN: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What changes when a file is written to or replaced."""

    size: int
    mtime_ns: int
    inode: int


def complete_files(
    inbox: Path, settle_seconds: float, processes: Path = PROCESSES
) -> tuple[list[Path], list[Path]]:
    """The files in an inbox in the order of their names: complete ones, and unfinished ones.

    A file that was written to within `settle_seconds` is watched until it is older. All are
    watched together, and for no longer than that, whatever their clock says.

    Raises:
        InputError: the inbox does not exist, or files cannot be taken from it.
    """
    require_inbox(inbox)
    before = _stamps(inbox)
    _let_settle(before, settle_seconds)
    written = open_for_writing(before, processes)
    complete, unfinished = [], []
    for path, stamp in before.items():
        if path not in written and _unchanged(path, stamp):
            complete.append(path)
        elif path.exists():
            unfinished.append(path)
    return complete, unfinished


def _unchanged(path: Path, stamp: _Stamp) -> bool:
    """Whether a file is still there and as it was."""
    try:
        return _stamp(path.lstat()) == stamp
    except OSError:
        return False


def done_name(sha: str, name: str) -> str:
    """The name under which a file is kept once it is done."""
    return f"{sha[:SHA_LENGTH]}-{_shortened(name)}"


def move_to_done(inbox: Path, path: Path, sha: str) -> Path | None:
    """Keep a file that is done, for later editions; None if it has been moved already."""
    return _move(path, _subfolder(inbox, DONE) / done_name(sha, path.name))


def move_to_known(inbox: Path, path: Path) -> Path | None:
    """Put a file aside whose content had come before; None if it has been moved already."""
    folder = _subfolder(inbox, KNOWN)
    names = _numbered(path.name)
    return _move(path, next(folder / name for name in names if not os.path.lexists(folder / name)))


def move_to_failed(inbox: Path, path: Path, reason: str) -> Path | None:
    """Put a file aside that cannot be used, beside the reason; None if that was done already.

    The reason is written first, so that no file is found there without one.
    """
    if not os.path.lexists(path):
        return None
    folder, text = _subfolder(inbox, FAILED), f"{reason}\n".encode("utf-8", "backslashreplace")
    target = next(folder / name for name in _numbered(path.name) if _is_free(folder / name, text))
    with _told_plainly(f"cannot write to {folder}"), _held(folder) as handle:
        reason_file = os.open(_reason_file(target).name, WRITTEN, 0o666, dir_fd=handle)
        with os.fdopen(reason_file, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    return _move(path, target)


def done_files(inbox: Path) -> list[Path]:
    """The files that are done, in the order of their content's hashes."""
    folder = inbox / DONE
    return list(_stamps(folder)) if folder.exists() else []


def find_done(inbox: Path, sha: str) -> Path | None:
    """The file that is done and has exactly this content, if it can be read."""
    prefix = done_name(sha, "")
    candidates = (path for path in done_files(inbox) if path.name.startswith(prefix))
    return next((path for path in candidates if _has_content(path, sha)), None)


def _has_content(path: Path, sha: str) -> bool:
    try:
        return content_digest(path) == sha
    except DiskTrouble:
        raise
    except InputError:
        return False


def require_inbox(inbox: Path) -> None:
    """See that there is an inbox whose files can be taken.

    Raises:
        InputError: there is none.
    """
    if not inbox.is_dir():
        raise InputError(f"the inbox {inbox} is no folder: make it, or name another with --inbox")
    links = [name for name in (DONE, KNOWN, FAILED) if (inbox / name).is_symlink()]
    if links:
        # Whoever may put files into the inbox would choose where else they are moved to.
        raise InputError(f"{inbox / links[0]} is a link: make it a folder, or take it away")
    if not os.access(inbox, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(
            f"files cannot be moved within the inbox {inbox}: allow this user to write there"
        )


def _stamps(folder: Path) -> dict[Path, _Stamp]:
    """The files in a folder that are neither hidden nor named as unfinished, by name."""
    with _told_plainly(f"cannot list {folder}"):
        names = sorted(os.listdir(folder))
    found = {}
    for name in names:
        if not name.startswith(".") and not name.lower().endswith(UNFINISHED):
            with suppress(OSError):
                status = (folder / name).lstat()
                if stat.S_ISREG(status.st_mode):
                    found[folder / name] = _stamp(status)
    return found


def _stamp(status: os.stat_result) -> _Stamp:
    return _Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _let_settle(stamps: dict[Path, _Stamp], settle_seconds: float) -> None:
    """Wait until the youngest file is old enough; one from the future counts as just written."""
    if not stamps:
        return
    youngest = max(stamp.mtime_ns for stamp in stamps.values()) / 1e9
    age = max(0.0, time.time() - youngest)
    time.sleep(max(0.0, settle_seconds - age))


def _subfolder(inbox: Path, name: str) -> Path:
    """A folder inside the inbox, open to nobody who may not look into the inbox itself."""
    folder = inbox / name
    with _told_plainly(f"cannot make {folder}"):
        folder.mkdir(mode=stat.S_IMODE(inbox.stat().st_mode), exist_ok=True)
    return folder


def _move(path: Path, target: Path) -> Path | None:
    with _told_plainly(f"cannot move {path} to {target.parent}"), _held(target.parent) as handle:
        try:
            os.replace(path, target.name, dst_dir_fd=handle)
        except FileNotFoundError:
            return None
        for folder in (target.parent, path.parent):
            sync_folder(folder)
    return target


@contextmanager
def _held(folder: Path) -> Iterator[int]:
    """A folder of the inbox; if somebody has put a link in its place meanwhile, that is refused."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield handle
    finally:
        os.close(handle)


def _shortened(name: str) -> str:
    """A name that leaves room for more; its end is kept, which may tell the file's format."""
    return os.fsdecode(os.fsencode(name)[-NAME_BYTES:])


def _numbered(name: str) -> Iterator[str]:
    """name.tsv, name-2.tsv, name-3.tsv …"""
    short = Path(_shortened(name))
    yield short.name
    for number in count(2):
        yield f"{short.stem}-{number}{short.suffix}"


def _is_free(target: Path, reason: bytes) -> bool:
    """Whether nothing is overwritten; a killed run may have begun to write the same reason."""
    if os.path.lexists(target):
        return False
    try:
        return reason.startswith(_reason_file(target).read_bytes())
    except FileNotFoundError:
        return True


def _reason_file(target: Path) -> Path:
    return target.with_name(target.name + REASON)


@contextmanager
def _told_plainly(complaint: str) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise InputError(
            f"{complaint}: {fault.strerror}; check the disk, and who may read and write there"
        ) from None


def open_for_writing(files: Iterable[Path], processes: Path = PROCESSES) -> set[Path]:
    """Those files that some process has open for writing.

    Linux tells in /proc, as far as we may look; elsewhere nobody does.
    """
    places = {place: path for path in files if (place := _place(path))}
    if not places:
        return set()
    return {
        places[place]
        for handle in _open_handles(processes)
        if (place := _place(handle)) in places and _may_write(handle)
    }


def _open_handles(processes: Path) -> Iterator[Path]:
    """Each open file of each process that we may look into."""
    for process in _entries(processes):
        if process.name.isdigit():
            yield from _entries(process / "fd")


def _entries(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def _place(path: Path) -> tuple[int, int] | None:
    """Device and inode: a file by whatever name."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _may_write(handle: Path) -> bool:
    try:
        lines = (handle.parent.parent / "fdinfo" / handle.name).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
