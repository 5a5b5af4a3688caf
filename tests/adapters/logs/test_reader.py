"""Reading logs: every format, every option, every kind of path and of bad file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tasks.adapters.logs.reader import read_logs
from tasks.adapters.logs.sheets import Record, _parquet_records
from tasks.core.counted import Counted
from tasks.core.log_options import LogOptions
from tasks.core.records import NO_TIME, QueryLog
from tasks.errors import InputError, UsageError
from tests.adapters.logs.logwriters import (
    AOL_HEADER,
    CANARY,
    MOMENT,
    PACKERS,
    ROWS,
    SECONDS,
    WRITERS,
    as_aol,
    as_csv,
    as_tsv,
    assert_holds,
    every_format,
    parquet_of,
    read_content,
    rejects,
    seconds,
)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., QueryLog]:
    return partial(read_content, tmp_path)


# Formats


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("stated", [True, False], ids=["stated", "auto"])
@every_format
def test_every_format_packed_or_not_stated_or_sniffed(
    read: Any, format: str, packing: str, stated: bool
) -> None:
    content = PACKERS[packing](WRITERS[format](ROWS))
    log = read(content, f"log{packing}", format=format if stated else "auto")
    assert_holds(log, ROWS)
    assert log.counted == Counted("people", "AnonID" if format == "aol" else "user")
    assert log.has_times
    assert log.users.dtype == np.int32
    assert log.times.dtype == np.int64


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_packed_files_are_known_by_content_and_may_have_several_parts(
    read: Any, packing: str
) -> None:
    pack = PACKERS[packing]
    content = pack(as_aol(ROWS[:2])) + pack(as_aol(ROWS[2:], header=""))
    assert_holds(read(content, "log.txt"), ROWS)


@pytest.mark.parametrize("header", [AOL_HEADER, "AnonID\tQuery\tQueryTime\n", ""])
@pytest.mark.parametrize("clicks", ["", "\t\t", "\t1\thttp://www.example.com"])
def test_aol_with_and_without_header_and_clicks(read: Any, header: str, clicks: str) -> None:
    assert_holds(read(as_aol(ROWS, header, clicks)), ROWS)


def test_every_click_is_a_row(read: Any) -> None:
    rows = [ROWS[0]] * 3
    assert_holds(read(as_aol(rows, clicks="\t7\thttp://www.example.com")), rows)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("format", ["aol", "tsv", "csv", "jsonl"])
def test_line_ends_and_byte_order_mark(read: Any, format: str, mark: bytes, end: str) -> None:
    content = WRITERS[format](ROWS).replace(b"\r\n", b"\n").replace(b"\n", end.encode())
    assert_holds(read(mark + content), ROWS)
    assert_holds(read(mark + content.rstrip()), ROWS)


def test_extension_decides_where_content_does_not(read: Any) -> None:
    rows = partial(read, person="row")
    assert rows("query\ncats\ndogs\n", "log.csv").texts.tolist() == ["cats", "dogs"]
    assert rows("query\ncats\ndogs\n", "log.tsv").rows_read == 2
    assert read("a,b\n", "log.jsonl").reject_reasons.tolist() == ["not a JSON object"]
    assert len(read('user,query\n7,"a\tb\nc\td\ne\tf"\n', "log2.csv").texts) == 1


def test_a_late_key_of_a_json_log_is_not_missed(read: Any) -> None:
    lines = [{"query": "cats"}] * 2000 + [{"query": "dogs", "user": "7"}]
    log = read("".join(json.dumps(line) + "\n" for line in lines))
    assert log.counted == Counted("people", "user")
    assert log.texts.tolist() == ["dogs"]
    assert set(log.reject_reasons) == {"user is missing"}


def test_json_numbers_are_text(read: Any) -> None:
    log = read(
        '{"userId": 7, "q": 1984, "ts": 1141197432.9}\n{"userId": 7.0, "q": "a", "ts": null}\n'
    )
    assert log.texts.tolist() == ["1984", "a"]
    assert log.users.tolist() == [0, 0]
    assert log.times.tolist() == [SECONDS, NO_TIME]


@pytest.mark.parametrize(
    "times",
    [
        pa.array([SECONDS * 10**9 + 5], pa.timestamp("ns")),
        pa.array([SECONDS * 1000], pa.timestamp("ms", tz="America/New_York")),
        pa.array([SECONDS * 10**6], pa.timestamp("us", tz="UTC")),
        pa.array([SECONDS], pa.timestamp("s", tz="Nowhere/Known")),
        pa.array([SECONDS], pa.int64()),
        pa.array([SECONDS * 1000 + 1], pa.int64()),
        pa.array([float(SECONDS)], pa.float64()),
        pa.array([Decimal(SECONDS)], pa.decimal128(12, 0)),
        pa.array([MOMENT], pa.large_string()),
        pa.array([MOMENT]).dictionary_encode(),
        pa.array([MOMENT.encode()], pa.binary()),
    ],
    ids=lambda array: str(array.type),
)
def test_parquet_times(read: Any, times: pa.Array) -> None:
    log = read(parquet_of(user=pa.array([7]), query=["cats"], time=times))
    assert rejects(log) == []
    assert log.times.tolist() == [SECONDS]


def test_parquet_times_before_1970_are_rounded_like_texts(read: Any) -> None:
    log = read(parquet_of(query=["cats"], time=pa.array([-500], pa.timestamp("ms"))), person="row")
    assert log.times.tolist() == [-1]


def test_what_is_not_a_number_is_missing(read: Any) -> None:
    log = read('{"user": 1, "query": "cats", "time": NaN}\n{"user": NaN, "query": "dogs"}\n')
    assert log.times.tolist() == [NO_TIME]
    assert rejects(log) == [(2, "user is missing")]


def test_parquet_types_and_missing_values(read: Any) -> None:
    users = pa.array([10, 9, None, 10, 9])
    queries = pa.array(["a", "b", "c", None, "d"]).dictionary_encode()
    times = pa.array([date(2006, 3, 1), None, None, None, date(1969, 12, 31)])
    log = read(parquet_of(user=users, query=queries, time=times))
    assert log.texts.tolist() == ["a", "b", "d"]
    assert log.users.tolist() == [0, 1, 1]  # ids are ranked as text: "10" before "9"
    assert log.times.tolist() == [seconds("2006-03-01"), NO_TIME, -86400]
    assert rejects(log) == [(3, "user is missing"), (4, "query is empty")]


def test_parquet_of_several_batches_keeps_its_row_numbers(read: Any) -> None:
    queries = ["-" if n % 10_000 == 9_999 else "cats" for n in range(50_000)]
    log = read(parquet_of(query=queries), person="row")
    assert rejects(log) == [(n, "query is empty") for n in range(10_000, 60_000, 10_000)]
    assert log.users.tolist() == list(range(49_995))


# Options


def test_all_wrong_options_in_one_message() -> None:
    with pytest.raises(UsageError, match=r"xml.*who=a.*time="):
        read_logs(["nowhere"], LogOptions(format="xml", columns={"who": "a", "time": " "}))


def test_no_paths() -> None:
    with pytest.raises(UsageError, match="no log"):
        read_logs([])


# Files


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\xef\xbb\xbf", as_aol([]), as_csv([]), gzip.compress(b"", mtime=0)]
)
def test_empty_logs_have_no_rows(read: Any, content: bytes) -> None:
    assert read(content).rows_read == 0


@every_format
def test_a_file_of_zero_bytes_is_empty_in_every_format(read: Any, format: str) -> None:
    log = read(b"", f"log.{format}", format=format)
    assert log.rows_read == 0
    assert log.user_count == 0


@every_format
def test_a_log_without_rows_tells_its_columns(read: Any, format: str) -> None:
    log = read(WRITERS[format]([]), format=format)
    assert log.rows_read == 0
    names = {"aol": "AnonID", "jsonl": ""}
    assert log.counted.column == names.get(format, "user")


@pytest.mark.parametrize(
    "content",
    [
        b"cats\ndogs\nfish, fresh\n",
        (CANARY + "\n").encode() * 9,
        bytes(range(256)) * 40,
    ],
    ids=["one column", "canary", "binary"],
)
def test_unrecognisable_files_say_what_to_do(read: Any, content: bytes) -> None:
    with pytest.raises(InputError, match=r"strange\.log.*--format.*--columns") as caught:
        read(content, "strange.log")
    assert CANARY not in str(caught.value)


def damaged(format: str, packing: str) -> bytes:
    content = PACKERS[packing](WRITERS[format]([("7", CANARY, MOMENT)] * 1000))
    return content[: len(content) // 2]


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "auto"])
@pytest.mark.parametrize(
    ("content", "format", "name"),
    [
        (damaged("aol", ".gz"), "aol", "log.gz"),
        (damaged("csv", ".zst"), "csv", "log.zst"),
        (damaged("jsonl", ".gz"), "jsonl", "log"),
        (gzip.compress(as_aol(ROWS))[:-4], "aol", "log.gz"),
        (as_aol([("7", CANARY, MOMENT)]), "aol", "log.gz"),
        (as_aol([("7", CANARY, MOMENT)]), "aol", "log.zst"),
        (damaged("parquet", ""), "parquet", "log.parquet"),
        (damaged("parquet", ".gz"), "parquet", "log.parquet.gz"),
        (gzip.compress(damaged("parquet", "")), "parquet", "log.parquet.gz"),
        (as_csv([("7", CANARY, MOMENT)]), "parquet", "log.parquet"),
        (b"PAR1" + CANARY.encode() + b"PAR1", "parquet", "log.parquet"),
    ],
)
def test_damaged_files(read: Any, content: bytes, format: str, name: str, stated: bool) -> None:
    with pytest.raises(InputError, match=name) as caught:
        read(content, name, format=format if stated else "auto")
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_damage_in_the_middle_of_a_parquet_file(read: Any) -> None:
    queries = [f"{CANARY} {n}" for n in range(40_000)]
    content = bytearray(parquet_of(query=queries))
    content[2000:4000] = b"\xff" * 2000
    with pytest.raises(InputError, match="Parquet") as caught:
        read(bytes(content), person="row")
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


def test_parquet_rows_behind_an_empty_batch() -> None:
    batches: list[list[Record]] = [[], [("7", "cats", "")]]
    assert list(_parquet_records(iter(batches), 1, "damaged")) == [(1, ("7", "cats", ""))]


def test_parquet_rows_that_go_missing() -> None:
    batches: list[list[Record]] = [[("7", "cats", "")]]
    with pytest.raises(InputError, match="damaged"):
        list(_parquet_records(iter(batches), 2, "damaged"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two logs, a hidden file and a folder inside."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.tsv").write_bytes(as_tsv([("1", "inner", "")]))
    (tmp_path / "b.tsv").write_bytes(as_tsv([("1", "second", ""), ("", "-", "")]))
    (tmp_path / "a.csv").write_bytes(as_csv([("2", "first", "")]))
    (tmp_path / ".hidden").write_bytes(bytes(range(256)))
    return tmp_path


def test_folder(folder: Path) -> None:
    log = read_logs([folder])
    assert log.texts.tolist() == ["first", "second"]
    assert log.users.tolist() == [1, 0]
    assert log.sources == (f"{folder}/a.csv", f"{folder}/b.tsv")
    assert log.reject_sources.tolist() == [1]
    assert log.reject_rows.tolist() == [3]


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [("*.tsv", ["second"]), ("*", ["first", "second"]), ("**/*.tsv", ["second", "inner"])],
)
def test_glob(folder: Path, pattern: str, texts: list[str]) -> None:
    assert read_logs([f"{folder}/{pattern}"]).texts.tolist() == texts


def test_name_with_glob_characters(tmp_path: Path) -> None:
    path = tmp_path / "log[1].txt"
    path.write_bytes(as_aol(ROWS))
    assert_holds(read_logs([path]), ROWS)


def test_order_of_arguments_does_not_matter_and_each_file_is_read_once(folder: Path) -> None:
    (folder / "link.tsv").symlink_to(folder / "b.tsv")
    paths: list[str | Path] = [
        folder / "b.tsv",
        f"{folder}/*.tsv",
        folder,
        f"{folder}/inner/../a.csv",
    ]
    logs = [read_logs(paths), read_logs(paths[::-1])]
    for log in logs:
        assert log.texts.tolist() == ["first", "second"]
        assert log.sources == (f"{folder}/a.csv", f"{folder}/b.tsv")


def test_rank_of_users_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [(str(n * 37 % 101), f"query {n}", "") for n in range(300)]
    logs = []
    for name, order in [("a", rows), ("b", rows[::-1])]:
        (tmp_path / name).write_bytes(as_aol(order))
        log = read_logs([tmp_path / name])
        logs.append(dict(zip(log.texts.tolist(), log.users.tolist(), strict=True)))
    assert logs[0] == logs[1]


def test_users_are_ranked_over_all_files(folder: Path) -> None:
    log = read_logs([folder, folder / "inner"])
    assert log.texts.tolist() == ["first", "second", "inner"]
    assert log.users.tolist() == [1, 0, 0]


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").touch()
    (tmp_path / "broken").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.tsv", "*.nothing", "empt[y]", "empty", "broken", "pipe"):
        with pytest.raises(InputError, match=r".*: (check|name|pipe) ") as caught:
            read_logs([tmp_path / name])
        assert name in str(caught.value)


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(CANARY)

    (tmp_path / "log").write_bytes(as_aol(ROWS))
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="log: check who may read it") as caught:
        read_logs([tmp_path / "log"])
    assert caught.value.__context__ is None


def test_users_in_some_files_only(folder: Path) -> None:
    (folder / "z.csv").write_text("query,time\ncats,\n")
    with pytest.raises(UsageError, match=r"no column of .*z\.csv is a person.*'query', 'time'"):
        read_logs([folder])


def test_users_by_two_columns(folder: Path) -> None:
    """One person may have an id in each of them."""
    (folder / "z.csv").write_text("member_id,query\n1,cats\n")
    with pytest.raises(UsageError, match=r"a\.csv .* column user, .*z\.csv by column member_id"):
        read_logs([folder])


def test_empty_file_among_others_does_no_harm(folder: Path) -> None:
    (folder / "0.txt").touch()
    log = read_logs([folder])
    assert log.counted == Counted("people", "user")
    assert len(log.texts) == 2


def test_times_in_some_files_only(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"user,query,time\n7,cats,{MOMENT}\n")
    (tmp_path / "b.csv").write_text("user,query\n7,dogs\n")
    log = read_logs([tmp_path])
    assert log.has_times
    assert log.times.tolist() == [SECONDS, NO_TIME]


@pytest.mark.parametrize("packing", PACKERS)
@every_format
def test_progress_ends_at_the_total(tmp_path: Path, format: str, packing: str) -> None:
    calls: list[tuple[int, int]] = []
    content = PACKERS[packing](WRITERS[format](ROWS * 5_000))
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(content)
    read_logs([tmp_path], progress=lambda done, total: calls.append((done, total)))
    total = 2 * len(content)
    assert len(calls) >= 4
    assert calls == sorted(calls)
    assert calls[-1] == (total, total)
    assert {whole for _, whole in calls} == {total}
