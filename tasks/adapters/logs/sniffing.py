"""Which format a log has, by its first bytes, its first lines and its name."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from tasks.adapters.logs.columns import header_names
from tasks.adapters.logs.files import CHUNK_BYTES, numbered_lines, open_log
from tasks.adapters.logs.formats import AOL_WIDTHS, FORMATS, decode_json
from tasks.adapters.logs.lines import split_csv
from tasks.errors import InputError

_PARQUET_MAGIC: Final = b"PAR1"
_HEAD_BYTES: Final = 1 << 13
_SAMPLE_LINES: Final = 50
_PACKED: Final = (".gz", ".zst")
_FORMAT_OF_EXTENSION: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_AOL_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_CONTROL_SHARE: Final = 0.05  # in random bytes it is 0.11


def sniff(file: str, mapping: Mapping[str, str], chunk_bytes: int = CHUNK_BYTES) -> str | None:
    """Name of the format of a file, None if the file is empty.

    Raises:
        InputError: if it looks like none of the formats, or like text with one column only.
    """
    with open_log(file) as stream:
        head = stream.read(_HEAD_BYTES)
    by_name = _FORMAT_OF_EXTENSION.get(_extension(file))
    if head.startswith(_PARQUET_MAGIC) or (head and by_name == "parquet"):
        return "parquet"
    lines = [] if _is_binary(head) else _first_lines(file, chunk_bytes)
    if not lines and not _is_binary(head):
        return None
    format = _format_of_lines(lines, mapping, by_name) if lines else None
    if format is None:
        raise InputError(
            f"cannot tell the format of {file}: name it with --format {'|'.join(FORMATS)}, and "
            "its columns with --columns user=…,query=…,time=…"
        )
    return format


def _format_of_lines(
    lines: list[str], mapping: Mapping[str, str], by_name: str | None
) -> str | None:
    """Format of the first lines of a text, the most telling sign first."""
    first = lines[0]
    if by_name == "jsonl" or _most(lines, _is_json_object):
        return "jsonl"
    if _is_aol(lines, mapping):
        return "aol"
    if by_name == "csv" and "," in first:
        return "csv"
    if _most(lines, lambda line: "\t" in line):
        return "tsv"
    return "csv" if _is_csv(lines) else by_name


def _is_binary(head: bytes) -> bool:
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > _CONTROL_SHARE * len(head) and not _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    return "\ufffd" not in head.decode("utf-8", "replace")


def _first_lines(file: str, chunk_bytes: int) -> list[str]:
    with open_log(file, chunk_bytes=chunk_bytes) as stream:
        filled = (line for _, line in numbered_lines(stream) if line.strip())
        return list(islice(filled, _SAMPLE_LINES))


def _is_json_object(line: str) -> bool:
    return isinstance(decode_json(line), dict)


def _is_aol(lines: list[str], mapping: Mapping[str, str]) -> bool:
    names = header_names(lines[0].split("\t"), mapping)
    if names:
        return [name.lower() for name in names[:3]] == ["anonid", "query", "querytime"]
    return _most(lines, _is_aol_row)


def _is_aol_row(line: str) -> bool:
    fields = [field.strip() for field in line.split("\t")]
    is_wide_enough = len(fields) in AOL_WIDTHS
    return is_wide_enough and fields[0].isdigit() and bool(_AOL_TIME.fullmatch(fields[2]))


def _is_csv(lines: list[str]) -> bool:
    """Whether most lines have the same number of fields, and more than one."""
    widths = Counter(len(split_csv(line) or ()) for line in lines)
    width, count = widths.most_common(1)[0]
    return width > 1 and 2 * count > len(lines)


def _most(lines: list[str], test: Callable[[str], bool]) -> bool:
    return 2 * sum(map(test, lines)) > len(lines)


def _extension(file: str) -> str:
    stem, extension = os.path.splitext(file.lower())
    return os.path.splitext(stem)[1] if extension in _PACKED else extension
