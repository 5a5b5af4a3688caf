"""What somebody learns from all public files, byte by byte and figure by figure, of one person.

The adversary holds two states of the public folder and knows the docs; nothing of the program is
used but its commands.
"""

from __future__ import annotations

import json
import random
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from flows.inbox import main as inbox
from flows.run import main as run
from tests.helpers.stores import prepared_store

HEADER = "AnonID\tQuery\tQueryTime\n"
ILLS = ("asthma", "pneumonia", "influenza", "diabetes", "gonorrhea", "cancer", "migraine")
THINGS = ("remedy", "symptoms", "hotel paris", "cheap flights", "weather tomorrow", "texas news")
Row = tuple[int, str]
K = 5


@pytest.fixture
def own_store(tmp_path: Path, store: Path) -> Path:
    return prepared_store(tmp_path / "store", store)


def some_rows(seed: int, rows: int, people: int, heavy: int) -> list[Row]:
    """Queries of two parts; person 0 asks far more than anybody."""
    dice = random.Random(seed)
    who = [0] * heavy + [1 + dice.randrange(people - 1) for _ in range(rows - heavy)]
    dice.shuffle(who)
    return [
        (person, f"{dice.choice(ILLS)} {dice.choice(THINGS)}")
        if dice.random() < 0.7
        else (person, f"{dice.choice(THINGS)} {person if dice.random() < 0.1 else ''}".strip())
        for person in who
    ]


def write_log(path: Path, rows: list[Row]) -> Path:
    moment = "2006-03-{:02d} 10:{:02d}:00"
    lines = (
        f"{who + 1000}\t{what}\t{moment.format(1 + place % 28, place // 28 % 60)}\n"
        for place, (who, what) in enumerate(rows)
    )
    path.write_text(HEADER + "".join(lines))
    return path


def all_bytes(folder: Path) -> dict[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else b"folder"
    return found


def site(tmp_path: Path, store: Path) -> tuple[Path, Path, list[str]]:
    folder, out = tmp_path / "inbox", tmp_path / "out"
    folder.mkdir()
    where = ["--inbox", str(folder), "--out", str(out), "--store", str(store)]
    return folder, out, [*where, "--settle", "0", "--bare", "--quiet"]


ONE_ROW = [(99, "gonorrhea remedy jane.doe@example.org please call")]


def test_one_more_row_that_is_not_published_changes_no_public_byte(
    tmp_path: Path, own_store: Path
) -> None:
    folder, out, options = site(tmp_path, own_store)
    write_log(folder / "a.tsv", some_rows(1, 300, 40, 30))
    assert inbox(options) == 0
    before = all_bytes(out)
    assert any(name.endswith("release.tsv") for name in before)
    write_log(folder / "b.tsv", ONE_ROW)
    assert inbox(options) == 0
    assert all_bytes(out) == before
    write_log(folder / "c.tsv", [(200 + n, "weather tomorrow") for n in range(6)])
    assert inbox(options) == 0
    names = {path.name for path in out.glob("edition-0001/*")}
    assert names - {".logveil.lock"} == {"release-0001", "release-0002"}, "numbers go on"


def test_a_first_file_of_which_nothing_is_published_leaves_no_folder(
    tmp_path: Path, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out, options = site(tmp_path, own_store)
    write_log(folder / "a.tsv", [*ONE_ROW, (1, "")])
    assert inbox([*options[:-1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["waiting"] == ["a.tsv"]
    assert [path for path in out.rglob("*") if not path.name.startswith(".")] == []
    (kept,) = (own_store / "unreleased").iterdir()
    assert (kept / "rejects.tsv").read_text().count("\n") == 2
    exact = json.loads((kept / "measures.json").read_text())
    told = [exact["records"][name] for name in ("read", "rejected", "published", "withheld")]
    assert told == [2, 1, 0, 1]
    write_log(folder / "b.tsv", [(200 + n, "gonorrhea remedy") for n in range(6)])
    assert inbox(options) == 0
    (released,) = out.glob("edition-0001/release-*/release.tsv")
    assert len(released.read_text().splitlines()) >= 7, "whoever waited is with the others"


def test_nothing_is_left_where_nothing_can_be_released(tmp_path: Path, own_store: Path) -> None:
    log, out = write_log(tmp_path / "log.tsv", ONE_ROW), tmp_path / "out"
    assert run([str(log), "--bare", "--quiet", "--store", str(own_store), "--out", str(out)]) == 4
    assert not out.exists() or all(path.name.startswith(".") for path in out.iterdir())


def figures(section: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from figures(value, f"{before}{name}.")
        else:
            yield before + name, value


def public_figures(tmp_path: Path, store: Path, rows: list[Row], name: str) -> dict[str, Any]:
    log, out = write_log(tmp_path / f"{name}.tsv", rows), tmp_path / name
    assert run([str(log), "--bare", "--quiet", "--store", str(store), "--out", str(out)]) == 0
    return dict(figures(json.loads((out / "measures.json").read_text())))


SERIES = [first * 10**power for power in range(8) for first in (1, 2, 5)]
STEPS = {
    **dict.fromkeys(("records", "withheld_by_reason", "attributes", "identifiers"), 10 * K),
    **{"users": K, "words": 100 * K, "shares": 0.05, "information": 5},
    **{"information_loss": 10, "risk": 0.05, "diversity": 0.5},
}
"""As docs/measures.md has them."""


def steps_between(name: str, one: float | None, other: float | None) -> float:
    """How many roundings two values of a figure are apart."""
    if one == other:
        return 0
    section = name.partition(".")[0]
    if section in ("clusters", "figures") or name in (
        *("diversity.sensitive_classes", "diversity.homogeneous_classes"),
        *("diversity.homogeneous_rows", "risk.partial_knowledge.one_term_mean"),
        *("risk.partial_knowledge.two_terms_mean", "records.rejected"),
    ):
        least = [value for value in SERIES if value >= (10 if "reject" in name else 1) * K]
        places = [-1 if value is None else least.index(int(value)) for value in (one, other)]
        return abs(places[0] - places[1])
    step = 20 if name.startswith("information.by_topic") else STEPS[section]
    return abs((one or 0) - (other or 0)) / step


def moved_too_far(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {
        name: (before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if not name.startswith(("settings", "versions", "rounded"))
        and steps_between(name, before.get(name), after.get(name)) > 1.001
    }


def assert_hidden(tmp_path: Path, store: Path, seed: int, people: list[int]) -> None:
    rows = some_rows(seed, 3000, 250, 600)
    before = public_figures(tmp_path, store, rows, "all")
    assert before["shares.published"] is not None
    for gone in people:
        rest = [row for row in rows if row[0] != gone]
        after = public_figures(tmp_path, store, rest, f"without{gone}")
        assert moved_too_far(before, after) == {}, gone


def test_whoever_is_removed_moves_no_figure_by_more_than_its_rounding(
    tmp_path: Path, own_store: Path
) -> None:
    """A fifth of all rows is one person's."""
    assert_hidden(tmp_path, own_store, 1, [0, 7])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_many_removals_from_several_logs(tmp_path: Path, own_store: Path, seed: int) -> None:
    dice = random.Random(seed)
    assert_hidden(tmp_path, own_store, seed, [0, *dice.sample(range(1, 250), 9)])


def test_exact_figures_lie_in_the_store_for_its_owner_alone(
    tmp_path: Path, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*some_rows(5, 300, 40, 30), (7, "")]
    log, out = write_log(tmp_path / "log.tsv", rows), tmp_path / "out"
    assert run([str(log), "--bare", "--json", "--store", str(own_store), "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    (kept,) = (own_store / "releases").glob("*/measures.json")
    assert json.loads(kept.read_text()) == printed
    for path in (kept, kept.with_name("report.html")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    records = printed["records"]
    assert records["read"] == 301
    assert records["read"] == records["published"] + records["withheld"] + records["rejected"]
    assert printed["users"]["read"] == len({who for who, _ in rows})
    public = json.loads((out / "measures.json").read_text())
    own = Counter(who for who, what in rows if what)
    assert public["records"]["read"] == sum(min(50, n) for n in own.values()) // 50 * 50
    assert public["users"]["read"] == len(own) // K * K
    page = (out / "report.html").read_text()
    assert "public edition" in page
    assert "internal edition" in kept.with_name("report.html").read_text()
