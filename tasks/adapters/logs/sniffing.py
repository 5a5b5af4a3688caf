"""Which format a log has, by its first bytes, its first lines and its name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from tasks.adapters.logs.columns import header_names
from tasks.adapters.logs.delimited import (
    AOL_WIDTHS,
    DELIMITERS,
    find_delimiter,
    is_delimited,
    stated_delimiter,
)
from tasks.adapters.logs.engine_logs import is_slow_line, is_solr_line
from tasks.adapters.logs.files import (
    CHUNK_BYTES,
    NO_TEXT,
    PACKED,
    LogStream,
    numbered_lines,
    open_log,
)
from tasks.adapters.logs.formats import FORMATS
from tasks.adapters.logs.json_logs import decode_json, is_wrapper
from tasks.adapters.logs.requests import is_access_line
from tasks.core.log_options import LogOptions
from tasks.errors import InputError

_PARQUET_MAGIC, *_WORKBOOK_MAGIC = NO_TEXT
_HEAD_BYTES: Final = 1 << 13
_SAMPLE_LINES: Final = 50
_SOLR_LINES: Final = 1000  # a node that starts has much to tell before it is asked
_FORMAT_OF_EXTENSION: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "xlsx"),
}
_AOL_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_QUOTED_CELL: Final = re.compile(r'"(?:[^"]|"")*"')
_JSON_START: Final = re.compile(r"\[\s*(?:[\[{\]]|$)|\{\s*(?:\"|$)")
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r"))
_CONTROL_SHARE: Final = 0.05  # in random bytes it is 0.11


def sniff(file: str, options: LogOptions, chunk_bytes: int = CHUNK_BYTES) -> str | None:
    """Name of the format of a file, None if the file is empty.

    Raises:
        InputError: if it looks like none of the formats, or like text with one column only.
    """
    with open_log(file, options.encoding) as stream:
        head = stream.read(_HEAD_BYTES)
        unpacked = stream.codec is None
    by_name = _FORMAT_OF_EXTENSION.get(_extension(file))
    if head.startswith(_PARQUET_MAGIC) or (head and by_name == "parquet"):
        return "parquet"
    if head.startswith(tuple(_WORKBOOK_MAGIC)) or (head and by_name == "xlsx" and unpacked):
        return "xlsx"
    with open_log(file, options.encoding, chunk_bytes=chunk_bytes) as stream:
        lines = [] if _is_binary(head) else _first_lines(stream)
    if not lines and not _is_binary(head):
        return None
    format = _format_of_lines(lines, options, by_name) if lines else None
    if format is None:
        raise InputError(
            f"cannot tell the format of {file}: it is none of {', '.join(FORMATS)} by its first "
            "lines; name it with --format, what is between its fields with --delimiter, and its "
            "columns with --columns user=…,query=…,time=…"
        )
    return format


def _format_of_lines(lines: list[str], options: LogOptions, by_name: str | None) -> str | None:
    """Format of the first lines of a text, the most telling sign first."""
    sample = lines[:_SAMPLE_LINES]
    if by_name == "jsonl" or _most(sample, _is_json_object):
        return "json" if len(lines) == 1 and is_wrapper(decode_json(lines[0])) else "jsonl"
    logs = {"access": is_access_line, "slowlog": is_slow_line}
    found = [format for format, test in logs.items() if _most(sample, test)]
    if not found and any(map(is_solr_line, lines)):
        found = ["solr"]
    if not found and _JSON_START.match(lines[0].lstrip()):
        found = ["json"]
    return found[0] if found else _format_of_fields(sample, options, by_name)


def _format_of_fields(lines: list[str], options: LogOptions, by_name: str | None) -> str | None:
    first, stated = lines[0], stated_delimiter(options)
    if stated:
        return "csv"
    if _is_aol(lines, options.columns):
        return "aol"
    if by_name == "csv" and any(delimiter in first for delimiter in DELIMITERS):
        return "csv"
    if _most(lines, lambda line: "\t" in line):
        return "csv" if _is_quoted(first) else "tsv"
    return "csv" if is_delimited(lines, find_delimiter(lines)) else by_name


def _is_quoted(line: str) -> bool:
    """Whether all fields between tabs are in quotes; otherwise quotes are part of queries."""
    return all(map(_QUOTED_CELL.fullmatch, line.rstrip("\r").split("\t")))


def _is_binary(head: bytes) -> bool:
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > _CONTROL_SHARE * len(head) and not _is_utf8(head)


def _is_utf8(head: bytes) -> bool:
    return "\ufffd" not in head.decode("utf-8", "replace")


def _first_lines(stream: LogStream) -> list[str]:
    """Of a Solr log more than of others."""
    filled = (line for _, line in numbered_lines(stream) if line.strip())
    lines = list(islice(filled, _SAMPLE_LINES))
    is_log = _most(lines, lambda line: " INFO " in line or " WARN " in line)
    return lines + list(islice(filled, _SOLR_LINES)) if lines and is_log else lines


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


def _most(lines: list[str], test: Callable[[str], bool]) -> bool:
    return 2 * sum(map(test, lines)) > len(lines)


def _extension(file: str) -> str:
    stem, extension = os.path.splitext(file.lower())
    return os.path.splitext(stem)[1] if extension in PACKED else extension
