"""Logs in every format for the tests of `read_logs`, and what the tests look at."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.adapters.logs.reader import read_logs
from tasks.core.log_options import LogOptions
from tasks.core.records import NO_TIME, QueryLog
from tasks.errors import LogveilError

Row = tuple[str, str, str]

CANARY = "xylophonist"
AOL_HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
MOMENT = "2006-03-01 07:17:12"
SECONDS = 1141197432
ROWS: list[Row] = [
    ("142", "rent direct", MOMENT),
    ("9", 'www."prescription"fortime.com', "2006-03-12 12:31:06"),
    ("142", "Staple, the  STORE", ""),
    ("20", "ünïcode 漢字", "2006-05-31 23:59:59"),
]


def as_aol(rows: Iterable[Row], header: str = AOL_HEADER, clicks: str = "\t\t") -> bytes:
    return (header + "".join("\t".join(row) + clicks + "\n" for row in rows)).encode()


def as_tsv(rows: Iterable[Row]) -> bytes:
    return as_aol(rows, "user\tquery\ttime\n", "")


def as_csv(rows: Iterable[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([("user", "query", "time"), *rows])
    return text.getvalue().encode()


def as_jsonl(rows: Iterable[Row]) -> bytes:
    names = ("user", "query", "time")
    objects = (dict(zip(names, row, strict=True)) for row in rows)
    return "".join(json.dumps(found) + "\n" for found in objects).encode()


def as_parquet(rows: Iterable[Row]) -> bytes:
    users, queries, times = list(zip(*rows, strict=True)) or ((), (), ())
    return parquet_of(user=users, query=queries, time=times)


def parquet_of(**columns: Any) -> bytes:
    sink = io.BytesIO()
    arrays = {
        name: values if isinstance(values, pa.Array) else pa.array(values, pa.string())
        for name, values in columns.items()
    }
    pq.write_table(pa.table(arrays), sink)
    return sink.getvalue()


WRITERS: dict[str, Callable[[Iterable[Row]], bytes]] = {
    "aol": as_aol,
    "csv": as_csv,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
}
every_format = pytest.mark.parametrize("format", WRITERS)


def read_content(
    tmp_path: Path, content: bytes | str, name: str = "log", **options: Any
) -> QueryLog:
    """Write content to a file and read it."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_logs([path], LogOptions(**options))


def outcome(path: Path, **options: Any) -> QueryLog | LogveilError:
    """The log, or the error that came instead of it."""
    try:
        return read_logs([path], LogOptions(**options))
    except LogveilError as error:
        return error


def seconds(text: str) -> int:
    if not text:
        return NO_TIME
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def rank(users: Sequence[str]) -> list[int]:
    ranks: list[int] = np.unique(np.array(users, dtype=object), return_inverse=True)[1].tolist()
    return ranks


def rejects(log: QueryLog) -> list[tuple[int, str]]:
    return list(zip(log.reject_rows.tolist(), log.reject_reasons.tolist(), strict=True))


def assert_holds(log: QueryLog, rows: Sequence[Row]) -> None:
    assert rejects(log) == []
    assert log.texts.tolist() == [query for _, query, _ in rows]
    assert log.users.tolist() == rank([user for user, _, _ in rows])
    assert log.times.tolist() == [seconds(time) for _, _, time in rows]
