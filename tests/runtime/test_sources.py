"""Logs at URLs and on standard input: found, known by their content, and gone afterwards."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from tasks.adapters.logs.paths import find_files, total_size
from tasks.adapters.logs.reader import read_logs
from tasks.errors import InputError, StillChanging, UsageError
from tasks.runtime import sources
from tasks.runtime.fingerprint import log_file, refuse_changed
from tests.adapters.logs.kinds import plain_log
from tests.adapters.logs.logwriters import as_parquet, as_tsv, assert_holds

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder at an URL with two logs, a hidden file and a folder inside."""
    system = fsspec.filesystem("memory")
    system.pipe("/logs/b.parquet", as_parquet(plain_log()[30:]))
    system.pipe("/logs/a.tsv", as_tsv(plain_log()[:30]))
    system.pipe("/logs/.hidden", b"\0")
    system.pipe("/logs/inner/c.tsv", as_tsv(plain_log()))
    yield "memory://logs"
    system.rm("/logs", recursive=True)


def test_an_url_stands_for_the_files_in_it(folder: str) -> None:
    both = ["memory:///logs/a.tsv", "memory:///logs/b.parquet"]
    assert find_files([folder]) == both
    assert find_files([f"{folder}/*.*"]) == both
    assert find_files([f"{folder}/a.tsv", folder]) == both
    assert total_size([folder]) == len(as_tsv(plain_log()[:30])) + len(as_parquet(plain_log()[30:]))
    assert_holds(read_logs([folder]), plain_log())


def test_a_log_at_an_url_is_known_by_its_content(folder: str) -> None:
    name = f"{folder}/a.tsv"
    found = log_file(name)
    assert found.digest == hashlib.sha256(as_tsv(plain_log()[:30])).hexdigest()
    refuse_changed([found])
    fsspec.filesystem("memory").pipe("/logs/a.tsv", as_tsv(plain_log()[1:31]))
    with pytest.raises(StillChanging):
        refuse_changed([found])


@pytest.mark.parametrize("url", ["memory://logs/none.tsv", "memory://logs/*.none"])
def test_an_url_that_leads_nowhere(folder: str, url: str) -> None:
    with pytest.raises(InputError, match="check the address"):
        find_files([url])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://me:word@host/log.tsv",
        "https://host/log.tsv?X-Amz-Signature=word",
        "simplecache::s3://bucket/word",
    ],
)
def test_credentials_are_neither_taken_nor_told(url: str) -> None:
    with pytest.raises(UsageError, match="may hold no") as caught:
        find_files([url])
    assert "word@" not in str(caught.value)
    assert "Signature" not in str(caught.value)


def test_what_a_network_library_says_is_not_told(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the key is word")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "info", fail)
    with pytest.raises(InputError, match="RuntimeError") as caught:
        find_files([f"{folder}/a.tsv"])
    assert "word" not in str(caught.value)
    assert caught.value.__context__ is None


# Standard input


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    sources._spooled.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_tsv(plain_log()))))
    yield
    sources._spooled.cache_clear()


def test_standard_input_can_be_read_again(given: None) -> None:
    (name,) = find_files(["-"])
    assert find_files([name]) == [name]
    assert log_file(name).digest == hashlib.sha256(as_tsv(plain_log())).hexdigest()
    for _ in range(2):
        assert_holds(read_logs(["-"]), plain_log())
    refuse_changed([log_file(name)])


def test_standard_input_leaves_no_file(given: None, tmp_path: Path) -> None:
    """What is spilled has no name: nobody finds it, while it is read or after a kill."""
    code = (
        "import os, sys\n"
        "from tasks.adapters.logs.reader import read_logs\n"
        "assert len(read_logs(['-']).texts) == 60\n"
        "from tasks.runtime.sources import _spooled\n"
        "status = os.fstat(_spooled().fileno())\n"
        "assert status.st_mode & 0o777 == 0o600 and status.st_nlink == 0\n"
        f"assert os.listdir({str(tmp_path)!r}) == []\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=as_tsv(plain_log()), env=environment, cwd=ROOT
    )
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    sources._spooled.cache_clear()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="pipe a log into it"):
        read_logs(["-"])
