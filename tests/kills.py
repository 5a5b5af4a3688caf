"""SIGKILL at random moments: `python -m tests.kills --times 100`.

An inbox is worked on by `flows.inbox`, which is killed again and again, with all it has started,
half of the time at a random moment, half of the time just after a draft has appeared, when most
is at stake. After each kill everything that can be seen must be whole; in the end everything must
be as an undisturbed run leaves it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.adapters import provenance
from tasks.adapters.release_files import ASIDE
from tasks.adapters.wordnet import load_wordnet
from tasks.editions.ledger import open_ledger
from tasks.editions.state import current_state
from tests.helpers.generated import write_parts
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parent.parent
FILES, QUERIES, USERS, SEED = 5, 600, 60, 3
LONGEST = 8.0
"""Seconds after which a run is killed at the latest."""


@dataclass(frozen=True)
class Site:
    """An inbox, its editions and its store."""

    folder: Path

    @property
    def inbox(self) -> Path:
        return self.folder / "inbox"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def start(self) -> subprocess.Popen[bytes]:
        folders = {"--inbox": self.inbox, "--out": self.out, "--store": self.store}
        options = [text for name, path in folders.items() for text in (name, str(path))]
        command = [sys.executable, "-m", "flows.inbox", *options, "--settle", "0", "--bare"]
        return subprocess.Popen(
            [*command, "--quiet"], cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE
        )

    def finish(self) -> None:
        """Run to the end; anything but success is a fault."""
        run = self.start()
        _, complaint = run.communicate()
        assert run.returncode == 0, complaint.decode()

    def seen(self) -> dict[str, bytes]:
        """What anybody can see of the releases, but for times and memory used."""
        paths = sorted(self.out.glob("edition-*/release-*/*"))
        told = [path for path in paths if path.name in ("release.tsv", "rejects.tsv")]
        return {str(path.relative_to(self.out)): path.read_bytes() for path in told}

    def ledger(self) -> object:
        with open_ledger(self.store) as ledger:
            state = current_state(ledger, self.out)
            assert state is not None
            assert ledger.pending(self.out) is None
            waiting = {sha: rows.tolist() for sha, rows in state.waiting.items()}
            return state.batches, waiting, state.clusters, state.releases

    def unfinished(self) -> list[str]:
        """What a run has not cleared away."""
        drafts = self.out.glob(f"edition-*/{ASIDE}*")
        files = [path for path in self.inbox.iterdir() if path.is_file() and path.name[0] != "."]
        return [*map(str, drafts), *map(str, files)]


def prepare(folder: Path, compiled: Path) -> Site:
    site = Site(folder)
    write_parts(site.inbox, FILES, queries=QUERIES, users=USERS, seed=SEED)
    prepared_store(site.store, compiled)
    # The same secret: people are numbered by it in the side tables.
    (site.store / "secret").write_bytes(b"s" * 32)
    return site


def kill_once(site: Site, dice: random.Random) -> bool:
    """Start a run and kill it; False if it ended before."""
    run = site.start()
    started, patience = time.monotonic(), dice.uniform(0.2, LONGEST)
    watch_drafts, moment = dice.random() < 0.5, dice.expovariate(20)
    while time.monotonic() - started < patience and run.poll() is None:
        if watch_drafts and any(site.out.glob(f"edition-*/{ASIDE}*")):
            time.sleep(moment)
            break
        time.sleep(0.002)
    ended = run.poll() is not None
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    return not ended


def assert_whole(site: Site, expected: dict[str, bytes]) -> None:
    """Whatever is in place is as it should be, and has its proof."""
    for folder in site.out.glob("edition-*/release-*"):
        held = {path.name for path in folder.iterdir()}
        assert held == {"release.tsv", "measures.json", "report.html", "rejects.tsv"}, folder
        provenance.load(site.store, folder / "release.tsv")
    seen = site.seen()
    assert {name: expected.get(name) for name in seen} == seen


def assert_finished(site: Site, undisturbed: Site) -> None:
    assert site.seen() == undisturbed.seen()
    assert site.ledger() == undisturbed.ledger()
    assert site.unfinished() == []


def torment(folder: Path, compiled: Path, times: int, seed: int) -> dict[str, int]:
    """Kill so many times; returns what happened."""
    dice = random.Random(seed)
    undisturbed = prepare(folder / "undisturbed", compiled)
    undisturbed.finish()
    expected, kills, rounds = undisturbed.seen(), 0, 0
    while kills < times:
        site = prepare(folder / f"round{rounds}", compiled)
        rounds += 1
        while kills < times and kill_once(site, dice):
            kills += 1
            assert_whole(site, expected)
        site.finish()
        assert_finished(site, undisturbed)
        shutil.rmtree(site.folder)
    return {"kills": kills, "rounds": rounds}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        compiled = Path(folder) / "compiled"
        load_wordnet(compiled)
        print(torment(Path(folder), compiled, options.times, options.seed))


if __name__ == "__main__":
    main()
