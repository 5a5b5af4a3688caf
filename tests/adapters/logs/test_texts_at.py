"""Texts far behind in a file are found without reading all that stands before them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tasks.adapters.logs import files
from tasks.adapters.logs.reader import read_logs, texts_at

COUNT = 500
QUERIES = [f"query {number}" for number in range(COUNT)]


def tabs() -> bytes:
    """Blank lines move rows away from their place."""
    blank = {0: "\r\n"}
    rows = (
        f"{blank.get(row % 7, '')}{1 + row % 50}\t{query}\r\n" for row, query in enumerate(QUERIES)
    )
    return ("\ufeffuser\tquery\n" + "".join(rows) + "\n\n").encode()


def commas() -> bytes:
    """Every query stands on two lines."""
    rows = (f'{row % 50 + 1},"{query.replace(" ", chr(10))}"' for row, query in enumerate(QUERIES))
    return ("user,query\n" + "\n".join(rows)).encode()


def json_lines() -> bytes:
    rows = (json.dumps({"user": row % 50 + 1, "query": query}) for row, query in enumerate(QUERIES))
    return "\n\n".join(rows).encode()


FEW_BYTES = 64
"""A few lines at a time."""
CONTENTS = {"log.tsv": tabs, "log.csv": commas, "log.jsonl": json_lines}


@pytest.fixture(params=["log.tsv", "log.tsv.gz", "log.csv", "log.jsonl"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name: str = request.param
    path = tmp_path / name
    content = CONTENTS[name.removesuffix(".gz")]()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes that are read as text."""
    seen: list[int] = []

    def decode(content: bytes, stream: files.LogStream) -> list[str]:
        seen.append(len(content))
        return content.decode("utf-8", "surrogateescape").split("\n")

    monkeypatch.setattr(files, "decoded", decode)
    return seen


@pytest.mark.parametrize(
    "records", [np.arange(0, COUNT, 9), np.arange(450, 470), np.array([COUNT - 1])]
)
def test_texts_are_those_that_were_read(log: Path, records: np.ndarray, decoded: list[int]) -> None:
    whole = read_logs([log])
    assert len(whole.texts) == COUNT
    found = texts_at(str(log), whole.rows[records].tolist(), chunk_bytes=FEW_BYTES)
    assert found == whole.texts[records].tolist()


def test_what_is_before_is_passed_over(log: Path, decoded: list[int]) -> None:
    """Not in CSV, where a quoted query may go over lines; of JSON Lines, once for the keys."""
    whole = read_logs([log])
    rows = whole.rows[-5:].tolist()
    parts = {}
    for first in (1, rows[0]):
        decoded.clear()
        with files.open_log(str(log), "auto", first, FEW_BYTES) as stream:
            assert sum(1 for _ in files.numbered_lines(stream, stream.first_line)) >= 5
        parts[first] = sum(decoded)
    assert parts[rows[0]] < parts[1] / 2
    decoded.clear()
    texts_at(str(log), rows, chunk_bytes=FEW_BYTES)
    assert (sum(decoded) < parts[1]) == log.name.startswith("log.tsv")
