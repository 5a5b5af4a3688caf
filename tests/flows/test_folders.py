"""Where things lie: a store apart from its cache, folders apart from each other, tried before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flows import compare, inbox, run
from flows.verify import main as verify
from tests.helpers.commands import ROOT, command
from tests.helpers.generated import write_parts
from tests.helpers.stores import prepared_store

LASTING = {"secret", "releases"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path) -> Path:
    """A home in which the cache knows WordNet, and nothing else is."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    prepared = prepared_store(tmp_path / "prepared", store)
    (tmp_path / ".cache" / "logveil").mkdir(parents=True, mode=0o700)
    shutil.move(prepared / "cache", tmp_path / ".cache" / "logveil" / "cache")
    shutil.rmtree(prepared)
    return tmp_path


@pytest.fixture
def log(tmp_path: Path) -> str:
    (path,) = write_parts(tmp_path / "logs", 1, queries=300, users=60, seed=5)
    return str(path)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_what_cannot_be_made_again_is_not_in_the_cache_folder(home: Path, log: str) -> None:
    assert run.main([log, "--bare", "--quiet"]) == 0
    assert names(home / ".local/state/logveil/store") == LASTING
    assert not LASTING & names(home / ".cache/logveil")
    assert verify(["release"]) == 0
    shutil.rmtree(home / ".cache")
    assert verify(["release"]) == 0, "whoever empties the cache loses nothing"


def test_a_store_that_is_named_holds_everything(home: Path, log: str) -> None:
    prepared = home / "mine"
    assert run.main([log, "--bare", "--quiet", "--store", str(prepared)]) == 0
    assert names(prepared) == {*LASTING, "cache", "wordnet"}
    assert not (home / ".local").exists()


def as_before(home: Path, log: str) -> Path:
    """A home as older versions left it: everything in the cache folder."""
    before = home / ".cache" / "logveil"
    inbox_folder = home / "incoming"
    inbox_folder.mkdir()
    shutil.copy(log, inbox_folder)
    options = ["--inbox", "incoming", "--out", "published", "--store", str(before)]
    assert inbox.main([*options, "--settle", "0", "--bare", "--quiet"]) == 0
    assert {*LASTING, "ledger.sqlite3"} <= names(before)
    return before


def test_what_older_versions_left_in_the_cache_folder_is_moved(
    home: Path, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = as_before(home, log)
    secret = (before / "secret").read_bytes()
    capsys.readouterr()
    assert verify(["published/edition-0001"]) == 0
    assert "moved releases, ledger.sqlite3, secret from" in capsys.readouterr().err
    now = home / ".local/state/logveil/store"
    assert (now / "secret").read_bytes() == secret
    assert not {*LASTING, "ledger.sqlite3"} & names(before)
    write_parts(home / "incoming", 1, queries=400, users=60, seed=6)
    again = ["--inbox", "incoming", "--out", "published", "--settle", "0", "--bare", "--quiet"]
    assert inbox.main(again) == 0
    assert names(home / "published/edition-0001") == {"release-0001", "release-0002"}
    assert "moved" not in capsys.readouterr().err


def test_a_move_that_was_cut_short_is_ended(home: Path, log: str) -> None:
    before, now = as_before(home, log), home / ".local/state/logveil/store"
    now.mkdir(parents=True)
    shutil.move(before / "releases", now / "releases")
    assert verify(["published/edition-0001"]) == 0
    assert {*LASTING, "ledger.sqlite3"} <= names(now)


def test_two_stores_are_never_mixed(
    home: Path, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = as_before(home, log)
    now = home / ".local/state/logveil/store"
    now.mkdir(parents=True)
    (now / "secret").write_bytes(b"s" * 32)
    kept = (before / "secret").read_bytes()
    assert run.main([log, "--bare", "--quiet"]) == 3
    told = capsys.readouterr().err
    assert f"--store {before}" in told
    assert (before / "secret").read_bytes() == kept
    assert (now / "secret").read_bytes() == b"s" * 32
    # Nothing was lost on the way: what it says works once that secret is put away.
    (now / "secret").unlink()
    assert verify(["published/edition-0001"]) == 0


# The inbox


def test_a_missing_inbox_is_an_error_before_anything_is_made(home: Path) -> None:
    done = command(["flows.inbox", "--inbox", "nowhere", "--out", "published", "--bare"], home)
    assert done.returncode == 3
    assert b"the inbox nowhere is no folder" in done.stderr
    assert not (home / "nowhere").exists()
    assert not (home / "published").exists()
    assert not (home / ".local").exists()


@pytest.mark.parametrize("out", ["incoming", "incoming/out", ".", "link", "link/x", "missing/.."])
def test_an_inbox_and_its_releases_are_apart(
    home: Path, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "incoming").mkdir()
    (home / "link").symlink_to("incoming")
    assert inbox.main(["--inbox", "incoming", "--out", out, "--store", "/tmp/s", "--bare"]) == 2
    assert "must be apart" in capsys.readouterr().err
    assert names(home / "incoming") == set()


def test_an_inbox_is_no_store(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "incoming").mkdir()
    assert inbox.main(["--inbox", "incoming", "--out", "o", "--store", "incoming", "--bare"]) == 2
    assert "must be apart" in capsys.readouterr().err


# The folder of releases


@pytest.mark.parametrize("out", ["st", "st/out", ".", "link", "link/x"])
@pytest.mark.parametrize("main", [run.main, compare.main])
def test_a_release_is_never_in_the_store(
    home: Path, log: str, main: object, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "st").mkdir()
    (home / "link").symlink_to("st")
    assert callable(main)
    assert main([log, "--out", out, "--store", "st", "--bare"]) == 2
    assert "must be apart" in capsys.readouterr().err
    assert names(home / "st") == set()


def test_nor_in_the_cache(home: Path, log: str, capsys: pytest.CaptureFixture[str]) -> None:
    for out in (".cache/logveil/out", ".local", ".cache"):
        assert run.main([log, "--out", out, "--bare"]) == 2
        assert "must be apart" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["out", "store"])
def test_no_name_is_no_folder(
    home: Path, log: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = names(home)
    assert run.main([log, f"--{option}", "", "--bare"]) == 2
    assert f"{option} must name a folder" in capsys.readouterr().err
    assert names(home) == before


def test_the_folder_is_tried_before_the_work(
    home: Path, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").touch()
    (home / "incoming").mkdir()
    for main, given in (
        (run.main, [log]),
        (compare.main, [log]),
        (inbox.main, ["--inbox", "incoming"]),
    ):
        assert main([*given, "--out", "file/out"]) == 3
        told = capsys.readouterr()
        assert "cannot write to --out file/out" in told.err
        assert "read the log" not in told.out
        assert "Prefect" not in told.out, "its server takes half a minute to start"


def test_a_folder_that_may_not_be_written_to_is_tried_before_the_work(home: Path, log: str) -> None:
    (home / "out").mkdir(mode=0o555)
    done = command(["flows.run", log, "--out", "out"], home, unprivileged=True)
    assert done.returncode == 3, done.stderr
    assert b"cannot write to --out out: Permission denied" in done.stderr
    assert b"Prefect" not in done.stdout


def test_nobody_else_may_write_what_is_published_under_any_umask(home: Path, log: str) -> None:
    (home / "incoming").mkdir()
    shutil.copy(log, home / "incoming")
    given = ["--inbox", "incoming", "--out", "two", "--settle", "0", "--bare", "--quiet"]
    for line in (["flows.run", log, "--out", "one", "--bare", "--quiet"], ["flows.inbox", *given]):
        done = command(line, home, umask=0)
        assert done.returncode == 0, done.stderr
    made = [*(home / "one").rglob("*"), *(home / "two").rglob("*"), home / "one", home / "two"]
    assert len(made) > 10
    assert [path for path in made if mode(path) & 0o002] == []
    kept = [*(home / ".local/state/logveil").rglob("*"), *(home / ".cache/logveil").rglob("*")]
    assert len(kept) > 10
    assert [path for path in kept if mode(path) & 0o077] == []


def test_k_is_k(home: Path, log: str, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["-k", "7"], ["-k7"], ["--k", "7"]):
        assert run.main([log, *given, "--bare", "--json", "--out", f"o{given}"]) == 0
        assert json.loads(capsys.readouterr().out)["settings"]["k"] == 7
    assert compare.parser().parse_args(["-k", "7"]).k == "7"


# Prefect's home


PREPARE = "from flows.process import prepare_prefect; prepare_prefect(exit)"


def prepared_home(home: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_API_URL": ""}
    given = [sys.executable, "-c", PREPARE]
    return subprocess.run(given, cwd=ROOT, env=environment, umask=0o022, check=True)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_prefect_keeps_is_private(tmp_path: Path) -> None:
    prepared_home(tmp_path / "new" / "prefect")
    assert mode(tmp_path / "new" / "prefect") == 0o700
    assert mode(tmp_path / "new" / "prefect" / "prefect.db") == 0o600


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o640, 0o600), (0o664, 0o664)])
def test_a_database_that_others_share_stays_as_it_is(
    before: int, after: int, tmp_path: Path
) -> None:
    """One that others may only read is closed, and nothing in it is lost."""
    tmp_path.chmod(0o755)
    (tmp_path / "prefect.db").write_bytes(b"runs")
    (tmp_path / "prefect.db").chmod(before)
    prepared_home(tmp_path)
    assert mode(tmp_path / "prefect.db") == after
    assert mode(tmp_path) == 0o755
    assert (tmp_path / "prefect.db").read_bytes() == b"runs"
