"""Prefect's server of one process: whom it answers, when it is not started, and its end."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from flows import process
from tasks.errors import InputError
from tests.helpers.releases import SCREEN

ROOT = Path(__file__).parents[2]
START = """
import os, sys, time
from pathlib import Path
from flows.display import Screen
from flows.process import start_prefect
start_prefect(Screen(quiet=True, stderr=True), exit, Path(sys.argv[1]))()
print(os.environ["PREFECT_API_URL"], os.environ["PREFECT_API_AUTH_STRING"], flush=True)
time.sleep(600)
"""


def answer(url: str, credential: str = "") -> int:
    token = b64encode(credential.encode()).decode()
    request = urllib.request.Request(f"{url}/version", headers={"Authorization": f"Basic {token}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as found:
            return int(found.status)
    except urllib.error.HTTPError as fault:
        return fault.code


@pytest.mark.slow
@pytest.mark.prefect
def test_it_answers_its_own_process_and_ends_with_it_and_its_database_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    environment |= {"PREFECT_HOME": str(tmp_path / "prefect")}
    with subprocess.Popen(
        [sys.executable, "-c", START, str(tmp_path / "store")],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        url, credential = owner.stdout.readline().split()
        assert (answer(url), answer(url, credential)) == (401, 200)
        owner.kill()
    for _ in range(300):
        try:
            answer(url)
        except OSError:
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the server has outlived its process")
    for home in ("prefect", "other"):
        monkeypatch.setenv("PREFECT_HOME", str(tmp_path / home))
        process.keep_database_private(process.KeptDatabase(tmp_path / "store").load)
    assert (tmp_path / "other" / "prefect.db").stat().st_mode & 0o777 == 0o600
    schemas = [tables(tmp_path / home / "prefect.db") for home in ("prefect", "other")]
    assert schemas[0] == schemas[1]
    assert "flow_run" in schemas[1]


def tables(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as made:
        return [name for (name,) in made.execute("SELECT name FROM sqlite_master ORDER BY name")]


def test_a_database_with_runs_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    kept = process.KeptDatabase(tmp_path / "store")
    for rows in (1, 0):
        assert kept.load() == b""
        with closing(sqlite3.connect(tmp_path / "prefect.db")) as made, made:
            made.execute("DROP TABLE IF EXISTS flow_run")
            made.execute("CREATE TABLE flow_run (name)")
            made.executemany("INSERT INTO flow_run VALUES (?)", [("log.tsv",)] * rows)
        kept.save()
    assert kept.load().startswith(b"SQLite format 3")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("home/profiles.toml", '[profiles.mine]\nPREFECT_API_URL = "http://there/api"\n'),
        ("prefect.toml", '[api]\nurl = "http://there/api"\n'),
        ("pyproject.toml", '[tool.prefect.api]\nurl = "http://there/api"\n'),
        (".env", "PREFECT_API_URL=http://there/api\n"),
    ],
)
def test_a_server_that_prefect_knows_of_is_used(
    name: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "home"))
    assert not process._names_a_server()
    (tmp_path / "home").mkdir()
    (tmp_path / name).write_text(content)
    assert process._names_a_server()


def test_a_server_that_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    monkeypatch.setattr(process._Server, "process", ended)
    with pytest.raises(InputError, match="does not start"):
        process._await_server(SCREEN, "http://127.0.0.1:9/api/health")
