"""The same event twice, and people who return: judged by own code from logs, releases and audit."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from flows.inbox import main
from flows.run import main as run
from flows.verify import main as verify
from tasks.core.records import Flags, Longs
from tasks.phases import cluster as cluster_phase
from tests.helpers.stores import prepared_store

K = 5
HEADER = "AnonID\tQuery\tQueryTime\n"
Row = tuple[str, str, str]
"""Person, text, time."""
WORDS = ("flu", "cancer", "asthma", "diabetes", "depression", "migraine", "cheap", "hotel")


def content_of(rows: list[Row]) -> str:
    return HEADER + "".join("\t".join(row) + "\n" for row in rows)


def rows_in(file: Path) -> list[Row]:
    """What stands in a log; the first row below the header is row 2 of the file."""
    packed = file.read_bytes()
    text = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
    lines = text.decode().splitlines()[1:]
    return [(user, query, time) for user, query, time in (line.split("\t") for line in lines)]


class Site:
    """An inbox, its edition and its store, seen from outside."""

    def __init__(self, folder: Path, store: Path) -> None:
        self.inbox, self.out, self.store = folder / "inbox", folder / "out", folder / "store"
        self.audit = folder / "audit.parquet"
        self.inbox.mkdir(parents=True)
        prepared_store(self.store, store)

    def options(self, *more: str) -> list[str]:
        folders = ["--inbox", str(self.inbox), "--out", str(self.out), "--store", str(self.store)]
        return [*folders, "--settle", "0", "--bare", "--json", "--k", str(K), *more]

    def give(self, name: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        (self.inbox / name).write_bytes(data)

    def run(self, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
        """The releases that were made; of a file that publishes nothing there is none."""
        released: list[dict[str, Any]] = self.told(capsys, *more)["released"]
        return released

    def told(self, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(self.options(*more)) == 0
        told: dict[str, Any] = json.loads(capsys.readouterr().out)
        return told

    def audited(self, edition: int = 1) -> list[dict[str, Any]]:
        """One line for each row of each file, with its event."""
        folder = self.out / f"edition-{edition:04d}"
        known = ["--store", str(self.store), "--audit", str(self.audit)]
        assert verify([str(folder), *known]) == 0
        lines: list[dict[str, Any]] = pq.read_table(self.audit).to_pylist()
        done = {path.name: rows_in(path) for path in (self.inbox / "done").iterdir()}
        # A file is called as it was when a release was first made of it.
        texts = done | {name.partition("-")[2]: rows for name, rows in done.items()}
        for line in lines:
            line["event"] = texts[Path(line["file"]).name][line["row"] - 2]
        return lines


@pytest.fixture
def site(tmp_path: Path, store: Path) -> Site:
    return Site(tmp_path, store)


def log_of(seed: int, *, rows: int = 150, people: int = 25) -> list[Row]:
    dice = random.Random(seed)
    return [
        (
            f"u{dice.randrange(people)}",
            " ".join(dice.sample(WORDS, dice.choice((1, 1, 2)))),
            f"2006-03-{dice.randrange(1, 29):02d} 10:{dice.randrange(60):02d}:00",
        )
        for _ in range(rows)
    ]


def most_in_a_file(files: list[list[Row]]) -> Counter[Row]:
    most: Counter[Row] = Counter()
    for rows in files:
        most |= Counter(rows)
    return most


def test_the_same_events_in_other_files_are_known(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sorted anew, packed, overlapping, with other signs between the words: an event comes out
    once; real repeats in a file stay."""
    first, more = log_of(1), log_of(2)
    first += [first[0], first[0], ("u1", "flu", "2006-03-01 10:00:00")]
    overlap = [*first[:100], *more]
    spelt = [(user, f'  "{query.upper()}"? ', time) for user, query, time in first]
    site.give("1.tsv", content_of(first))
    site.give("2.tsv", content_of(sorted(first)))
    site.give("3.tsv.gz", gzip.compress(content_of(first[::-1]).encode()))
    site.give("4.tsv", content_of(spelt))
    site.give("5.tsv", content_of(overlap))
    outcome = site.told(capsys)
    released, most = outcome["released"], most_in_a_file([first, overlap])
    assert [entry["file"] for entry in released] == ["1.tsv", "5.tsv"], (
        "the others tell nothing new"
    )
    assert [entry["records"]["known"] for entry in released] == [0, 100]
    assert outcome["known_rows"] == 3 * len(first) + 100
    lines = site.audited()
    told = Counter(line["event"] for line in lines if line["release_row"] is not None)
    assert told
    assert told <= most, "published more often than any file has it"
    known = sum((line["reason"] or "").startswith("known: ") for line in lines)
    assert known == 100
    waiting = sum(line["release_row"] is None for line in lines) - known
    assert sum(told.values()) + waiting == sum(most.values())
    assert released[-1]["waiting"] == waiting


def test_files_of_one_run_that_overlap_count_once(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = log_of(3, rows=300)
    (tmp_path / "a.tsv").write_text(content_of(rows[:200]))
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(content_of(rows[100:]).encode()))
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "log.tsv").write_text(content_of(rows))
    outs = [tmp_path / "parts", tmp_path / "one"]
    logs = [[str(tmp_path / "a.tsv"), str(tmp_path / "b.tsv.gz")], [str(tmp_path / "whole")]]
    known = ["--store", str(store), "--bare", "--json", "--k", str(K)]
    found = []
    for out, log in zip(outs, logs, strict=True):
        capsys.readouterr()
        assert run([*log, "--out", str(out), *known]) == 0
        found.append(json.loads(capsys.readouterr().out)["records"])
    parts, one = found
    assert (parts["known"], one["known"]) == (100, 0)
    assert parts["read"] == parts["published"] + parts["withheld"] + parts["rejected"] == 400
    assert parts["published"] == one["published"]
    tables = [(out / "release.tsv").read_bytes() for out in outs]
    assert tables[0] == tables[1]


def test_a_new_edition_counts_an_event_once_and_so_does_what_is_added(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = log_of(4)
    site.give("a.tsv", content_of(rows[:100]))
    site.give("b.tsv", content_of(rows[50:]))
    (entry,) = site.run(capsys, "--edition", "new")
    assert entry["records"]["known"] == 50
    site.give("c.tsv", content_of(sorted(rows)))
    outcome = site.told(capsys)
    assert (outcome["known_rows"], outcome["waiting"]) == (len(rows), ["c.tsv"])


def people_left(lines: list[dict[str, Any]], site: Site) -> list[int]:
    """People that all classes of one person's query share, where there are several.

    Rows of one release that read alike are one class.
    """
    cells: dict[str, list[str]] = {}
    for folder in sorted((site.out / "edition-0001").glob("release-*")):
        cells[folder.name] = (folder / "release.tsv").read_text().splitlines()[1:]
    members, asked = defaultdict[Any, set[str]](set), defaultdict[Any, set[Any]](set)
    for line in lines:
        if line["release_row"] is not None:
            own = (line["release"], cells[line["release"]][line["release_row"] - 1])
            user, query, _ = line["event"]
            members[own].add(user)
            asked[user, query].add(own)
    several = [own for own in asked.values() if len(own) > 1]
    return [len(set.intersection(*(members[number] for number in own))) for own in several]


def ask(people: range, text: str, day: int) -> list[Row]:
    return [(f"u{number}", text, f"2006-03-{day:02d} 10:00:00") for number in people]


@pytest.mark.parametrize("again", ["lung cancer", "Lung-cancer?", '"lung,cancer"'])
def test_whoever_returns_stands_with_the_same_people_or_waits(
    again: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """However they spell it: signs are not published, so the rows read alike."""
    site.give("1.tsv", content_of(ask(range(6), "lung cancer", 1)))
    site.give("2.tsv", content_of(ask(range(4, 10), again, 2)))
    site.give("3.tsv", content_of(ask(range(6), "lung cancer", 3)))
    outcome = site.told(capsys)
    # Of those who come second, 4 and 5 came before, with others than now: four are left, who wait.
    first, third = outcome["released"]
    assert (first["records"]["published"], outcome["waiting"]) == (6, ["2.tsv"])
    # Then the first six are there again, and whoever waited stands with them.
    assert third["records"]["published"] == 12
    risk = third["intersection_with_earlier"]
    assert (risk["records"], risk["least"], risk["below_k"]) == (6, 6, 0.0)
    assert people_left(site.audited(), site) == [6] * 6


def test_one_query_in_two_spellings_stands_in_one_class(store: Path, tmp_path: Path) -> None:
    """One release: six people in March, six others in April, and one of each month in both."""
    rows = [*ask(range(6), "lung cancer", 1), *ask(range(6, 12), "lung cancer", 1)]
    rows = [(who, what, f"2006-0{3 + (place > 5)}-01") for place, (who, what, _) in enumerate(rows)]
    rows += [("u0", "lung-cancer!", "2006-04-02"), ("u6", "lung, cancer", "2006-03-02")]
    (tmp_path / "log.tsv").write_text(content_of(rows))
    given = [str(tmp_path / "log.tsv"), "--bare", "--quiet", "--k", str(K), "--store", str(store)]
    assert run([*given, "--out", str(tmp_path / "out")]) == 0
    lines = (tmp_path / "out" / "release.tsv").read_text().splitlines()[1:]
    audit = tmp_path / "audit.parquet"
    assert verify([str(tmp_path / "out"), "--store", str(store), "--audit", str(audit)]) == 0
    told = defaultdict[str, set[str]](set)
    for line in pq.read_table(audit).to_pylist():
        if line["release_row"] is not None:
            told[rows[line["row"] - 2][0]].add(lines[line["release_row"] - 1])
    assert len(told["u1"] | told["u7"]) == 2, "months are told"
    assert (len(told["u0"]), len(told["u6"])) == (1, 1)


@pytest.mark.parametrize("options", [(), ("--dominance", "0.3", "--l", "2")])
def test_intersecting_all_releases_leaves_k_people(
    options: tuple[str, ...], site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if other limits withhold rows of a class."""
    for number in range(4):
        site.give(f"{number}.tsv", content_of(log_of(10 + number, rows=250)))
    released = site.run(capsys, *options)
    left = people_left(site.audited(), site)
    assert len(left) > 20, "nobody returns: this proves nothing"
    assert min(left) >= K
    risks = [entry["intersection_with_earlier"] for entry in released]
    assert risks[0]["records"] == 0
    assert all(risk["records"] > 0 and risk["below_k"] == 0 for risk in risks[1:])


def stay(classes: Longs, company: object, *, k: int) -> tuple[Longs, Flags]:
    """Nobody leaves."""
    return classes, np.zeros(len(classes), dtype=np.bool_)


def test_the_checker_finds_who_is_narrowed_by_itself(
    site: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_phase, "keep_company", stay)
    monkeypatch.setattr(
        cluster_phase, "never_enough", lambda company, k: np.zeros(len(company.met_of), np.bool_)
    )
    site.give("1.tsv", content_of(ask(range(6), "lung cancer", 1)))
    site.give("2.tsv", content_of(ask(range(4, 10), "lung cancer", 2)))
    assert main(site.options()) == 5
    told = json.loads(capsys.readouterr().out)
    (reason,) = told["failed"].values()
    # Of persons 4 and 5, a row each in either release.
    assert (
        "all rows of one person's query have at least 5 people (column AnonID) in common" in reason
    )
    assert "broken by 4 rows" in reason
    assert len(told["released"]) == 1


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--columns", "time=Query"), "columns was {}"),
        (("--format", "tsv"), "format was auto"),
        (("--person", "row"), "person was "),
        (("--exact-ids",), "exact_ids was False"),
        (("--dominance", "0.4"), "dominance was 0.5"),
    ],
)
def test_what_is_read_as_what_is_part_of_an_edition(
    site: Site, option: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.give("1.tsv", content_of(ask(range(6), "lung cancer", 1)))
    site.run(capsys)
    site.give("2.tsv", content_of(ask(range(6), "asthma", 2)))
    assert main(site.options(*option)) == 2
    assert said in capsys.readouterr().err
    assert (site.inbox / "2.tsv").exists()


def test_a_file_that_tells_people_apart_by_another_column_is_put_aside(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.give("1.tsv", content_of(ask(range(6), "lung cancer", 1)))
    site.run(capsys)
    site.give("2.tsv", content_of(ask(range(6), "asthma", 2)).replace("AnonID", "UserID"))
    assert main(site.options()) == 3
    (reason,) = json.loads(capsys.readouterr().out)["failed"].values()
    assert "counts people (column AnonID), this file people (column UserID)" in reason
    assert len(list((site.out / "edition-0001").iterdir())) == 1


def make_it_an_edition_of_version_0_1(store: Path) -> None:
    with closing(sqlite3.connect(store / "ledger.sqlite3")) as ledger:
        ((settings,),) = ledger.execute("SELECT settings FROM editions").fetchall()
        old = {name: own for name, own in json.loads(settings).items() if name != "columns"}
        ledger.execute("UPDATE editions SET settings = ?", (json.dumps(old),))
        ledger.execute("DROP TABLE events")
        ledger.execute("DROP TABLE counts")
        ledger.execute("PRAGMA user_version = 1")
        ledger.commit()


def test_an_edition_of_version_0_1_is_not_added_to(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.give("1.tsv", content_of(ask(range(6), "lung cancer", 1)))
    site.run(capsys)
    make_it_an_edition_of_version_0_1(site.store)
    site.give("2.tsv", content_of(ask(range(6), "asthma", 2)))
    assert main(site.options()) == 2
    said = capsys.readouterr().err
    assert "begun by an earlier logveil" in said
    assert "--edition new" in said
    (entry,) = site.run(capsys, "--edition", "new")
    assert (entry["number"], entry["records"]["published"]) == (2, 12)
    assert "intersection_with_earlier" not in entry
