"""Read query logs: any number of files in any of the known formats, as one `QueryLog`.

One bad row never stops a file, and no row is lost silently: what cannot be used is set aside with
its file, row number and reason. Only empty lines at the very end of a file are passed over; an
empty line elsewhere is set aside as well.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from tasks.adapters.logs.columns import KNOWN_NAMES
from tasks.adapters.logs.files import CHUNK_BYTES, LogStream, attempt, open_log
from tasks.adapters.logs.formats import FORMATS, Table, open_table
from tasks.adapters.logs.paths import find_files
from tasks.adapters.logs.sniffing import sniff
from tasks.adapters.logs.values import judge, text_of
from tasks.core.digests import byte_keys
from tasks.core.records import Ints, Longs, QueryLog
from tasks.errors import InputError, UsageError

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes of all files."""

_ROWS_BETWEEN_REPORTS: Final = 1 << 14


def read_logs(
    paths: Sequence[str | Path],
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    secret: bytes = b"",
) -> QueryLog:
    """Read logs in the order of their names, whatever the order of the arguments.

    Args:
        paths: files, folders (the files directly in them, hidden ones apart) and globs. A file
            that is reached in several ways is read once.
        format: auto, aol, csv, tsv, jsonl or parquet; each may be packed with gzip or zstd.
        columns: name of the column that holds the user, the query or the time; in text files
            also its number, counted from 1. What is not mapped is guessed from well-known names.
        progress: told from time to time how many bytes have been read, of how many.
        secret: the store's, by which user ids become numbers that nobody else can try out.

    Returns:
        One entry per accepted row, and every other row among the rejects. A file of zero bytes,
        or with nothing but a header, adds none.

    Raises:
        UsageError: if an option is wrong, or a mapped column does not exist.
        InputError: if a path leads nowhere, a file is damaged or not recognised, or only some of
            the files tell the users apart.
    """
    mapping = dict(columns or {})
    _check_options(format, mapping)
    if not paths:
        raise UsageError("no log to read: name at least one file, folder or glob")
    files = find_files(paths)
    sizes = [attempt(partial(os.path.getsize, file), f"cannot read {file}") for file in files]
    builder = _LogBuilder(tuple(files), secret, _Meter(sum(sizes), progress))
    for index, file in enumerate(files):
        found = sniff(file, mapping) if format == "auto" else format
        if found and sizes[index]:
            with open_log(file) as stream:
                builder.add(index, open_table(stream, found, mapping), stream)
        builder.meter.end_file(sizes[index])
    return builder.query_log()


def texts_at(
    file: str,
    rows: Sequence[int],
    *,
    format: str,
    columns: Mapping[str, str],
    chunk_bytes: int = CHUNK_BYTES,
) -> list[str]:
    """The query texts of some rows of a file that were accepted, by their numbers, ascending.

    Raises:
        InputError: if one of them is not there.
    """
    wanted = frozenset(rows)
    found = sniff(file, columns, chunk_bytes) if format == "auto" else format
    texts = []
    with open_log(file, rows[0], chunk_bytes) as stream:
        for number, row in open_table(stream, found or "", columns).rows:
            if number in wanted and not isinstance(row, str):
                texts.append(text_of(row[1]) or "")
            if number >= rows[-1]:
                break
    if len(texts) != len(rows):
        raise InputError(f"{file} is not what it was when the flow read it: run again later")
    return texts


def _check_options(format: str, mapping: Mapping[str, str]) -> None:
    faults = []
    if format not in ("auto", *FORMATS):
        faults.append(f"--format {format}: choose auto, {', '.join(FORMATS)}")
    faults += [
        f"--columns {role}={name}: give user, query or time a column"
        for role, name in mapping.items()
        if role not in KNOWN_NAMES or not name.strip()
    ]
    if faults:
        raise UsageError("; ".join(faults))


@dataclass(slots=True)
class _Meter:
    """Turns places in files into bytes done of bytes in all."""

    total: int
    progress: Progress | None
    finished: int = 0

    def show(self, position: int) -> None:
        if self.progress is not None:
            self.progress(self.finished + position, self.total)

    def end_file(self, size: int) -> None:
        self.finished += size
        self.show(0)


@dataclass(slots=True, repr=False)
class _LogBuilder:
    """Rows gathered file after file; users are numbered as they come, and ranked at the end."""

    files: tuple[str, ...]
    secret: bytes
    meter: _Meter
    file_with_users: str = ""
    file_without_users: str = ""
    has_times: bool = False
    texts: list[str] = field(default_factory=list)
    numbers_of_users: dict[str, int] = field(default_factory=dict)
    users: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("q"))
    origins: array[int] = field(default_factory=lambda: array("i"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    reject_sources: array[int] = field(default_factory=lambda: array("i"))
    reject_rows: array[int] = field(default_factory=lambda: array("q"))
    reject_reasons: list[str] = field(default_factory=list)

    def add(self, source: int, table: Table, stream: LogStream) -> None:
        """Read a file to its end."""
        self._note_columns(self.files[source], table)
        has_users = bool(self.file_with_users)
        users, texts, times = self.users, self.texts, self.times
        origins, rows = self.origins, self.rows
        number_of_user = self.numbers_of_users
        for number, row in table.rows:
            verdict = row if isinstance(row, str) else judge(row, has_users)
            if isinstance(verdict, str):
                self._reject(source, number, verdict)
            else:
                user, text, seconds = verdict
                users.append(number_of_user.setdefault(user, len(number_of_user)))
                texts.append(text)
                times.append(seconds)
                origins.append(source)
                rows.append(number)
            if number % _ROWS_BETWEEN_REPORTS == 0:
                self.meter.show(stream.position())

    def query_log(self) -> QueryLog:
        has_users = bool(self.file_with_users)
        return QueryLog(
            texts=np.array(self.texts, dtype=np.object_),
            users=self._ranks() if has_users else np.arange(len(self.texts), dtype=np.int32),
            times=np.array(self.times, dtype=np.int64),
            people=self._people(),
            origins=np.array(self.origins, dtype=np.int32),
            rows=np.array(self.rows, dtype=np.int64),
            sources=self.files,
            reject_sources=np.array(self.reject_sources, dtype=np.int32),
            reject_rows=np.array(self.reject_rows, dtype=np.int64),
            reject_reasons=np.array(self.reject_reasons, dtype=np.object_),
            has_users=has_users,
            has_times=self.has_times,
        )

    def _note_columns(self, file: str, table: Table) -> None:
        if table.columns is None:
            return
        self.has_times |= table.columns.time is not None
        if table.columns.user is None:
            self.file_without_users = file
        else:
            self.file_with_users = file
        if self.file_with_users and self.file_without_users:
            raise InputError(
                f"{self.file_with_users} has a user column and {self.file_without_users} has none: "
                "name the column with --columns user=…, or release them apart"
            )

    def _reject(self, source: int, number: int, reason: str) -> None:
        self.reject_sources.append(source)
        self.reject_rows.append(number)
        self.reject_reasons.append(reason)

    def _ranks(self) -> Ints:
        """Rank of each row's user among the sorted ids, so that the order of rows is no matter."""
        rank_of_number = np.empty(len(self.numbers_of_users), dtype=np.int32)
        for rank, user in enumerate(sorted(self.numbers_of_users)):
            rank_of_number[self.numbers_of_users[user]] = rank
        return rank_of_number[np.array(self.users, dtype=np.int32)]

    def _people(self) -> Longs:
        """A number for each rank, made from the user's id, or from the row where there is none."""
        if self.file_with_users:
            names = sorted(self.numbers_of_users)
        else:
            places = zip(self.origins, self.rows, strict=True)
            names = [f"{self.files[source]}:{row}" for source, row in places]
        keys = byte_keys((name.encode("utf-8", "surrogatepass") for name in names), self.secret)
        return np.frombuffer(keys.tobytes(), dtype=np.int64)[::2]
