"""The whole path on logs of nasty shapes: verified strict for every k, or a clear refusal."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.errors import NothingToRelease
from tasks.settings import Settings
from tests.helpers.releases import released

TOPICS = (
    "lung cancer|flu|pneumonia treatment|new york|paris hotels|abortion clinic|catholic church|"
    "divorce lawyer|cheap flights|yahoo mail|how to fix a bicycle|marijuana|hiv test|john smith|"
    "jane@example.org|bankruptcy|used car|weather|baby names|heart attack symptoms|the|of|a"
)
TERMS = tuple(TOPICS.split("|"))

Row = tuple[int, str]


def few_people_many_queries(dice: random.Random) -> list[Row]:
    return [(dice.randrange(6), " ".join(dice.sample(TERMS, 2))) for _ in range(300)]


def many_people_one_query(dice: random.Random) -> list[Row]:
    return [(user, dice.choice(TERMS)) for user in range(200)]


def all_the_same(dice: random.Random) -> list[Row]:
    return [(user, "lung cancer treatment") for user in range(40)]


def all_different(dice: random.Random) -> list[Row]:
    return [(user, f"word{user} {dice.choice(TERMS)} other{user}") for user in range(120)]


def mixed(dice: random.Random) -> list[Row]:
    heavy = [(0, " ".join(dice.sample(TERMS, 3))) for _ in range(150)]
    return heavy + [(dice.randrange(60), dice.choice(TERMS)) for _ in range(150)]


SHAPES = [few_people_many_queries, many_people_one_query, all_the_same, all_different, mixed]


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("shape", SHAPES)
def test_strict_holds_on_any_log(
    shape: Callable[[random.Random], list[Row]], k: int, store: Path, tmp_path: Path
) -> None:
    dice = random.Random(k)
    lines = ["AnonID\tQuery\tQueryTime"]
    for user, query in shape(dice):
        day, hour = dice.randrange(1, 29), dice.randrange(24)
        lines.append(f"{user}\t{query}\t2006-03-{day:02d} {hour:02d}:15:00")
    (tmp_path / "log.tsv").write_text("\n".join(lines) + "\n")
    settings = Settings(
        logs=(str(tmp_path / "log.tsv"),),
        out=str(tmp_path / "out"),
        store=str(store),
        k=k,
        scope=dice.choice(["sensitive", "all"]),
        method=dice.choice(["adaptive", "mdav", "vmdav", "paper"]),
    )
    try:
        _, measures = released(settings)
    except NothingToRelease:
        assert not any((tmp_path / "out").glob("*"))
        return
    assert measures["verified"] is True
    assert measures["risk"]["least_people"] >= k
    assert measures["risk"]["released_worst"] <= 0.5
    assert measures["clusters"]["min_users"] >= k or measures["clusters"]["count"] == 0
    rows = (tmp_path / "out" / "release.tsv").read_text().splitlines()[1:]
    assert len(rows) == measures["records"]["published"]
    assert min(rows.count(row) for row in set(rows)) >= k
    assert not any("john" in row or "example" in row for row in rows)
