"""What came of an attack: how often it was tried, how often it succeeded, and what that means."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from scipy.stats import beta

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Trial:
    """An attack tried many times.

    Attributes:
        attack: what is tried.
        assumed: what the attacker knows or does.
        tries, successes: a guess among n people counts as 1/n of a success.
        chance: the rate of an attacker without the release.
        bound: the rate that a release may allow.
        promised: whether strict promises the bound; else the attack is measured only.
    """

    attack: str
    assumed: str
    tries: int
    successes: float
    chance: float
    bound: float
    promised: bool = True

    @property
    def rate(self) -> float:
        """The share of tries that succeeded; 0 if there was none."""
        return self.successes / self.tries if self.tries else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's interval, which takes parts of successes and is never too short."""
        tail, missed = (1 - CONFIDENCE) / 2, self.tries - self.successes
        low = float(beta.ppf(tail, self.successes, missed + 1)) if self.successes > 0 else 0.0
        high = float(beta.ppf(1 - tail, self.successes + 1, missed)) if missed > 0 else 1.0
        return low, high

    @property
    def succeeds(self) -> bool:
        """Whether the rate is above the bound beyond doubt: the whole interval is."""
        return self.tries > 0 and self.interval[0] > self.bound

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if not self.tries:
            return "no try"
        if self.succeeds:
            return "SUCCEEDS" if self.promised else "succeeds, out of scope"
        return "held"

    def figures(self) -> dict[str, Any]:
        """All of it for JSON."""
        own = {"rate": self.rate, "interval": self.interval, "verdict": self.verdict}
        return asdict(self) | own


def table(trials: list[Trial]) -> str:
    """One line a trial."""
    head = ("attack", "assumed", "tries", "successes", "rate", "95 %", "chance", "bound", "verdict")
    rows = [head, *map(_cells, trials)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    texts = (0, 1, 8)
    lines = [
        "  ".join(
            cell.ljust(width) if place in texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _cells(trial: Trial) -> tuple[str, ...]:
    low, high = trial.interval
    return (
        trial.attack,
        trial.assumed,
        f"{trial.tries:,}",
        f"{trial.successes:,.1f}",
        f"{trial.rate:.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{trial.chance:.3f}",
        f"{trial.bound:.3f}",
        trial.verdict,
    )
