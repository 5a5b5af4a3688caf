"""Log files on disk: their bytes unpacked, their lines.

Whatever goes wrong here ends as an `InputError` that names the path. It is raised outside the
`except` block, so that no library message, which may quote the file, hangs on to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeVar

import pyarrow as pa

from tasks.errors import InputError

LINE_LIMIT: Final = 1 << 20
"""Characters in a line; a longer one may be cut, but stays longer, so that it can be told."""

HEAD_LINES: Final = 100
"""Lines at the start of a file that say what its columns are."""

CHUNK_BYTES: Final = 1 << 20
_BYTES_KEPT: Final = 4 * (LINE_LIMIT + 1)  # of a line: as UTF-8 they are more than LINE_LIMIT
_BOM: Final = "\ufeff"
_CODECS: Final = {".gz": "gzip", ".zst": "zstd"}
_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}

Line = tuple[int, str]
"""Line number, counted from 1, and text; bytes that are not UTF-8 become lone surrogates."""

T = TypeVar("T")


def attempt(action: Callable[[], T], complaint: str) -> T:
    """Do something with a file, and raise the complaint as `InputError` if that fails."""
    try:
        return action()
    except Exception:  # a damaged file makes pyarrow raise almost anything
        pass
    raise InputError(complaint)


@dataclass(frozen=True, slots=True)
class LogStream:
    """The unpacked bytes of one open file.

    Attributes:
        first_line: the first that is asked for, beside those at the start that say what a file is.
        chunk_bytes: so much is read at a time.
    """

    name: str
    handle: BinaryIO
    unpacked: Any
    codec: str | None
    first_line: int
    chunk_bytes: int = CHUNK_BYTES

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
def open_log(name: str, first_line: int = 1, chunk_bytes: int = CHUNK_BYTES) -> Iterator[LogStream]:
    """Open a file for reading; gzip and zstd are unpacked on the way."""
    with _open_binary(name) as handle:
        codec = _codec_of(name, handle)
        unpacked = pa.CompressedInputStream(handle, codec) if codec else handle
        yield LogStream(name, handle, unpacked, codec, first_line, chunk_bytes)


def numbered_lines(stream: LogStream, first: int = 1) -> Iterator[Line]:
    """The lines of a text file without their line feed; empty ones at the end are left out.

    Args:
        first: lines before this one may be passed over, but for the head of the file.
    """
    empty: list[Line] = []
    for number, line in _all_lines(stream, first):
        if line in ("", "\r"):
            empty.append((number, line))
            continue
        if empty:
            yield from empty
            empty.clear()
        yield number, line


def _all_lines(stream: LogStream, first: int) -> Iterator[Line]:
    rest, mark, number = b"", _BOM, 1
    while chunk := stream.read(stream.chunk_bytes):
        complete, feed, last = (rest + chunk).rpartition(b"\n")
        rest = last[:_BYTES_KEPT]
        if feed:
            behind = number + complete.count(b"\n") + 1
            # To count lines is a hundred times as fast as to read them.
            if number <= HEAD_LINES or behind > first:
                lines = _decoded(complete).removeprefix(mark).split("\n")
                yield from enumerate(lines, start=number)
            number, mark = behind, ""
    yield number, _decoded(rest).removeprefix(mark)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _open_binary(name: str) -> BinaryIO:
    return attempt(lambda: open(name, "rb"), f"cannot open {name}: check who may read it")


def _codec_of(name: str, handle: BinaryIO) -> str | None:
    """The compression a file has by its first bytes or, if it says so, by its name."""
    start = attempt(lambda: handle.read(4), f"cannot read {name}: check the disk")
    handle.seek(0)
    by_name = _CODECS.get(os.path.splitext(name)[1].lower())
    by_content = [codec for codec, magic in _MAGIC.items() if start.startswith(magic)]
    return by_content[0] if by_content else (by_name if start else None)
