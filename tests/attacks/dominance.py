"""Dominance: who wrote a row? ((n, k) dominance rule of statistical disclosure control.)

Attacker: knows who searched most (a colleague who asks for one thing all day), takes any row of the
release and says that it is theirs who wrote most of those that look the same. Without knowing who
wrote most, they are right once in as many times as there are people behind the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.attacks.evidence import Evidence
from tests.attacks.trials import Trial

USUAL_SHARE: Final = 0.5
"""No person has more than this share of a class's rows, unless the release says another."""


def dominance(evidence: Evidence) -> Iterator[Trial]:
    """For each row, and for each class of rows."""
    share = float(evidence.settings.get("dominance") or USUAL_SHARE)
    rows = evidence.records.groupby("cls").size()
    heaviest = evidence.records.groupby(["cls", "person"]).size().groupby("cls").max()
    chance = float((rows / evidence.people()).sum() / rows.sum())
    named = int(heaviest.sum())
    yield Trial("dominance", "knows who wrote most", int(rows.sum()), named, chance, share)
    over = int((heaviest > share * rows).sum())
    yield Trial("dominance", f"classes: one wrote more than {share}", len(rows), over, 0.0, 0.0)
