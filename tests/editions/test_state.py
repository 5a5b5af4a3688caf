"""What lies in a folder of editions, and what the ledger knows of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flows import inbox, run
from flows.verify import main as verify
from tests.helpers.generated import write_parts

KINDS = ["append", "new"]


class Site:
    """An inbox with one file released, and one to come."""

    def __init__(self, folder: Path, store: Path, kind: str) -> None:
        self.folder, self.store, self.kind = folder, store, kind
        parts = write_parts(folder / "parts", 2, queries=600, users=60, seed=5)
        (folder / "incoming").mkdir()
        shutil.copy(parts[0], folder / "incoming")
        assert self.run("out") == 0
        shutil.copy(parts[1], folder / "incoming")

    def run(self, out: str, store: str = "") -> int:
        folders = ["--inbox", str(self.folder / "incoming"), "--out", str(self.folder / out)]
        own = ["--store", store or str(self.store), "--edition", self.kind]
        return inbox.main([*folders, *own, "--settle", "0", "--bare", "--quiet"])


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest, tmp_path: Path, new_store: Callable[[], Path]) -> Site:
    return Site(tmp_path, new_store(), request.param)


def test_a_folder_that_was_moved_is_told_of_before_the_work(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.folder / "out").rename(site.folder / "moved")
    assert site.run("moved") == 3
    told = capsys.readouterr()
    assert "edition-0001/release-0001 is there, but the ledger in" in told.err
    assert "move it back" in told.err
    assert "another --out" in told.err
    assert "read the log" not in told.out
    # Each of the ways that are told leads on.
    (site.folder / "moved").rename(site.folder / "out")
    assert site.run("out") == 0
    assert site.run("fresh") == 0


def test_a_ledger_older_than_its_releases_is_told_of(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = (site.store / "ledger.sqlite3").read_bytes()
    assert site.run("out") == 0
    for name in ("ledger.sqlite3-wal", "ledger.sqlite3-shm"):
        (site.store / name).unlink(missing_ok=True)
    (site.store / "ledger.sqlite3").write_bytes(backup)
    write_parts(site.folder / "incoming", 1, queries=300, users=60, seed=6)
    assert site.run("out") == 3
    assert "the ledger is older than it" in capsys.readouterr().err


# The secret


def test_an_edition_does_not_go_on_with_another_secret(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = (site.store / "secret").read_bytes()
    (site.store / "secret").unlink()
    before = sorted((site.folder / "out").rglob("*"))
    assert site.run("out") == 3
    told = capsys.readouterr().err
    assert "restore it from a backup" in told
    assert "another --store and another --out" in told
    assert not (site.store / "secret").exists()
    assert sorted((site.folder / "out").rglob("*")) == before
    edition = str(site.folder / "out" / "edition-0001")
    assert verify([edition, "--store", str(site.store)]) == 3
    assert "restore it from a backup" in capsys.readouterr().err
    (site.store / "secret").write_bytes(secret)
    assert site.run("out") == 0
    assert verify([edition, "--store", str(site.store)]) == 0


@pytest.mark.parametrize("lost", ["releases", "ledger.sqlite3"])
def test_either_of_what_lasts_asks_for_its_secret(site: Site, lost: str) -> None:
    (site.store / "secret").unlink()
    gone = site.store / lost
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    for name in ("ledger.sqlite3-wal", "ledger.sqlite3-shm"):
        (site.store / name).unlink(missing_ok=True)
    assert site.run("out") == 3
    assert not (site.store / "secret").exists()


def test_a_run_does_not_go_on_with_another_secret(
    tmp_path: Path, new_store: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (log,) = write_parts(tmp_path, 1, queries=300, users=60, seed=5)
    store = new_store()
    options = [str(log), "--store", str(store), "--bare", "--quiet"]
    assert run.main([*options, "--out", str(tmp_path / "out")]) == 0
    (store / "secret").unlink()
    assert run.main([*options, "--out", str(tmp_path / "other")]) == 3
    assert "restore it from a backup" in capsys.readouterr().err
    shutil.rmtree(store / "cache")
    (store / "secret").write_bytes(b"too short")
    assert run.main([*options, "--out", str(tmp_path / "other")]) == 3
    assert "is damaged: restore it from a backup" in capsys.readouterr().err
