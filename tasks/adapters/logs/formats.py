"""The formats a log may have, by name: who opens which.

Each family of formats has a file: delimited text, JSON of all kinds, access logs of web servers
(requests), logs of search engines, and tables in binary files (sheets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tasks.adapters.logs.delimited import open_aol, open_csv, open_tsv
from tasks.adapters.logs.engine_logs import open_slow_log, open_solr
from tasks.adapters.logs.files import LogStream, numbered_lines, open_log
from tasks.adapters.logs.json_logs import open_json, open_jsonl
from tasks.adapters.logs.requests import open_access_log
from tasks.adapters.logs.sheets import open_parquet, open_workbook
from tasks.adapters.logs.table import Table
from tasks.adapters.logs.times import Dates, day_first
from tasks.adapters.logs.values import text_of
from tasks.core.log_options import LogOptions

Reader = Callable[[LogStream, LogOptions], Table]


def open_table(stream: LogStream, format: str, options: LogOptions) -> Table:
    """Find the columns of an open log and start reading its rows.

    Raises:
        InputError: if the file cannot be read, or no column is known to hold the query.
        UsageError: if a mapped column does not exist.
    """
    return _READERS[format](stream, options)


def dates_of(file: str, format: str, options: LogOptions) -> Dates:
    """Reads the times of a file; looks at all of them if only that tells what is the day."""
    if options.date_order != "auto":
        return Dates(lambda: options.date_order == "day-first")
    return Dates(lambda: day_first(file, _times(file, format, options)))


def _times(file: str, format: str, options: LogOptions) -> Iterator[str]:
    with open_log(file, options.encoding) as stream:
        for _, row in open_table(stream, format, options).rows:
            if not isinstance(row, str):
                yield text_of(row[2]) or ""


def _json_or(open_text: Reader) -> Reader:
    """A log that comes as text and as JSON."""

    def open_either(stream: LogStream, options: LogOptions) -> Table:
        with open_log(stream.name, options.encoding) as other:
            first = next((line for _, line in numbered_lines(other)), "")
        return (open_jsonl if first.lstrip().startswith("{") else open_text)(stream, options)

    return open_either


_READERS: Final[Mapping[str, Reader]] = {
    "aol": open_aol,
    "csv": open_csv,
    "tsv": open_tsv,
    "jsonl": open_jsonl,
    "json": open_json,
    "access": _json_or(open_access_log),
    "solr": open_solr,
    "slowlog": _json_or(open_slow_log),
    "parquet": open_parquet,
    "xlsx": open_workbook,
}
FORMATS: Final = tuple(_READERS)
