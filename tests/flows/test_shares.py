"""One person's share of rows that read alike, and how they differ in what is sensitive.

Seen by an adversary who holds the release, and who is told by the private audit whether they were
right: nothing of the program is used but its commands.
"""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.inbox import main as inbox
from flows.run import main as run
from flows.verify import main as verify
from tests.helpers.figures import internal_report
from tests.helpers.stores import prepared_store

HEADER = "AnonID\tQuery\tQueryTime\n"
Row = tuple[str, str]
Behind = dict[str, Counter[int]]
"""Rows that read alike, and how many of them each person has."""


@pytest.fixture
def own_store(tmp_path: Path, store: Path) -> Path:
    return prepared_store(tmp_path / "store", store)


def write_log(path: Path, rows: list[Row]) -> Path:
    lines = (
        f"{who}\t{what}\t2006-03-01 10:{i % 60:02d}:00\n" for i, (who, what) in enumerate(rows)
    )
    path.write_text(HEADER + "".join(lines))
    return path


def behind(out: Path, store: Path, audit: Path) -> Behind:
    """Who stands behind the rows, by joining the files alone."""
    assert verify([str(out), "--store", str(store), "--audit", str(audit)]) == 0
    lines = (out / "release.tsv").read_text().splitlines()[1:]
    found: Behind = defaultdict(Counter)
    for line in pq.read_table(audit).to_pylist():
        if line["release_row"] is not None:
            found[lines[line["release_row"] - 1]][line["person"]] += 1
    return found


def released(tmp_path: Path, store: Path, rows: list[Row], *options: str) -> tuple[Behind, Any]:
    log, out = write_log(tmp_path / "log.tsv", rows), tmp_path / "out"
    told = ["--bare", "--json", "--store", str(store), "--out", str(out), *options]
    with redirect_stdout(io.StringIO()) as printed:
        assert run([str(log), *told]) == 0
    return behind(out, store, tmp_path / "audit.parquet"), json.loads(printed.getvalue())


HEAVY = [("1", "weather tomorrow")] * 300 + [(str(n), "weather tomorrow") for n in range(2, 6)]


def worst_share(found: Behind) -> float:
    return max(max(people.values()) / people.total() for people in found.values())


@pytest.mark.parametrize("guarantee", ["strict", "terms"])
def test_nobody_has_most_of_the_rows_that_read_alike(
    tmp_path: Path, own_store: Path, guarantee: str
) -> None:
    rows = HEAVY if guarantee == "strict" else [(who, "influenza remedy") for who, _ in HEAVY]
    found, measures = released(tmp_path, own_store, rows, "--guarantee", guarantee)
    assert worst_share(found) <= 0.5
    (people,) = found.values()
    assert len(people) == 5
    assert people.total() == 8
    reason = "one person would have too many of the rows that read alike"
    assert measures["withheld_by_reason"] == {reason: 296}
    assert measures["risk"]["released_worst"] == 0.5


def test_the_measured_risk_sees_who_has_most_rows(tmp_path: Path, own_store: Path) -> None:
    found, measures = released(tmp_path, own_store, HEAVY, "--dominance", "1")
    assert worst_share(found) == measures["risk"]["released_worst"] == 300 / 304
    assert measures["risk"]["least_people"] == 5


def test_a_share_that_k_people_cannot_keep_is_refused(
    tmp_path: Path, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_log(tmp_path / "log.tsv", HEAVY)
    for share in ("0", "1.5", "0.19"):
        assert run([str(log), "--bare", "--store", str(own_store), "--dominance", share]) == 2
        assert "dominance must be" in capsys.readouterr().err


def test_releases_of_an_edition_are_limited_one_by_one(tmp_path: Path, own_store: Path) -> None:
    """And what was too much waits: it may find others later."""
    folder, out = tmp_path / "inbox", tmp_path / "out"
    folder.mkdir()
    where = ["--inbox", str(folder), "--out", str(out), "--store", str(own_store)]
    for day, people in enumerate((range(1, 6), range(6, 12))):
        rows = HEAVY[:50] + [(str(n), "weather tomorrow") for n in people]
        write_log(folder / f"day{day}.tsv", [(who, f"{what}{' now' * day}") for who, what in rows])
        assert inbox([*where, "--settle", "0", "--bare", "--quiet"]) == 0
    releases = sorted(out.glob("edition-*/release-*"))
    for number, one in enumerate(releases):
        assert worst_share(behind(one, own_store, tmp_path / f"audit{number}")) <= 0.5
    assert verify([str(out / "edition-0001"), "--store", str(own_store)]) == 0
    other = [*where, "--settle", "0", "--bare", "--quiet", "--dominance", "0.9"]
    write_log(folder / "more.tsv", HEAVY)
    assert inbox(other) == 2


ONE_SUPPLIER = [
    *[("1", f"{ill} help") for ill in ("influenza", "asthma", "pneumonia")],
    *[(str(n), "influenza help") for n in range(2, 6)],
]


def test_one_person_alone_does_not_supply_the_diversity(tmp_path: Path, own_store: Path) -> None:
    """Four people of five asked for one illness, the fifth for three illnesses: three sets are
    there, but no three people with different ones."""
    log, out = write_log(tmp_path / "log.tsv", ONE_SUPPLIER), tmp_path / "out"
    told = [str(log), "--bare", "--quiet", "--store", str(own_store), "--out", str(out)]
    assert run([*told, "--l", "3"]) == 4
    assert not out.exists() or not list(out.iterdir())
    assert run([*told, "--l", "2"]) == 0
    raw = log.read_text().splitlines()
    assert verify([str(out), "--store", str(own_store), "--audit", str(tmp_path / "audit")]) == 0
    held = {
        (line["person"], raw[line["row"] - 1].split("\t")[1])
        for line in pq.read_table(tmp_path / "audit").to_pylist()
        if line["release_row"] is not None
    }
    asked_other = {person for person, query in held if query != "influenza help"}
    asked_first = {person for person, query in held if query == "influenza help"}
    assert asked_other
    assert asked_first - asked_other


def test_homogeneous_rows_are_told_in_words(tmp_path: Path, own_store: Path) -> None:
    people = [str(n) for n in range(1, 6)]
    rows = [(one, ask) for ask in ("influenza", "weather now") for one in people]
    for scope in ("sensitive", "all"):
        _, measures = released(tmp_path, own_store, rows, "--scope", scope, "--replace")
        found = measures["diversity"]
        assert (found["sensitive_classes"], found["homogeneous_classes"]) == (1, 1)
        assert found["homogeneous_rows"] == 5
        page = internal_report(own_store, tmp_path / "out")
        assert "different rows whose people all hold something sensitive" in " ".join(page.split())
        listed = page.partition("Homogeneous rows (internal)")[2].partition("</table>")[0]
        assert listed.count('<th scope="row">influenza</th>') == 1
        assert "weather" not in listed


def test_rounded_classes_show_no_single_row(tmp_path: Path, own_store: Path) -> None:
    """The attack: count the rows that read alike, with and without one account more."""
    counts = {}
    for more in (0, 1):
        rows = [
            *[(str(n), "weather tomorrow") for n in range(1, 8 + more)],
            *[("1", "cheap flights")] * 9,
            *[(str(n), "cheap flights") for n in range(2, 8)],
        ]
        found, measures = released(tmp_path, own_store, rows, "--rounding", "--replace")
        counts[more] = {row: people.total() for row, people in found.items()}
        assert all(size % 5 == 0 for size in counts[more].values())
        assert all(len(people) >= 5 for people in found.values())
        assert worst_share(found) <= 0.5
        withheld = measures["withheld_by_reason"]
        assert withheld["rows that read alike are rounded down in number"] >= 2
    assert counts[0] == counts[1]
    assert sorted(counts[0].values()) == [5, 10]


def test_rounding_is_of_strict_releases(tmp_path: Path, own_store: Path) -> None:
    log = write_log(tmp_path / "log.tsv", HEAVY)
    told = [str(log), "--bare", "--quiet", "--store", str(own_store), "--rounding"]
    assert run([*told, "--guarantee", "terms"]) == 2
    folders = ["--inbox", str(tmp_path), "--out", str(tmp_path / "out"), *told[1:]]
    assert inbox(folders) == 2, "an edition that grows needs everybody of its earlier rows"
