"""Log files on disk: which files a path stands for, their bytes unpacked, their lines.

Whatever goes wrong here ends as an `InputError` that names the path. It is raised outside the
`except` block, so that no library message, which may quote the file, hangs on to it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import pyarrow as pa

from tasks.core.errors import InputError

LINE_LIMIT: Final = 1 << 20
"""Characters in a line; a longer one may be cut, but stays longer, so that it can be told."""

_CHUNK: Final = 1 << 20
_BYTES_KEPT: Final = 4 * (LINE_LIMIT + 1)  # of a line: as UTF-8 they are more than LINE_LIMIT
_BOM: Final = "\ufeff"
_CODECS: Final = {".gz": "gzip", ".zst": "zstd"}
_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}

Line = tuple[int, str]
"""Line number, counted from 1, and text; bytes that are not UTF-8 become lone surrogates."""

T = TypeVar("T")


def find_files(paths: Iterable[str | Path]) -> list[str]:
    """The files that paths, folders and globs stand for, sorted, each real file once.

    A folder stands for the files directly in it, a glob for the files it matches; hidden files
    and folders inside are passed over.

    Raises:
        InputError: if one of the paths leads to no file.
    """
    names = sorted({name for path in paths for name in _files_behind(str(path))})
    first_name_of: dict[str, str] = {}
    for name in names:
        first_name_of.setdefault(os.path.realpath(name), name)
    return list(first_name_of.values())


def attempt(action: Callable[[], T], complaint: str) -> T:
    """Do something with a file, and raise the complaint as `InputError` if that fails."""
    try:
        return action()
    except Exception:  # a damaged file makes pyarrow raise almost anything
        pass
    raise InputError(complaint)


@dataclass(frozen=True, slots=True)
class LogStream:
    """The unpacked bytes of one open file."""

    name: str
    handle: BinaryIO
    unpacked: Any
    codec: str | None

    def read(self, size: int | None = None) -> bytes:
        content: bytes = attempt(lambda: self.unpacked.read(size), self.complaint)
        return content

    def position(self) -> int:
        """Bytes read so far of the file as it is on disk."""
        return self.handle.tell()

    @property
    def complaint(self) -> str:
        kind = f"as {self.codec} " if self.codec else ""
        return (
            f"cannot read {self.name} {kind}to its end: it is damaged or cut off; "
            "fetch it again, or leave it out"
        )


@contextmanager
def open_log(name: str) -> Iterator[LogStream]:
    """Open a file for reading; gzip and zstd are unpacked on the way."""
    with _open_binary(name) as handle:
        codec = _codec_of(name, handle)
        unpacked = pa.CompressedInputStream(handle, codec) if codec else handle
        yield LogStream(name, handle, unpacked, codec)


def numbered_lines(stream: LogStream) -> Iterator[Line]:
    """The lines of a text file without their line feed; empty ones at the end are left out."""
    empty: list[str] = []
    for number, line in enumerate(_all_lines(stream), start=1):
        if line in ("", "\r"):
            empty.append(line)
            continue
        if empty:
            yield from enumerate(empty, start=number - len(empty))
            empty = []
        yield number, line


def _all_lines(stream: LogStream) -> Iterator[str]:
    rest, mark = b"", _BOM
    while chunk := stream.read(_CHUNK):
        complete, feed, last = (rest + chunk).rpartition(b"\n")
        rest = last[:_BYTES_KEPT]
        if feed:
            yield from _decoded(complete).removeprefix(mark).split("\n")
            mark = ""
    yield _decoded(rest).removeprefix(mark)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _files_behind(path: str) -> list[str]:
    if os.path.isdir(path):
        return _files_in_folder(path)
    if os.path.lexists(path) or not glob.has_magic(path):
        return [_regular_file(path)]
    matches = [name for name in glob.glob(path, recursive=True) if os.path.isfile(name)]
    if not matches:
        raise InputError(f"no file matches {path}: check the pattern, and the folder it is used in")
    return matches


def _files_in_folder(folder: str) -> list[str]:
    children = attempt(
        lambda: os.listdir(folder), f"cannot list the folder {folder}: check who may read it"
    )
    paths = (os.path.join(folder, child) for child in children if not child.startswith("."))
    files = [path for path in paths if os.path.isfile(path)]
    if not files:
        raise InputError(f"the folder {folder} holds no files: name the folder the logs lie in")
    return files


def _regular_file(path: str) -> str:
    if not os.path.exists(path):
        raise InputError(f"{path} does not exist: check the path")
    if not os.path.isfile(path):
        raise InputError(f"{path} is not a regular file: save the log to a file first")
    return path


def _open_binary(name: str) -> BinaryIO:
    return attempt(lambda: open(name, "rb"), f"cannot open {name}: check who may read it")


def _codec_of(name: str, handle: BinaryIO) -> str | None:
    """The compression a file has by its first bytes or, if it says so, by its name."""
    start = attempt(lambda: handle.read(4), f"cannot read {name}: check the disk")
    handle.seek(0)
    by_name = _CODECS.get(os.path.splitext(name)[1].lower())
    by_content = [codec for codec, magic in _MAGIC.items() if start.startswith(magic)]
    return by_content[0] if by_content else (by_name if start else None)
