"""The bytes of a log unpacked, and its text: compression, archives, encodings, lines.

Whatever goes wrong here ends as an `InputError` that names the path. It is raised outside the
`except` block, so that no library message, which may quote the file, hangs on to it.
"""

from __future__ import annotations

import codecs
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, Final, TypeVar

import pyarrow as pa

from tasks.errors import InputError, LogveilError, UsageError
from tasks.runtime.sources import open_source

LINE_LIMIT: Final = 1 << 20
"""Characters in a line; a longer one may be cut, but stays longer, so that it can be told."""

HEAD_LINES: Final = 100
"""Lines at the start of a file that say what its columns are."""

CHUNK_BYTES: Final = 1 << 20
PACKED: Final = (".gz", ".zst", ".zip")
_BYTES_KEPT: Final = 4 * (LINE_LIMIT + 1)  # of a line: as UTF-8 they are more than LINE_LIMIT
_HEAD_BYTES: Final = 1 << 12
_CODECS: Final = {".gz": "gzip", ".zst": "zstd", ".zip": "zip"}
_MAGIC: Final = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "zip": (b"PK\x03\x04", b"PK\x05\x06"),
}
_WORKBOOK_PARTS: Final = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
NO_TEXT: Final = (b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""How Parquet and workbooks, new and old, begin."""
_LITTER: Final = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_ARCHIVE_BYTES: Final = 1 << 30  # an archive may unpack to so much, whatever its size
_ARCHIVE_RATIO: Final = 200  # logs pack to a tenth, the most repetitive to a hundredth
_MIXED_LINES: Final = 10
_MIXED_SHARE: Final = 0.1

Line = tuple[int, str]
"""Line number, counted from 1, and text; bytes that are no characters become lone surrogates."""

Chunk = tuple[int, bytes]
"""Whole lines: the number of the first, and the bytes of all, without the last line feed."""

T = TypeVar("T")


def attempt(action: Callable[[], T], complaint: str) -> T:
    """Do something with a file, and raise the complaint as `InputError` if that fails."""
    try:
        return action()
    except LogveilError:
        raise
    except Exception:  # a damaged file makes pyarrow raise almost anything
        pass
    raise InputError(complaint)


@dataclass(slots=True)
class LogStream:
    """The unpacked bytes of one open file; its text as UTF-8, whatever it is on the disk.

    Attributes:
        handle: of the file as it is on the disk.
        codec: how it is packed.
        encoding: of its text as far as it was read; cp1252 if some lines are not UTF-8.
        first_line: the first that is asked for, beside those at the start that say what a file is.
        chunk_bytes: so much is read at a time.
    """

    name: str
    handle: BinaryIO
    unpacked: Any
    codec: str | None
    encoding: str
    first_line: int = 1
    chunk_bytes: int = CHUNK_BYTES
    stated: bool = False
    _second: str | None = field(default=None, repr=False)

    def read(self, size: int | None = None) -> bytes:
        content: bytes = attempt(lambda: self.unpacked.read(size), self.complaint)
        return content

    def position(self) -> int:
        """Bytes read so far of the file as it is on disk."""
        return self.handle.tell()

    def text_of(self, line: bytes) -> str:
        """A line that is not UTF-8, in the encoding that such lines of this file have."""
        if self._second is None:
            self._second = "utf-8" if self.stated else _second_encoding(self.name)
        if self._second == "utf-8" or _speaks_utf8(line):
            return line.decode("utf-8", "surrogateescape")
        self.encoding = self._second
        return line.decode(self._second, "surrogateescape")

    def recode(self, encoding: str) -> None:
        """Take what is not read yet for text of another encoding."""
        if encoding not in (self.encoding, "utf-8"):
            self.unpacked, self.encoding = _Text(b"", self.unpacked, encoding), encoding

    @property
    def complaint(self) -> str:
        kind = f"as {self.codec} " if self.codec else ""
        return (
            f"cannot read {self.name} {kind}to its end: it is damaged or cut off; "
            "fetch it again, or leave it out"
        )


@contextmanager
def open_log(
    name: str, encoding: str = "auto", first_line: int = 1, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[LogStream]:
    """Open a file for reading; gzip, zstd and zip are unpacked on the way.

    Raises:
        InputError: it cannot be opened, or is an archive of no or of several files.
        UsageError: nothing is known of the encoding.
    """
    with ExitStack() as stack:
        handle = stack.enter_context(_open_binary(name))
        codec = _codec_of(name, handle)
        unpacked = _unpacked(name, handle, codec, stack)
        stream = LogStream(name, handle, unpacked, codec, encoding, first_line, chunk_bytes)
        head = stream.read(_HEAD_BYTES)
        stream.stated = encoding != "auto"
        stream.encoding = _known(encoding) if stream.stated else _encoding_of(head)
        if head.startswith(NO_TEXT):
            stream.encoding = "utf-8"  # its bytes stay as they are
        if codec is None and stream.encoding == "utf-8" and not head.startswith(codecs.BOM_UTF8):
            handle.seek(0)  # the most common case, and Parquet, need nothing in between
        else:
            stream.unpacked = _Text(head, unpacked, stream.encoding)
        yield stream


def numbered_lines(stream: LogStream, first: int = 1) -> Iterator[Line]:
    """The lines of a text file without their line feed; empty ones at the end are left out.

    Args:
        first: lines before this one may be passed over, but for the head of the file.
    """
    return lines_of(line_chunks(stream, first), stream)


def lines_of(chunks: Iterable[Chunk], stream: LogStream) -> Iterator[Line]:
    """The lines in chunks that follow each other, but for empty ones at their end."""
    every = (enumerate(decoded(content, stream), start=number) for number, content in chunks)
    return up_to_filled(chain.from_iterable(every), [])


def up_to_filled(lines: Iterable[Line], empty: list[Line]) -> Iterator[Line]:
    """All lines but empty ones at the end, which are kept in case that others follow.

    Args:
        empty: those at the end of what was before.
    """
    for number, line in lines:
        if not line or line == "\r":
            empty.append((number, line))
            continue
        if empty:
            yield from empty
            empty.clear()
        yield number, line


def line_chunks(stream: LogStream, first: int = 1) -> Iterator[Chunk]:
    """The lines of a text file, many at a time; see `numbered_lines`."""
    rest, number = b"", 1
    while chunk := stream.read(stream.chunk_bytes):
        complete, feed, last = (rest + chunk).rpartition(b"\n")
        rest = last[:_BYTES_KEPT]
        if feed:
            behind = number + complete.count(b"\n") + 1
            # To count lines is a hundred times as fast as to read them.
            if number <= HEAD_LINES or behind > first:
                yield number, complete
            number = behind
    yield number, rest


def decoded(content: bytes, stream: LogStream) -> list[str]:
    """The lines of some bytes."""
    try:
        return content.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        pass
    return [stream.text_of(line) for line in content.split(b"\n")]


# Encodings


class _Text:
    """Bytes in any encoding as those of UTF-8, without a byte order mark.

    What is no character becomes a lone surrogate, which is not UTF-8 either: whoever reads it sets
    that row aside.
    """

    def __init__(self, head: bytes, rest: Any, encoding: str) -> None:
        self._head, self._rest = head.removeprefix(codecs.BOM_UTF8), rest
        errors = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
        decoder = codecs.getincrementaldecoder(encoding)
        self._decoder = None if encoding == "utf-8" else decoder(errors)
        self._mark = "\ufeff"

    def read(self, size: int | None = None) -> bytes:
        if size == 0:
            return b""
        while True:
            content, self._head = self._head[:size], self._head[size:] if size else b""
            if size is None or not content:
                content += self._rest.read(size)
            if self._decoder is None:
                return content
            at_end = size is None or not content
            text = self._decoder.decode(content, at_end)
            if text or at_end:
                plain, self._mark = text.removeprefix(self._mark), ""
                return plain.encode("utf-8", "surrogatepass")


def encoding_throughout(name: str) -> str:
    """Of a file whose lines are not apart: UTF-8, or cp1252 if it is not UTF-8 everywhere."""
    return _second_encoding(name)


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs are not of text
    except LookupError:
        raise UsageError(f"--encoding {encoding}: unknown; try utf-8, utf-16 or cp1252") from None
    return name


def _encoding_of(head: bytes) -> str:
    """UTF-16 by its mark or its zeros, else UTF-8, of which single lines may yet be cp1252."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    pairs = head[: len(head) // 2 * 2]
    high, low = pairs[0::2], pairs[1::2]
    if _are_zeros(low, high) and _is_text(pairs, "utf-16-le"):
        return "utf-16-le"
    if _are_zeros(high, low) and _is_text(pairs, "utf-16-be"):
        return "utf-16-be"
    return "utf-8"


def _are_zeros(upper: bytes, lower: bytes) -> bool:
    """Whether characters are mostly those of ASCII, also the first: names of columns, or an id."""
    begins = upper[:8].count(0) * 2 >= len(upper[:8])
    return begins and upper.count(0) > 10 * lower.count(0) and upper.count(0) * 5 > len(upper)


def _is_text(content: bytes, encoding: str) -> bool:
    text = content.decode(encoding, "replace")
    return "\0" not in text and text.count("\ufffd") <= 1  # the last character may be cut in two


def _second_encoding(name: str) -> str:
    """How lines that are not UTF-8 are to be read: as cp1252, or not at all (utf-8).

    Asked only when there is such a line, for the whole file has to be looked at. If most lines with
    anything but ASCII are UTF-8, the others are damaged and set aside.
    """
    valid = others = 0
    with open_log(name, "utf-8") as stream:
        rest = b""
        while chunk := stream.read(CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[:_BYTES_KEPT]
            found = [_speaks_utf8(line) for line in lines if not line.isascii()]
            valid, others = valid + sum(found), others + len(found) - sum(found)
        if not rest.isascii():
            valid, others = valid + _speaks_utf8(rest), others + (not _speaks_utf8(rest))
    few, all_lines = min(valid, others), valid + others
    if few >= _MIXED_LINES and few >= _MIXED_SHARE * all_lines:
        raise InputError(
            f"{name} is in two encodings: {valid} of its lines are UTF-8 and {others} are not; "
            "convert it to one, or say --encoding utf-8 to set the others aside"
        )
    return "cp1252" if others > valid else "utf-8"


def _speaks_utf8(line: bytes) -> bool:
    """Whether a line is ASCII or holds a character of UTF-8, which no other text does by chance."""
    text = line.decode("utf-8", "ignore")
    return line.isascii() or not text.isascii()


# Packing


def _open_binary(name: str) -> BinaryIO:
    return attempt(lambda: open_source(name), f"cannot open {name}: check who may read it")


def _codec_of(name: str, handle: BinaryIO) -> str | None:
    """The compression a file has by its first bytes or, if it says so, by its name."""
    start = attempt(lambda: handle.read(4), f"cannot read {name}: check the disk")
    handle.seek(0)
    by_name = _CODECS.get(os.path.splitext(name)[1].lower())
    by_content = [codec for codec, magic in _MAGIC.items() if start.startswith(magic)]
    codec = by_content[0] if by_content else (by_name if start else None)
    return None if codec == "zip" and _is_workbook(handle) else codec


def _is_workbook(handle: BinaryIO) -> bool:
    """Workbooks are archives too, but of one document."""
    try:
        with zipfile.ZipFile(handle) as archive:
            names = archive.namelist()
    except Exception:
        names = []
    handle.seek(0)
    return any(part in names for part in _WORKBOOK_PARTS)


def _unpacked(name: str, handle: BinaryIO, codec: str | None, stack: ExitStack) -> Any:
    if codec == "zip":
        return stack.enter_context(_only_file(name, handle, stack))
    return pa.CompressedInputStream(handle, codec) if codec else handle


def _only_file(name: str, handle: BinaryIO, stack: ExitStack) -> Any:
    complaint = f"cannot read {name} as zip: it is damaged or cut off; fetch it again"
    archive = stack.enter_context(attempt(lambda: zipfile.ZipFile(handle), complaint))
    files = [each for each in archive.infolist() if not each.is_dir()]
    files = [each for each in files if not each.filename.startswith(_LITTER)]
    if len(files) != 1:
        raise InputError(f"{name} holds {len(files)} files: unpack it, and name the log among them")
    (only,) = files
    if only.flag_bits & 1:
        raise InputError(f"{name} is encrypted: unpack it with its password first")
    if only.file_size > max(_ARCHIVE_BYTES, _ARCHIVE_RATIO * only.compress_size):
        raise InputError(
            f"{name} would unpack to {only.file_size} bytes, more than {_ARCHIVE_RATIO} times its "
            "size: unpack it yourself if that is right"
        )
    return attempt(lambda: archive.open(only), complaint)
