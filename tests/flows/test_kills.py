"""Killed or without room: the next run completes, and nobody ever sees half a release."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kills import Site, assert_finished, assert_whole, prepare, torment

pytestmark = pytest.mark.slow
KIB = 1024
ROOM = "64m"


def test_killed_at_random_moments(store: Path, tmp_path: Path) -> None:
    """Events in = published once + waiting + known + rejected: python -m tests.kills."""
    assert torment(tmp_path, store, times=200, seed=1)["kills"] == 200


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of its own, with room for compiled lists and a little more."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=0700", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, left: int) -> Path:
    """Leave so many bytes on the disk of a folder."""
    status = os.statvfs(folder)
    ballast = folder / "ballast"
    with ballast.open("wb") as stream:
        stream.write(b"\0" * max(0, status.f_bavail * status.f_frsize - left))
    return ballast


@pytest.fixture(scope="module")
def undisturbed(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = prepare(tmp_path_factory.mktemp("undisturbed") / "site", store)
    site.finish()
    return site


@pytest.mark.parametrize(
    ("place", "left"),
    [("store", kib) for kib in (0, 160, 600, 1200, 2400)]
    + [("out", kib) for kib in (0, 8, 24, 48, 90)],
)
def test_a_full_disk_is_told_and_survived(
    place: str, left: int, undisturbed: Site, store: Path, tmp_path: Path
) -> None:
    site = Site(tmp_path / "site")
    disk = {"store": site.store, "out": site.out}[place]
    with small_disk(disk):
        prepare(site.folder, store)
        ballast = fill(disk, left * KIB)
        run = site.start()
        _, complaint = run.communicate()
        assert run.returncode in (0, 3), complaint.decode()
        if run.returncode:
            assert b"logveil: " in complaint
            assert b"Traceback" not in complaint
        assert_whole(site, undisturbed.seen())
        assert not (site.inbox / "failed").exists()
        ballast.unlink()
        site.finish()
        assert_finished(site, undisturbed)
