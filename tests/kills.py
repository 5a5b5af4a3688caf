"""SIGKILL at random moments: `python -m tests.kills --times 200`.

An inbox of files that overlap, with people who return, is worked on by `flows.inbox`, which is
killed again and again, with all it has started: at a random moment, just after a draft appeared, or
just after a release did, when most is at stake. After each kill everything that can be seen must
be whole; in the end everything must be as an undisturbed run leaves it, and every event that came
in was published once, waits, was known, or was rejected: counted from the raw files and the audit.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from flows.verify import main as verify
from tasks.adapters.published import provenance_of
from tasks.adapters.release_files import ASIDE, OTHER_FILES
from tasks.adapters.wordnet import load_wordnet
from tasks.editions.ledger import open_ledger
from tasks.editions.state import current_state
from tests.helpers.forked import Runs, forked_runs
from tests.helpers.generated import write_parts
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parent.parent
FILES, QUERIES, USERS, SEED = 5, 600, 60, 3
LONGEST, LONGEST_WAIT = 1.5, 20.0
"""Seconds after which a run is killed at the latest: at a random moment, and at the sight of
something that does not come."""
SIGNS = ("nothing of the kind", f"edition-*/{ASIDE}*", "edition-*/release-*")
"""At the sight of one more of which a run is killed; the first is never seen."""
HEADER = "AnonID\tQuery\tQueryTime\n"
BAD = "u1\t\t2006-03-01 10:00:00\n"
"""A row without a query."""
TOPICS = ("flu", "cancer", "asthma", "diabetes", "cheap hotel", "cheap flights")


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

    @property
    def options(self) -> list[str]:
        folders = {"--inbox": self.inbox, "--out": self.out, "--store": self.store}
        options = [text for name, path in folders.items() for text in (name, str(path))]
        return [*options, "--settle", "0", "--bare", "--quiet", "--workers", "1"]

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "flows.inbox", *self.options]
        return subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)

    def finish(self) -> None:
        """Run to the end; anything but success is a fault."""
        run = self.start()
        _, complaint = run.communicate()
        assert run.returncode == 0, complaint.decode()

    def seen(self) -> dict[str, bytes]:
        """What anybody can see of the releases, but for times and memory used."""
        paths = sorted(self.out.glob("edition-*/release-*/*"))
        told = [path for path in paths if path.name == "release.tsv"]
        return {str(path.relative_to(self.out)): path.read_bytes() for path in told}

    def ledger(self) -> object:
        with open_ledger(self.store) as ledger:
            state = current_state(ledger, self.out)
            assert state is not None
            assert ledger.pending(self.out) is None
            waiting = {sha: rows.tolist() for sha, rows in state.waiting.items()}
            events = ledger.events(state.edition).tolist()
            return state.batches, waiting, state.clusters, state.releases, events

    def unfinished(self) -> list[str]:
        """What a run has not cleared away."""
        drafts = self.out.glob(f"edition-*/{ASIDE}*")
        files = [path for path in self.inbox.iterdir() if path.is_file() and path.name[0] != "."]
        return [*map(str, drafts), *map(str, files)]


def five_parts(inbox: Path) -> None:
    write_parts(inbox, FILES, queries=QUERIES, users=USERS, seed=SEED)


def overlapping_files(inbox: Path) -> None:
    """Each file has events of those before it, in another order, and people who ask again."""
    inbox.mkdir(parents=True)
    dice, events = random.Random(SEED), list[str]()
    for number in range(FILES):
        asked = [(dice.randrange(24), dice.choice(TOPICS)) for _ in range(50)]
        moments = [f"{number + 1:02d} 10:{dice.randrange(60):02d}:00" for _ in asked]
        new = [f"u{u}\t{text}\t2006-03-{t}\n" for (u, text), t in zip(asked, moments, strict=True)]
        rows = [*new, *dice.sample(new, 3), *dice.sample(events, len(events) // 3), BAD]
        dice.shuffle(rows)
        events += new
        content = (HEADER + "".join(rows)).encode()
        (inbox / f"part{number:02d}.tsv").write_bytes(
            gzip.compress(content, mtime=0) if number == 3 else content
        )


def prepare(folder: Path, compiled: Path, fill: Callable[[Path], None] = five_parts) -> Site:
    site = Site(folder)
    fill(site.inbox)
    prepared_store(site.store, compiled)
    # The same secret: people are numbered by it in the side tables.
    (site.store / "secret").write_bytes(b"s" * 32)
    return site


def kill_once(site: Site, runs: Runs, dice: random.Random) -> bool:
    """Start a run and kill it; False if it ended before."""
    sign, moment = dice.choice(SIGNS), dice.expovariate(50)
    started, patience = time.monotonic(), dice.uniform(0.0, LONGEST)
    if sign != SIGNS[0]:
        patience = LONGEST_WAIT
    before = len(list(site.out.glob(sign)))
    process = runs.start(site.options)
    while time.monotonic() - started < patience and os.path.exists(f"/proc/{process}"):
        if len(list(site.out.glob(sign))) > before:
            time.sleep(moment)
            break
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    code = runs.end()
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def assert_whole(site: Site, expected: dict[str, bytes]) -> None:
    """Whatever is in place is as it should be, and has its proof."""
    for folder in site.out.glob("edition-*/release-*"):
        held = {path.name for path in folder.iterdir()}
        assert held == {"release.tsv", *OTHER_FILES}, folder
        provenance_of(site.store, folder / "release.tsv")
    seen = site.seen()
    assert {name: expected.get(name) for name in seen} == seen


def assert_finished(site: Site, undisturbed: Site) -> None:
    assert site.seen() == undisturbed.seen()
    assert site.ledger() == undisturbed.ledger()
    assert site.unfinished() == []


def rows_of(file: Path) -> list[str]:
    """The rows of a log; the first is row 2 of the file."""
    content = file.read_bytes()
    text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    return text.decode().splitlines(keepends=True)[1:]


def assert_accounted(site: Site, audit: Path) -> Counter[str]:
    """Every event was published once, waits, was known or was rejected; returns how many.

    An event counts as often as in the file that has it most often.
    """
    (edition,) = site.out.iterdir()
    with redirect_stdout(StringIO()):
        assert verify([str(edition), "--store", str(site.store), "--audit", str(audit)]) == 0
    files = {path.name.partition("-")[2]: rows_of(path) for path in _done(site)}
    fates: dict[str, Counter[str]] = defaultdict(Counter)
    seen, totals = set[tuple[str, int]](), Counter[str]()
    for line in pq.read_table(audit).to_pylist():
        place = Path(line["file"]).name, line["row"]
        assert place not in seen
        seen.add(place)
        fate = _fate(line)
        fates[files[place[0]][line["row"] - 2]][fate] += 1
        totals[fate] += 1
    assert len(seen) == sum(map(len, files.values()))
    published = site.out.glob("edition-*/release-*/release.tsv")
    assert totals["published"] == sum(len(path.read_text().splitlines()) - 1 for path in published)
    assert fates.pop(BAD) == Counter(rejected=FILES)
    for event, became in fates.items():
        counts = [rows.count(event) for rows in files.values()]
        assert became["published"] + became["waiting"] == max(counts)
        assert became["known"] == sum(counts) - max(counts)
    return totals


def _done(site: Site) -> list[Path]:
    return sorted((site.inbox / "done").iterdir())


def _fate(line: dict[str, object]) -> str:
    if line["release_row"] is not None:
        return "published"
    if str(line["reason"]).startswith("known: "):
        return "known"
    return "rejected" if line["person"] is None else "waiting"


def torment(folder: Path, compiled: Path, times: int, seed: int) -> dict[str, int]:
    """Kill so many times; returns what happened."""
    dice = random.Random(seed)
    undisturbed = prepare(folder / "undisturbed", compiled, overlapping_files)
    undisturbed.finish()
    expected, kills, rounds = undisturbed.seen(), 0, 0
    totals = assert_accounted(undisturbed, folder / "audit.parquet")
    assert min(totals[fate] for fate in ("published", "waiting", "known", "rejected")) > 0
    place = folder / "site"
    with forked_runs(prepare(place, compiled, overlapping_files).options) as runs:
        while kills < times:
            if place.exists():
                shutil.rmtree(place)
            site = prepare(place, compiled, overlapping_files)
            rounds += 1
            while kills < times and kill_once(site, runs, dice):
                kills += 1
                assert_whole(site, expected)
            runs.start(site.options)
            assert runs.end() == 0
            assert_finished(site, undisturbed)
            assert assert_accounted(site, folder / "audit.parquet") == totals
    return {"kills": kills, "rounds": rounds, **totals}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        compiled = Path(folder) / "compiled"
        load_wordnet(compiled)
        print(torment(Path(folder), compiled, options.times, options.seed))


if __name__ == "__main__":
    main()
