"""Sybils: did they ask it, and when? (Douceur 2002; Machanavajjhala's k - 1 accomplices.)

Attacker: owns k - 1 accounts and suspects that somebody asked one query. Before the release is made
they ask it themselves with every account; if the query is published, a k-th person asked it. To
learn *when*, they ask it within one hour, and see whether that hour is published. No guarantee that
counts people withstands this: it is out of scope of strict, and measured. Chance is a coin's.

Each of many attackers has accounts of their own, and all act on one log. The queries are drawn, and
every second suspicion is wrong.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attacks.evidence import MONTH, read_release
from tests.attacks.releasing import Releaser, Row
from tests.attacks.trials import Trial

FIRST_ACCOUNT: Final = 90_000_000
HOUR: Final = 13
FINEST: Final = {"month": MONTH, "hour": HOUR}
"""Characters of a time that tell its month and its hour: 2006-03-01 10."""
COIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Somebody's query, the hour that is suspected, and whether the suspicion is right."""

    row: Row
    hour: str
    right: bool


def sybil(rows: Sequence[Row], make: Releaser, k: int, targets: int) -> Iterator[Trial]:
    """Whether a query was asked at all; in which hour, by the finest time that is published."""
    chosen = rare_rows(rows, targets)
    asked = [Suspicion(row, row[2][:HOUR], not at % 2) for at, row in enumerate(chosen)]
    wrong = {suspicion.row for suspicion in asked if not suspicion.right}
    log = [row for row in rows if row not in wrong] + planted(asked, k)
    told = published(make(log, "sybil", {"time": "month"}))
    guessed = sum((words(s.row[1]) in told) == s.right for s in asked)
    known = f"{k - 1} accounts"
    yield Trial("Sybil", f"{known}: asked at all?", len(asked), guessed, COIN, COIN, False)
    timed = [Suspicion(s.row, s.hour if s.right else _next_day(s.hour), s.right) for s in asked]
    log = [*rows, *planted(timed, k)]
    for finest in ("month", "hour"):
        told = published(make(log, f"sybil-{finest}", {"time": finest}))
        guessed = sum(_seen_then(told, s, FINEST[finest]) == s.right for s in timed)
        assumed = f"{known}: in this hour? published by {finest}"
        yield Trial("Sybil", assumed, len(timed), guessed, COIN, COIN, False)


def rare_rows(rows: Sequence[Row], most: int) -> list[Row]:
    """Queries of two or three words that only one person asked, once; one for each person."""
    askers: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        askers[row[1]].append(row)
    once = [own[0] for text, own in askers.items() if len(own) == 1 and _is_plain(text)]
    by_person = {row[0]: row for row in once}
    return random.Random(1).sample(sorted(by_person.values()), min(most, len(by_person)))


def _is_plain(text: str) -> bool:
    return 2 <= len(text.split()) <= 3 and text.replace(" ", "").isalpha()


def planted(suspicions: Sequence[Suspicion], k: int) -> list[Row]:
    """What the accounts ask."""
    return [
        (str(FIRST_ACCOUNT + k * number + account), s.row[1], f"{s.hour}:00:00")
        for number, s in enumerate(suspicions)
        for account in range(k - 1)
    ]


def _next_day(hour: str) -> str:
    """Another hour of the same month."""
    day = int(hour[8:10])
    return f"{hour[:8]}{day % 28 + 1:02}{hour[10:]}"


def words(text: str) -> frozenset[str]:
    """Words in any order."""
    return frozenset(text.split())


def published(folder: Path) -> dict[frozenset[str], set[str]]:
    """The times under which each set of words stands in a release."""
    told: defaultdict[frozenset[str], set[str]] = defaultdict(set)
    for row in read_release(folder).itertuples():
        told[words(row.query)].add(row.time)
    return dict(told)


def _seen_then(
    told: Mapping[frozenset[str], AbstractSet[str]], suspicion: Suspicion, finest: int
) -> bool:
    """Whether the query is published under the suspected time, as fine as times are published."""
    times = told.get(words(suspicion.row[1]), frozenset())
    return suspicion.hour[:finest] in {time.replace("T", " ") for time in times}
