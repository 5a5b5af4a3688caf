"""Prefect's server of one process: whom it answers, when it is not started, and its end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from pathlib import Path

import pytest

from flows import process
from tasks.errors import InputError
from tests.helpers.releases import SCREEN

ROOT = Path(__file__).parents[2]
START = """
import os, time
from flows.display import Screen
from flows.process import start_prefect
start_prefect(Screen(quiet=True, stderr=True), exit)()
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
def test_it_answers_its_own_process_and_ends_with_it(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    environment |= {"PREFECT_HOME": str(tmp_path / "prefect")}
    with subprocess.Popen(
        [sys.executable, "-c", START], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        url, credential = owner.stdout.readline().split()
        assert (answer(url), answer(url, credential)) == (401, 200)
        owner.kill()
    for _ in range(300):
        try:
            answer(url)
        except OSError:
            return
        time.sleep(0.1)
    raise AssertionError("the server has outlived its process")


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
