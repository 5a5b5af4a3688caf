"""Read query logs: any number of files in any of the known formats, as one `QueryLog`.

One bad row never stops a file, and no row is lost silently: what cannot be used is set aside with
its file, row number and reason. Only empty lines at the very end of a file are passed over; an
empty line elsewhere is set aside as well.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

import numpy as np

from tasks.adapters.logs.blocks import Block
from tasks.adapters.logs.columns import columns_taken, counted_by, warnings_of
from tasks.adapters.logs.files import CHUNK_BYTES, LogStream, attempt, open_log
from tasks.adapters.logs.formats import FORMATS, dates_of, open_table
from tasks.adapters.logs.paths import find_files
from tasks.adapters.logs.sniffing import sniff
from tasks.adapters.logs.table import COPY, Table
from tasks.adapters.logs.times import OUT_OF_RANGE, Dates
from tasks.adapters.logs.values import (
    NOT_A_SEARCH,
    Cells,
    SecondsOf,
    judge,
    text_of,
    user_fault,
)
from tasks.core.columns import Growing, computed, joined, row_parts
from tasks.core.counted import Counted, Unit, folded_id, unit_of
from tasks.core.digests import byte_keys
from tasks.core.log_options import LogOptions
from tasks.core.records import Flags, Ints, Longs, Narrow, QueryLog
from tasks.core.texts import TextGatherer
from tasks.errors import InputError, UsageError
from tasks.runtime.sources import source_size
from tasks.schema import FileRead
from tasks.settings import COLUMN_ROLES

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes of all files."""

AS_FOUND: Final = LogOptions()
"""Nothing was said."""

_ROWS_BETWEEN_REPORTS: Final = 1 << 14


def read_logs(
    paths: Sequence[str | Path],
    options: LogOptions = AS_FOUND,
    *,
    progress: Progress | None = None,
    secret: bytes = b"",
    most_rows: int = 0,
    spelt: Callable[[str], str] = str,
) -> QueryLog:
    """Read logs in the order of their names, whatever the order of the arguments.

    Args:
        paths: files, folders (the files directly in them, hidden ones apart) and globs. A file
            that is reached in several ways is read once.
        options: what the user said about them.
        progress: told from time to time how many bytes have been read, of how many.
        secret: the store's, by which user ids become numbers that nobody else can try out.
        most_rows: of each file, if only its beginning is wanted.
        spelt: the spelling in which a text is kept; see `TextGatherer`.

    Returns:
        One entry per accepted row, and every other row among the rejects. A file of zero bytes,
        or with nothing but a header, adds none.

    Raises:
        UsageError: if an option is wrong, a mapped column does not exist, nobody has said who a
            person is, or not all files count the same.
        InputError: if a path leads nowhere, or a file is damaged or not recognised.
    """
    _check_options(options)
    if not paths:
        raise UsageError("no log to read: name at least one file, folder or glob")
    files = find_files(paths)
    sizes = [attempt(partial(source_size, file), f"cannot read {file}") for file in files]
    users = _Users(unit_of(options.person), exact=options.exact_ids)
    meter = _Meter(sum(sizes), progress)
    builder = _LogBuilder(tuple(files), secret, meter, users, TextGatherer(spelt))
    for index, file in enumerate(files):
        found = sniff(file, options) if options.format == "auto" else options.format
        if found and sizes[index]:
            with open_log(file, options.encoding) as stream:
                dates = dates_of(file, found, options)
                table = open_table(stream, found, options)
                whole = builder.add(index, table, stream, dates, most_rows)
                builder.describe(file, found, options, table, stream, is_whole=whole)
        builder.meter.end_file(sizes[index])
    return builder.query_log()


def texts_at(
    file: str,
    rows: Sequence[int],
    options: LogOptions = AS_FOUND,
    *,
    chunk_bytes: int = CHUNK_BYTES,
) -> list[str]:
    """The query texts of some rows of a file that were accepted, by their numbers, ascending.

    Raises:
        InputError: if one of them is not there.
    """
    wanted = frozenset(rows)
    found = sniff(file, options, chunk_bytes) if options.format == "auto" else options.format
    texts: dict[int, str] = {}
    with open_log(file, options.encoding, rows[0], chunk_bytes) as stream:
        for number, row in open_table(stream, found or "", options).rows:
            if number in wanted and not isinstance(row, str):
                texts[number] = text_of(row[1]) or ""
                if len(texts) == len(wanted):
                    break
    if len(texts) != len(wanted):
        raise InputError(f"{file} is not what it was when the flow read it: run again later")
    return [texts[number] for number in rows]


def _check_options(options: LogOptions) -> None:
    faults = []
    if options.format not in ("auto", *FORMATS):
        faults.append(f"--format {options.format}: choose auto, {', '.join(FORMATS)}")
    faults += [
        f"--columns {role}={name}: give user, query, time or count a column"
        for role, name in options.columns.items()
        if role not in COLUMN_ROLES or not name.strip()
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
class _Users:
    """Who is counted, numbered as they come.

    Attributes:
        numbers: of every id as it stood in a file: a number, or the reason why it is nobody's.
        ids: of each number, as they are compared.
    """

    unit: Unit
    exact: bool
    numbers: dict[str, int | str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.unit == "rows":
            self.numbers[""] = 0  # nobody is looked at, so nobody is missing

    def find(self, user: str) -> int | str:
        """The number of an id, or why it has none."""
        found = self.numbers.get(user)
        return self.number(user) if found is None else found

    def number(self, user: str) -> int | str:
        """The number of an id that was not seen before, or why it has none."""
        found: int | str | None = user_fault(user)
        if not found:
            own = user if self.exact else folded_id(user)
            found = self.numbers.get(own)
            if found is None:
                found = self.numbers[own] = len(self.ids)
                self.ids.append(own)
        self.numbers[user] = found
        return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Rows:
    """Some rows that are accepted."""

    users: Ints
    times: Longs
    rows: Longs
    texts: list[str] = field(default_factory=list)


@dataclass(slots=True, repr=False)
class _LogBuilder:
    """Rows gathered file after file."""

    files: tuple[str, ...]
    secret: bytes
    meter: _Meter
    known: _Users
    texts: TextGatherer
    counted: Counted | None = None
    counted_in: str = ""
    described: list[FileRead] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    has_times: bool = False
    passed_over: int = 0
    users: Growing[np.int32] = field(default_factory=lambda: Growing(np.int32))
    times: Growing[np.int64] = field(default_factory=lambda: Growing(np.int64))
    rows: Growing[np.int64] = field(default_factory=lambda: Growing(np.int64))
    last_row: int = 0
    rows_of: dict[int, int] = field(default_factory=dict)
    reject_sources: array[int] = field(default_factory=lambda: array("i"))
    reject_rows: array[int] = field(default_factory=lambda: array("q"))
    reject_reasons: list[str] = field(default_factory=list)

    def add(
        self, source: int, table: Table, stream: LogStream, dates: Dates, most_rows: int = 0
    ) -> bool:
        """Read a file to its end, or so many rows; whether that was all of it."""
        self._note_columns(self.files[source], table)
        passed_before = self.passed_over
        if table.blocks is not None and not most_rows:
            for block in table.blocks:
                self._add_block(source, block, dates.seconds_of)
                self.meter.show(stream.position())
        else:
            some = islice(table.rows, most_rows) if most_rows else table.rows
            for row in some:
                rows = chain([row], islice(some, _ROWS_BETWEEN_REPORTS - 1))
                found = self._judged(source, rows, dates.seconds_of)
                self._keep(found, self.texts.numbers(found.texts))
                self.meter.show(stream.position())
        self.rows_of[source] = len(self.rows) - sum(self.rows_of.values())
        if self.passed_over > passed_before:
            passed = self.passed_over - passed_before
            self.warnings.append(f"{stream.name}: {passed} entries are no searches, passed over")
        return not most_rows or next(table.rows, None) is None

    def _judged(
        self, source: int, some: Iterable[tuple[int, Cells | str]], seconds_of: SecondsOf
    ) -> _Rows:
        """Those of some rows that are accepted; the others are set aside."""
        users, times, rows, texts = array("i"), array("q"), array("q"), list[str]()
        has_users = self.known.unit != "rows"
        numbers, number_of_new = self.known.numbers, self.known.number
        for number, row in some:
            verdict = row if isinstance(row, str) else judge(row, has_users, seconds_of)
            if isinstance(verdict, str):
                self._reject(source, number, verdict)
            else:
                user, text, seconds = verdict
                who = numbers.get(user)
                if who is None:
                    who = number_of_new(user)
                if isinstance(who, str):
                    self._reject(source, number, who)
                else:
                    users.append(who)
                    texts.append(text)
                    times.append(seconds)
                    rows.append(number)
        return _Rows(np.array(users), np.array(times), np.array(rows), texts)

    def _add_block(self, source: int, block: Block, seconds_of: SecondsOf) -> None:
        seconds = block.seconds(seconds_of)
        # A plain row that is set aside is judged as all others are, which say why. Nobody is known
        # by a row that is set aside, so its user is not looked at.
        good = seconds != OUT_OF_RANGE
        users = self._users_of(block, good)
        good[good] = users >= 0
        others = self._judged(source, block.rows_but(good), seconds_of)
        content, ends, own = block.texts(good)
        texts = (self.texts.plain_numbers(content, ends)[own], self.texts.numbers(others.texts))
        rows = np.concatenate((block.numbers[good], others.rows))
        order = np.argsort(rows, kind="stable")
        found = _Rows(
            np.concatenate((users[users >= 0], others.users))[order],
            np.concatenate((seconds[good], others.times))[order],
            rows[order],
        )
        self._keep(found, np.concatenate(texts)[order])

    def _users_of(self, block: Block, chosen: Flags) -> Ints:
        """The numbers of the users of some plain rows, -1 for nobody."""
        if self.known.unit == "rows":
            return np.zeros(np.count_nonzero(chosen), dtype=np.int32)
        ids, own = block.users(chosen)
        numbers = [self.known.find(user.strip()) for user in ids]
        known = [-1 if isinstance(number, str) else number for number in numbers]
        return np.array(known, dtype=np.int32)[own]

    def _keep(self, found: _Rows, texts: Ints) -> None:
        self.last_row = max(self.last_row, int(found.rows.max(initial=0)))
        self.users.add(found.users)
        self.times.add(found.times)
        self.rows.add(found.rows)
        self.texts.add_rows(texts)

    def describe(
        self,
        file: str,
        format: str,
        options: LogOptions,
        table: Table,
        stream: LogStream,
        *,
        is_whole: bool,
    ) -> None:
        """Keep how a file was read."""
        if table.columns is not None:
            taken = columns_taken(table.columns, options.columns, self.known.unit)
            facts = (format, stream.encoding, table.delimiter, taken)
            self.described.append(FileRead(file, *facts, is_whole=is_whole))

    def query_log(self) -> QueryLog:
        """All rows; nothing can be added after that."""
        count = len(self.rows)
        origins = self._origins(count)
        fits = self.last_row <= np.iinfo(np.int32).max
        rows: Ints | Longs = self.rows.column_of(np.int32) if fits else self.rows.column()
        return QueryLog(
            texts=self.texts.column(),
            users=self._ranks(count),
            times=self.times.column(),
            people=self._people(origins, rows),
            origins=origins,
            rows=rows,
            sources=self.files,
            reject_sources=np.asarray(self.reject_sources),
            reject_rows=np.asarray(self.reject_rows),
            reject_reasons=np.array(self.reject_reasons, dtype=np.object_),
            has_times=self.has_times,
            counted=self.counted or Counted(self.known.unit),
            files=tuple(self.described),
            warnings=tuple(self.warnings),
            passed_over=self.passed_over,
        )

    def _note_columns(self, file: str, table: Table) -> None:
        """What the columns say; ids of two columns are not compared: one person may have both."""
        if table.columns is None:
            return
        self.has_times |= table.columns.time is not None
        own = counted_by(file, table.columns, self.known.unit)
        self.warnings += warnings_of(file, table.columns, own)
        if self.counted is None:
            self.counted, self.counted_in = own, file
        if not self.counted.is_same_as(own):
            raise UsageError(
                f"{self.counted_in} tells people apart by column {self.counted.column}, {file} by "
                f"column {own.column}: name one that all files have with --columns user=NAME, or "
                "release them apart"
            )

    def _reject(self, source: int, number: int, reason: str) -> None:
        if reason == NOT_A_SEARCH:
            self.passed_over += 1
            return
        if number >= COPY:  # of a row that stands for several, told once
            return
        self.reject_sources.append(source)
        self.reject_rows.append(number)
        self.reject_reasons.append(reason)

    def _origins(self, count: int) -> Narrow:
        """The file of each row."""
        kind = np.min_scalar_type(-len(self.files))
        ends = np.cumsum(list(self.rows_of.values()), dtype=np.int64)
        sources = np.array([*self.rows_of], dtype=kind)
        return computed(
            count,
            kind,
            lambda rows: sources[
                np.searchsorted(ends, np.arange(rows.start, rows.stop), side="right")
            ],
        )

    def _ranks(self, count: int) -> Ints:
        """Rank of each row's user among the sorted ids, so that the order of rows is no matter."""
        if self.known.unit == "rows":
            return computed(count, np.int32, lambda rows: np.arange(rows.start, rows.stop))
        ids = self.known.ids
        ranks = np.empty(len(ids), dtype=np.int32)
        ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.int32)
        self.users.replace(ranks)
        return self.users.column()

    def _people(self, origins: Narrow, rows: Ints | Longs) -> Longs:
        """A number for each rank, made from the user's id, or from the row where rows count."""
        if self.known.unit != "rows":
            return self._keys(sorted(self.known.ids))
        return joined(
            len(rows),
            np.int64,
            (
                self._keys(
                    f"{self.files[source]}:{row}"
                    for source, row in zip(origins[own].tolist(), rows[own].tolist(), strict=True)
                )
                for own in row_parts(len(rows))
            ),
        )

    def _keys(self, names: Iterable[str]) -> Longs:
        keys = byte_keys((name.encode("utf-8", "surrogatepass") for name in names), self.secret)
        return keys.view(np.int64)[::2].copy()
