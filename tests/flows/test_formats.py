"""Logs of every kind through the command: the same release, and bad ones in clear words."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from moto.server import ThreadedMotoServer

from flows.run import main
from tasks.runtime.sources import _spooled
from tests.adapters.logs.kinds import (
    KINDS,
    Kind,
    as_array,
    as_workbook,
    delimited,
    plain_log,
    zipped,
)
from tests.adapters.logs.logwriters import CANARY, MOMENT, Row, as_aol, as_csv, as_jsonl, as_parquet
from tests.helpers.figures import internal_measures

Bad = tuple[str, bytes, list[str], int, str]
"""Name and content of a file, options, exit code, and what the message says."""


def arguments(store: Path, out: Path, *given: str | Path) -> list[str]:
    return [*map(str, given), "--bare", "--quiet", "--out", str(out), "--store", str(store)]


def columns_of(kind: Kind) -> list[str]:
    return ["--columns", ",".join(f"{role}={name}" for role, name in kind.columns.items())]


@pytest.fixture(scope="module")
def release_of_tabs(store: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("tabs")
    (folder / "log.tsv").write_bytes(as_aol(plain_log()))
    assert main(arguments(store, folder / "out", folder / "log.tsv")) == 0
    return (folder / "out" / "release.tsv").read_bytes()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_gives_the_same_release(
    store: Path, tmp_path: Path, kind: Kind, release_of_tabs: bytes
) -> None:
    log = tmp_path / kind.file
    log.write_bytes(kind.write(plain_log()))
    named = columns_of(kind) if kind.columns else []
    assert main(arguments(store, tmp_path / "out", log, *named)) == 0
    assert (tmp_path / "out" / "release.tsv").read_bytes() == release_of_tabs
    assert len(release_of_tabs.splitlines()) > 30


def test_standard_input_gives_the_same_release(
    store: Path, tmp_path: Path, release_of_tabs: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.TextIOWrapper(io.BytesIO(as_array(plain_log())))
    monkeypatch.setattr(sys, "stdin", content)
    _spooled.cache_clear()
    assert main(arguments(store, tmp_path / "out", "-")) == 0
    assert (tmp_path / "out" / "release.tsv").read_bytes() == release_of_tabs


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], None]:
    """Puts objects into a bucket on loopback."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothingsecret")

    def put(name: str, content: bytes = b"") -> None:
        kind = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{url}/{name}", content, kind, method="PUT")
        urllib.request.urlopen(request).close()

    put("bucket")
    # To stop it would wait for connections that are kept; it ends with this process.
    return put


@pytest.mark.slow
def test_logs_at_s3_give_the_same_release(
    store: Path,
    tmp_path: Path,
    release_of_tabs: bytes,
    bucket: Callable[[str, bytes], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = plain_log()
    bucket("bucket/logs/1.csv.gz", gzip.compress(as_csv(rows[:20])))
    bucket("bucket/logs/2.parquet", as_parquet(rows[20:40]))
    bucket("bucket/logs/3.zip", zipped(**{"3.json": as_array(rows[40:])}))
    assert main(arguments(store, tmp_path / "out", "s3://bucket/logs")) == 0
    assert (tmp_path / "out" / "release.tsv").read_bytes() == release_of_tabs
    capsys.readouterr()
    assert main(arguments(store, tmp_path / "none", "s3://bucket/none.csv")) == 3
    message = capsys.readouterr().err
    assert "s3://bucket/none.csv does not exist: check the address" in message
    assert "nobody" not in message


# Bad input


def lone(query: str = CANARY) -> list[Row]:
    return [(str(user), query, MOMENT) for user in range(30)]


def encrypted() -> bytes:
    """As an archive looks whose one file has a password."""
    content = bytearray(zipped(**{"log.csv": as_csv(lone())}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def bomb() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("log.csv", b"")
    packed = bytearray(content.getvalue())
    size = (3 << 30).to_bytes(4, "little")
    packed[packed.index(b"PK\x03\x04") + 22 :][:4] = size
    start = packed.index(b"PK\x01\x02") + 24
    packed[start : start + 4] = size
    return bytes(packed)


def damaged(content: bytes) -> bytes:
    """Some bytes in the middle are others."""
    return content[:60] + bytes(byte ^ 0x55 for byte in content[60:70]) + content[70:]


def mixed() -> bytes:
    one, other = delimited(",")(lone(f"{CANARY} é")), delimited(",", "cp1252")(lone("café au lait"))
    return one + other.partition(b"\n")[2]


def dated(*days: str) -> bytes:
    rows = [(str(user), CANARY, day) for user in range(10) for day in days]
    return delimited(";")(rows)


def workbook_without_cells() -> bytes:
    content = io.BytesIO()
    openpyxl.Workbook().save(content)
    return content.getvalue()


JUNK = random.Random(7).randbytes(40_000)
BAD: dict[str, Bad] = {
    "wrong delimiter": ("log.csv", as_csv(lone()), ["--delimiter", ";"], 2, "no ';'.*but ','"),
    "wrong format": ("log.csv", as_csv(lone()), ["--format", "tsv"], 2, "no tab.*but ','"),
    "long delimiter": ("log.csv", as_csv(lone()), ["--delimiter", "::"], 2, "one character"),
    "broken zip": ("log.zip", zipped(**{"a.csv": as_csv(lone())})[:200], [], 3, "damaged"),
    "zip that is none": ("log.zip", as_csv(lone()), [], 3, "as zip.*fetch it again"),
    "zip of two": (
        "log.zip",
        zipped(**{"a.csv": as_csv(lone()), "b.csv": as_csv(lone())}),
        [],
        3,
        "holds 2 files: unpack it",
    ),
    "zip of none": ("log.zip", zipped(), [], 3, "holds 0 files"),
    "encrypted zip": ("log.zip", encrypted(), [], 3, "encrypted: unpack it"),
    "zip bomb": ("log.zip", bomb(), [], 3, "would unpack to 3221225472 bytes"),
    "damage within zip": (
        "log.zip",
        damaged(zipped(**{"a.csv": as_csv(lone())})),
        [],
        3,
        "log.zip",
    ),
    "truncated gzip": ("log.csv.gz", gzip.compress(as_csv(lone()))[:-20], [], 3, "cut off"),
    "workbook of two sheets": (
        "log.xlsx",
        as_workbook(lone(), sheets=2),
        [],
        2,
        "'Log 1', 'Log 2'.*--sheet",
    ),
    "no such sheet": ("log.xlsx", as_workbook(lone()), ["--sheet", "x"], 2, "it has 'Log 1'"),
    "empty workbook": ("log.xlsx", workbook_without_cells(), [], 3, "no cells"),
    "broken workbook": ("log.xlsx", as_workbook(lone())[:3000], [], 3, "damaged"),
    "half an array": ("log.json", as_array(lone())[:-400], [], 3, "behind element .*cut off"),
    "mixed encodings": ("log.csv", mixed(), [], 3, "two encodings.*--encoding"),
    "unknown encoding": ("log.csv", as_csv(lone()), ["--encoding", "klingon"], 2, "try utf-8"),
    "dates that fit both": ("log.csv", dated("03/04/2006"), [], 2, "fit both.*--date-order"),
    "dates of both orders": (
        "log.csv",
        dated("13/04/2006", "04/13/2006"),
        [],
        2,
        "in 10 rows the day is first, in 10 the month.*--date-order",
    ),
    "binary junk": ("log.bin", JUNK, [], 3, "cannot tell the format.*--format"),
    "prose": ("log.txt", f"{CANARY} speaks\n".encode() * 20, [], 3, "it is none of aol, csv"),
    "a line of a megabyte": (
        "log.tsv",
        as_aol([("7", CANARY * 120_000, MOMENT)]),
        [],
        4,
        "1 because: line longer than",
    ),
    "all rows rejected": (
        "log.csv",
        as_csv([("7", CANARY, "soon"), ("7", "", MOMENT), ("7", CANARY, "later"), ("7", "-", "")]),
        [],
        4,
        "2 because: time not understood, 2 because: query is empty",
    ),
    "search console": (
        "Queries.csv",
        f"Top queries,Clicks,Impressions,CTR,Position\n{CANARY},3,40,7.5%,1.2\n".encode(),
        [],
        2,
        "Search Console export.*column Impressions.*--person row",
    ),
    "matomo": (
        "keywords.csv",
        f"label,nb_visits,nb_hits\n{CANARY},3,40\n".encode("utf-16"),
        [],
        2,
        "Matomo export.*column nb_hits.*--person row",
    ),
    "algolia's counts": (
        "searches.json",
        json.dumps({"searches": [{"search": CANARY, "count": 4, "nbHits": 2}]}).encode(),
        [],
        2,
        "Algolia export.*--person row",
    ),
    "credentials in an URL": ("x", b"", ["ftp://me:secret@host/log.csv"], 2, "may hold no user"),
    "unknown kind of URL": ("x", b"", ["nowhere://host/log.csv"], 3, "kind of URL is not known"),
    "jsonl that is none": (
        "log.jsonl",
        as_jsonl(lone()).replace(b"{", b"<"),
        [],
        4,
        "30 because: not a JSON object",
    ),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_input_in_clear_words(
    store: Path, tmp_path: Path, bad: Bad, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, options, code, says = bad
    (tmp_path / name).write_bytes(content)
    logs = [] if any("://" in option for option in options) else [tmp_path / name]
    assert main(arguments(store, tmp_path / "out", *logs, *options)) == code
    captured = capsys.readouterr()
    message = captured.err + captured.out
    assert re.search(says, " ".join(message.split())), message
    assert CANARY not in message
    assert "secret" not in message
    assert "Traceback" not in message
    assert not (tmp_path / "out" / "release.tsv").exists()


# Counts


EXPORTS = {
    "search console": (
        "Queries.csv",
        "Top queries,Clicks,Impressions,CTR,Position\n",
        "{},1,{},2%,7\n",
    ),
    "matomo": ("keywords.tsv", "label\tnb_visits\tnb_hits\n", "{}\t1\t{}\n"),
    "algolia": ("searches.csv", "search,count,nb_hits\n", "{},{},7\n"),
}


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_an_export_gives_the_release_of_its_rows(
    store: Path, tmp_path: Path, export: tuple[str, str, str]
) -> None:
    name, header, line = export
    asked = {"flu shot": 7, "lung cancer": 5, "hiv test": 4, "new york hotels": 30}
    lines = "".join(line.format(query, count) for query, count in asked.items())
    (tmp_path / name).write_text(header + lines, encoding="utf-16")
    rows = "".join(f"{query}\n" * count for query, count in asked.items())
    (tmp_path / "rows.csv").write_text(f"query\n{rows}")
    for log, out in ((name, "counted"), ("rows.csv", "rows")):
        given = arguments(store, tmp_path / out, tmp_path / log, "--person", "row")
        assert main([*given, "--format", "csv"]) == 0
    released = [(tmp_path / out / "release.tsv").read_bytes() for out in ("counted", "rows")]
    assert released[0] == released[1]
    assert len(released[0].splitlines()) > 40


def test_a_row_that_counts_stands_for_as_many_rows(store: Path, tmp_path: Path) -> None:
    log = tmp_path / "Queries.csv"
    log.write_text(
        "Top queries,Clicks,Impressions,CTR,Position\n"
        'flu shot,3,"1,200",7%,1.2\nlung cancer,0,7,0%,9\nhiv test,0,0,0%,9\nhotel,1,x,0%,9\n'
    )
    assert main(arguments(store, tmp_path / "out", log, "--person", "row")) == 0
    measures = internal_measures(store, tmp_path / "out")
    assert measures["records"]["read"] == 1000 + 7 + 1
    assert measures["records"]["rejected"] == 1
