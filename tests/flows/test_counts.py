"""`--counts dp`: what is written, kept and spent, in a folder of its own and over an edition."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flows import inbox, run, verify
from tasks.adapters import release_files
from tasks.core.measures import term_counts as count
from tasks.core.measures.term_counts import TermCounts
from tasks.core.records import RecordTable
from tasks.editions.ledger import open_ledger
from tasks.errors import UsageError
from tasks.phases import count as phase
from tasks.phases.count import Spending
from tasks.settings import Settings
from tests.helpers.generated import write_parts
from tests.helpers.stores import prepared_store

PRICE = (1.0, 1e-6)
COUNTED = ("--counts", "dp", "--delta", "1e-4")


@pytest.fixture
def own(store: Path, tmp_path: Path) -> Path:
    return prepared_store(tmp_path / "store", store)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a word and a concept so many people that no noise hides them, but once in a million."""
    (path,) = write_parts(tmp_path_factory.mktemp("log"), 1, queries=2500, users=800, seed=5)
    with path.open("a") as stream:
        for more in range(150):
            stream.write(f"9{more:07}\tinfluenza weather\t2006-03-01 10:00:00\t\t\n")
    return path


def released(store: Path, log: Path, out: Path, *options: str) -> int:
    places = ["--store", str(store), "--out", str(out)]
    return run.main([str(log), *places, "--bare", "--quiet", "--workers", "1", *options])


def counts_in(out: Path) -> list[tuple[str, str, int]]:
    head, *rows = (out / "counts.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "kind\tterm\tpeople"
    return [(kind, term, int(people)) for kind, term, people in (r.split("\t") for r in rows)]


def told(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "measures.json").read_text())["counts"]
    return found


def test_counts_are_told_once_and_never_paid_twice(
    own: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    assert released(own, log, out, *COUNTED, "--epsilon", "9") == 0
    counts = counts_in(out)
    assert {("word", "weather"), ("concept", "influenza.n.01")} <= {own[:2] for own in counts}
    assert min(people for _, _, people in counts) >= 5
    assert counts == sorted(counts)
    said = told(out)
    assert said["published"] is True
    assert (said["terms"], said["epsilon"], said["spent_epsilon"]) == (len(counts), 9.0, 9.0)
    manifest = json.loads((out / "manifest.json").read_text())
    assert "counts.tsv" in manifest["files"]
    assert any("differentially private" in promise for promise in manifest["promises"])
    report = " ".join((out / "report.html").read_text().split())
    assert f"{len(counts):,} words and concepts, ε = 9, δ = 0.0001" in report
    assert "release.tsv, measures and report are not" in report
    before = (out / "counts.tsv").read_bytes()
    # Another release of the same log tells the same counts; of another price they are refused.
    assert released(own, log, other, *COUNTED, "--epsilon", "9", "--time", "day") == 0
    assert (other / "counts.tsv").read_bytes() == before
    assert told(other)["spent_epsilon"] == 9.0
    assert released(own, log, tmp_path / "third", *COUNTED, "--epsilon", "1") == 2
    assert "is spent" in capsys.readouterr().err
    assert not (tmp_path / "third" / "release.tsv").exists()
    # Knowingly, and both prices stand there.
    more = ("--counts", "dp", "--epsilon", "1", "--budget", "10", "--delta", "2e-4", "--replace")
    assert released(own, log, out, *more) == 0
    assert told(out)["spent_epsilon"] == 10.0
    # A release without counts takes them away.
    assert released(own, log, out, "--replace") == 0
    assert not (out / "counts.tsv").exists()
    assert verify.main([str(out), "--store", str(own)]) == 0


def test_a_run_that_fails_after_noise_was_drawn_tells_the_same_later(
    own: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise UsageError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(release_files, "publish", fail)
        assert released(own, log, tmp_path / "out", *COUNTED, "--epsilon", "9") == 2
    with closing(sqlite3.connect(own / "ledger.sqlite3")) as ledger:
        ((drawn,),) = ledger.execute("SELECT content FROM counts").fetchall()
    assert released(own, log, tmp_path / "out", *COUNTED, "--epsilon", "9") == 0
    assert (tmp_path / "out" / "counts.tsv").read_bytes() == drawn


@pytest.mark.parametrize(
    ("content", "fault"),
    [("kind\tterm\tpeople\nword\tflu\t4\n", "fewer than 5"), ("word\tflu\n", "first line")],
)
def test_counts_that_were_changed_are_found(
    own: Path,
    log: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
    fault: str,
) -> None:
    out = tmp_path / "out"
    assert released(own, log, out, *COUNTED, "--epsilon", "9") == 0
    assert verify.main([str(out), "--store", str(own)]) == 0
    assert "counts.tsv: no count is below 5 people" in capsys.readouterr().out
    (out / "counts.tsv").write_text(content)
    assert verify.main([str(out), "--store", str(own)]) == 5
    said = capsys.readouterr()
    assert "counts.tsv: changed" in said.out + said.err
    assert fault in said.out + said.err


def test_an_edition_pays_for_each_release_until_its_budget_is_spent(
    own: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = write_parts(tmp_path / "inbox", 3, queries=4500, users=800, seed=6)
    counted = []

    def term_counts(table: RecordTable, *given: Any, **named: Any) -> TermCounts:
        counted.append(len(table))
        return count.term_counts(table, *given, **named)

    monkeypatch.setattr(phase, "term_counts", term_counts)
    options = ["--inbox", str(parts[0].parent), "--out", str(tmp_path / "out")]
    options += ["--store", str(own), "--settle", "0", "--bare", "--workers", "1"]
    assert inbox.main([*options, *COUNTED, "--epsilon", "4", "--budget", "8"]) == 0
    assert "no counts.tsv: the budget" in " ".join(capsys.readouterr().out.split())
    releases = sorted((tmp_path / "out" / "edition-0001").iterdir())
    assert [(folder / "counts.tsv").exists() for folder in releases] == [True, True, False]
    assert [told(folder)["spent_epsilon"] for folder in releases] == [4.0, 8.0, 8.0]
    assert told(releases[2])["published"] is False
    # Each file once: rows that have waited are not counted again.
    assert counted == [1500, 1500]
    assert [told(folder)["delta"] for folder in releases] == [5e-5, 5e-5, 0.0]
    assert verify.main([str(releases[0].parent), "--store", str(own)]) == 0
    # A new edition of the same files is of the same people.
    assert inbox.main([*options, "--edition", "new", *COUNTED, "--epsilon", "4"]) == 0
    (again,) = sorted((tmp_path / "out" / "edition-0002").iterdir())
    assert not (again / "counts.tsv").exists()


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"epsilon": 1.0}, "epsilon is for counts dp alone"),
        ({"counts": "dp", "delta": 1e-6}, "counts dp needs epsilon"),
        ({"counts": "dp", "epsilon": 1.0}, "counts dp needs delta"),
        ({"counts": "dp", "epsilon": 1.0, "delta": 0.1}, "less than one in as many"),
        ({"counts": "dp", "epsilon": 1.0, "delta": 1e-6, "budget": 0.5}, "at least epsilon"),
        ({"counts": "yes"}, "counts must be one of none, dp"),
    ],
)
def test_prices_that_make_no_sense_are_refused(said: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        Settings(**said)


def test_a_ledger_of_before_learns_to_keep_prices(tmp_path: Path) -> None:
    with open_ledger(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite3")) as connection:
        connection.executescript("DROP TABLE counts; PRAGMA user_version = 2;")
    with open_ledger(tmp_path) as ledger:
        book = ledger.book(None)
        assert book.spend(Spending("one", ["a", "b"], PRICE, b"told"), lambda spent: not spent)
        assert book.told("one") == (b"told", PRICE)
        assert book.spent(["b", "c"]) == [PRICE]
        assert not book.spent(["c"])
        assert not book.spend(Spending("two", ["a"], PRICE, b"more"), lambda spent: not spent)
        assert book.told("two") is None
