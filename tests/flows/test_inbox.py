"""`python -m flows.inbox`: files in, releases out, each once."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.inbox import main
from flows.verify import main as verify
from tasks.adapters.private_folders import private_folder_of
from tasks.adapters.published import provenance_of
from tasks.adapters.release_files import OTHER_FILES
from tasks.editions.ledger import open_ledger
from tasks.editions.releases import records_behind
from tasks.editions.state import current_state
from tests.helpers.figures import internal_measures
from tests.helpers.generated import generated_lines, write_parts
from tests.helpers.stores import prepared_store

ROOT = Path(__file__).parent.parent.parent
QUERIES, USERS, SEED = 1500, 120, 5
SETTLED = ("--settle", "0")


class Site:
    """An inbox, its editions and its store."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.inbox, self.out, self.store = folder / "inbox", folder / "out", folder / "store"
        self.inbox.mkdir(parents=True)
        prepared_store(self.store, store)

    @property
    def options(self) -> list[str]:
        folders = ["--inbox", str(self.inbox), "--out", str(self.out), "--store", str(self.store)]
        return [*folders, *SETTLED, "--bare", "--json"]

    def run(self, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = main([*self.options, *options])
        text = capsys.readouterr().out
        return code, json.loads(text) if text else {}

    def releases(self) -> list[Path]:
        return sorted(self.out.glob("edition-*/release-*/release.tsv"))

    def waiting(self) -> int:
        with open_ledger(self.store) as ledger:
            state = current_state(ledger, self.out)
            return sum(map(len, state.waiting.values())) if state else 0


@pytest.fixture
def site(tmp_path: Path, store: Path) -> Site:
    return Site(tmp_path, store)


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def assert_nothing_lost_or_doubled(site: Site, rows: int) -> None:
    """Every usable row was published once or waits."""
    tables = [provenance_of(site.store, path) for path in site.releases()]
    records = np.concatenate([records_behind(table) for table in tables])
    assert len(np.unique(records)) == len(records)
    assert len(records) + site.waiting() == rows


def test_each_file_becomes_one_release(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_parts(site.inbox, 3, queries=QUERIES, users=USERS, seed=SEED)
    code, told = site.run(capsys)
    assert code == 0
    assert [entry["file"] for entry in told["released"]] == [f"part0{n}.tsv" for n in range(3)]
    names = [str(path.parent.relative_to(site.out)) for path in site.releases()]
    assert names == [f"edition-0001/release-000{n}" for n in (1, 2, 3)]
    for path in site.releases():
        held = {entry.name for entry in path.parent.iterdir()}
        assert held == {"release.tsv", *OTHER_FILES}
        measures = internal_measures(site.store, path.parent)
        assert measures["verified"] is True
        cohesion = measures["figures"]["cohesion"]
        assert 0 <= min(cohesion) <= max(cohesion) <= 1
    assert_nothing_lost_or_doubled(site, QUERIES)
    assert not [path for path in site.inbox.iterdir() if path.is_file() and path.name[0] != "."]
    assert len(list((site.inbox / "done").iterdir())) == 3


def test_an_edition_can_be_proven_again(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_parts(site.inbox, 3, queries=QUERIES, users=USERS, seed=SEED)
    site.run(capsys)
    edition = site.out / "edition-0001"
    assert verify([str(edition), "--store", str(site.store)]) == 0
    assert "each of 3 releases, and all together" in capsys.readouterr().out
    changed = edition / "release-0002" / "release.tsv"
    lines = changed.read_text().splitlines(keepends=True)
    changed.write_text("".join(lines[:-1]))
    assert verify([str(edition), "--store", str(site.store)]) == 5
    assert "release-0002" in capsys.readouterr().out


def test_the_next_run_has_nothing_to_do(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_parts(site.inbox, 1, queries=QUERIES, users=USERS, seed=SEED)
    site.run(capsys)
    before = content(site.out)
    code, told = site.run(capsys)
    assert (code, told["released"]) == (0, [])
    assert content(site.out) == before


def test_a_known_file_is_put_aside(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    (part,) = write_parts(site.inbox, 1, queries=QUERIES, users=USERS, seed=SEED)
    text = part.read_bytes()
    site.run(capsys)
    before = content(site.out)
    (site.inbox / "again.tsv").write_bytes(text)
    code, told = site.run(capsys)
    assert (code, told["known"], told["released"]) == (0, ["again.tsv"], [])
    assert content(site.out) == before
    assert (site.inbox / "known" / "again.tsv").read_bytes() == text


def test_a_bad_file_does_not_stop_the_others(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    (site.inbox / "a-first.gz").write_bytes(b"\x1f\x8b damaged")
    (site.inbox / "part00a.tsv").write_bytes(bytes(range(256)) * 10)
    code, told = site.run(capsys)
    assert code == 3
    assert sorted(told["failed"]) == ["a-first.gz", "part00a.tsv"]
    assert len(told["released"]) == 2
    for name, reason in told["failed"].items():
        aside = site.inbox / "failed" / name
        assert aside.exists()
        assert reason in Path(f"{aside}.reason.txt").read_text()
    assert_nothing_lost_or_doubled(site, QUERIES)


def test_rejected_rows_are_listed_once(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    first.write_text(first.read_text() + "1\t\t2006-03-01 10:00:00\n")
    site.run(capsys)
    folders = [private_folder_of(site.store, path.parent) for path in site.releases()]
    listed = [(folder / "rejects.tsv").read_text().splitlines() for folder in folders]
    assert [len(lines) for lines in listed] == [2, 1]
    assert_nothing_lost_or_doubled(site, QUERIES)


def test_few_people_wait_until_there_are_enough(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "AnonID\tQuery\tQueryTime\n"
    for user in range(1, 7):
        row = f"{user}\tlung cancer\t2006-03-01 10:00:00\n"
        (site.inbox / f"{user}.tsv").write_text(head + row)
    code, told = site.run(capsys)
    assert code == 0
    assert told["waiting"] == [
        "1.tsv",
        "2.tsv",
        "3.tsv",
        "4.tsv",
        "6.tsv",
    ]
    assert [(entry["file"], entry["waiting"]) for entry in told["released"]] == [("5.tsv", 0)]
    published = [path.read_text().splitlines()[1:] for path in site.releases()]
    assert [len(rows) for rows in published] == [5]
    assert site.waiting() == 1


def test_files_without_rows_are_done(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    (site.inbox / "empty.tsv").touch()
    (site.inbox / "header.tsv").write_text("AnonID\tQuery\tQueryTime\n")
    code, _ = site.run(capsys)
    assert code == 0
    assert len(list((site.inbox / "done").iterdir())) == 2
    assert site.waiting() == 0


def test_a_done_file_that_is_gone_goes_on_waiting(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    _, second = write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    second.rename(site.inbox / "second.part")
    site.run(capsys)
    waiting = site.waiting()
    assert waiting > 0
    (done,) = (site.inbox / "done").iterdir()
    kept = done.read_bytes()
    done.unlink()
    (site.inbox / "second.part").rename(second)
    code, told = site.run(capsys)
    assert code == 0
    assert told["released"][0]["waiting"] >= waiting
    done.write_bytes(kept)
    assert_nothing_lost_or_doubled(site, QUERIES)


def test_other_settings_are_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    write_parts(site.inbox, 1, queries=QUERIES, users=USERS, seed=SEED)
    site.run(capsys)
    (site.inbox / "more.tsv").write_text("AnonID\tQuery\tQueryTime\n1\tflu\t2006-03-01 10:00:00\n")
    capsys.readouterr()
    assert main([*site.options, "--k", "7"]) == 2
    assert "k was 5" in capsys.readouterr().err
    assert (site.inbox / "more.tsv").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--edition", "other"], "edition must be append or new"),
        (["--guarantee", "paper"], "use --edition new"),
        (["--settle", "soon"], "settle must be a number"),
        (["--k", "1", "--settle", "x"], "k must be at least 2"),
    ],
)
def test_wrong_usage(
    site: Site, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*site.options, *options]) == 2
    assert said in capsys.readouterr().err


def test_an_inbox_must_be_named_and_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--bare"]) == 2
    assert "--inbox" in capsys.readouterr().err
    nowhere = ["--inbox", str(tmp_path / "file" / "no"), "--out", str(tmp_path / "out")]
    (tmp_path / "file").touch()
    assert main([*nowhere, "--bare", "--store", str(tmp_path / "store")]) == 3


def test_a_new_edition_is_one_release_of_everything(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = write_parts(site.inbox, 4, queries=QUERIES, users=USERS, seed=SEED)
    late = parts[-1].rename(site.inbox / "late.part")
    site.run(capsys)
    late.rename(parts[-1])
    (site.inbox / "bad.bin").write_bytes(bytes(range(200)))
    code, told = site.run(capsys, "--edition", "new")
    assert (code, list(told["failed"])) == (3, ["bad.bin"])
    (entry,) = told["released"]
    assert (entry["number"], entry["release"]) == (2, 1)
    assert entry["intersection_with_earlier"]["records"] > 0
    assert 0 <= entry["intersection_with_earlier"]["below_k"] <= 1
    (release,) = site.out.glob("edition-0002/release-*/release.tsv")
    assert release.read_bytes() == whole_release(site)
    assert provenance_of(site.store, release).promise.read == QUERIES


def test_an_edition_that_was_withdrawn_is_not_needed(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    _, second = write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    late = second.rename(site.inbox / "late.part")
    site.run(capsys, "--edition", "new")
    shutil.rmtree(site.out / "edition-0001")
    late.rename(second)
    capsys.readouterr()
    assert main(site.options) == 3
    assert "put it back, or begin anew with --edition new" in capsys.readouterr().err
    code, told = site.run(capsys, "--edition", "new")
    assert code == 0
    assert "intersection_with_earlier" not in told["released"][0]


def whole_release(site: Site) -> bytes:
    """What `flows.run` makes of the same files."""
    from flows.run import main as run

    out = site.out.parent / "whole"
    logs = [str(path) for path in sorted((site.inbox / "done").iterdir())]
    assert run([*logs, "--out", str(out), "--store", str(site.store), "--bare", "--quiet"]) == 0
    return (out / "release.tsv").read_bytes()


def test_a_new_edition_of_the_same_files_is_none(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    site.run(capsys, "--edition", "new")
    before = content(site.out)
    code, told = site.run(capsys, "--edition", "new")
    assert (code, told["released"]) == (0, [])
    assert content(site.out) == before


def test_a_new_edition_reads_a_content_once(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Given twice at once, given again later, or left by a run killed before it moved it."""
    first, second = write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    shutil.copy(first, site.inbox / "copy.tsv")
    code, told = site.run(capsys, "--edition", "new")
    assert (code, told["known"]) == (0, ["part00.tsv"])
    assert_nothing_lost_or_doubled(site, QUERIES)
    (done,) = (site.inbox / "done").glob("*part01.tsv")
    done.rename(second)
    shutil.copy(site.inbox / "known" / "part00.tsv", site.inbox / "again.tsv")
    code, told = site.run(capsys, "--edition", "new")
    assert (code, told["released"], told["known"]) == (0, [], ["again.tsv", "part01.tsv"])
    assert done.exists()
    assert_nothing_lost_or_doubled(site, QUERIES)


def test_a_new_edition_can_be_added_to(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    parts = write_parts(site.inbox, 2, queries=QUERIES, users=USERS, seed=SEED)
    late = parts[-1].rename(site.inbox / "late.part")
    site.run(capsys, "--edition", "new")
    late.rename(parts[-1])
    code, told = site.run(capsys)
    assert code == 0
    (entry,) = told["released"]
    assert (entry["number"], entry["release"]) == (1, 2)
    assert_nothing_lost_or_doubled(site, QUERIES)


@pytest.mark.slow
def test_two_runs_at_once_share_the_work(site: Site) -> None:
    """Every row is published at most once, none is lost."""
    write_parts(site.inbox, 20, queries=QUERIES, users=USERS, seed=SEED)
    command = [sys.executable, "-m", "flows.inbox", *site.options]
    runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(run.communicate()[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    taken = Counter(entry["file"] for one in told for entry in one["released"])
    taken += Counter(name for one in told for name in one["waiting"])
    assert taken == Counter(f"part{n:02d}.tsv" for n in range(20))
    assert_nothing_lost_or_doubled(site, QUERIES)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["sensitive", "all"])
def test_twenty_batches_never_narrow_anybody(
    scope: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """No published row changes, and neither a release nor any two show fewer than k people."""
    k, seen = 4, dict[str, str]()
    header, rows = generated_lines(4000, 250, SEED)
    for number in range(20):
        part = rows[number * 200 : (number + 1) * 200]
        (site.inbox / f"part{number:02d}.tsv").write_text(header + "".join(part))
        code, told = site.run(capsys, "--k", str(k), "--scope", scope)
        assert code == 0
        now = content(site.out)
        assert {name: now[name] for name in seen} == seen
        seen = now
        assert_rows_are_shared(site, k)
    assert_nothing_lost_or_doubled(site, 4000)
    share = told["released"][0]["waiting_share"]
    assert share == site.waiting() / 4000
    assert share < 0.6


def assert_rows_are_shared(site: Site, k: int) -> None:
    """Counted here once more, by nothing but the files and the side tables."""
    together: dict[str, set[int]] = {}
    for path in site.releases():
        alone: dict[str, set[int]] = {}
        users = provenance_of(site.store, path).users.tolist()
        for row, user in zip(path.read_text().splitlines()[1:], users, strict=True):
            alone.setdefault(row, set()).add(user)
            together.setdefault(row, set()).add(user)
        assert all(len(people) >= k for people in alone.values())
    assert all(len(people) >= k for people in together.values())
