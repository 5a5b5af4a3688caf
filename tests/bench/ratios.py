"""The arithmetic of the benchmark: growth, ratios, limits. Numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

Seconds = Mapping[str, float]

PHASES: Final = ("read", "analyse", "compare", "cluster", "redact", "measure", "write", "verify")
COMPUTE: Final = ("analyse", "compare", "cluster", "redact", "measure")
TENFOLD_LIMIT: Final = 12.0
"""Issue 5: ten times the queries take at most so many times the time."""


def ratio(part: float, whole: float) -> float | None:
    """How much of the whole a part is; None where there is nothing to divide by."""
    return round(part / whole, 4) if whole else None


def with_sums(seconds: Seconds) -> dict[str, float]:
    """Seconds of the phases, of those that compute, and in total."""
    return {**seconds, "compute": round(sum(seconds[phase] for phase in COMPUTE), 3)}


def less_wordnet(seconds: Seconds, wordnet: Seconds) -> dict[str, float]:
    """A cold run's seconds without those in which WordNet is found and compiled.

    They do not depend on the log: they would make growth and batches look better.

    Args:
        wordnet: how many there are in which phases.
    """
    computing = sum(wordnet[phase] for phase in wordnet if phase in COMPUTE)
    spent = {**wordnet, "compute": computing, "total": sum(wordnet.values())}
    less = {name: round(max(0.0, seconds[name] - extra), 3) for name, extra in spent.items()}
    return {**seconds, **less}


def growth(by_size: Mapping[int, Seconds]) -> list[dict[str, Any]]:
    """From each size to the next, how many times the seconds of each phase."""
    return [
        {
            "from": small,
            "to": large,
            "limit": growth_limit(small, large),
            "phases": {
                name: _growth_of(by_size[small][name], by_size[large][name], large / small)
                for name in by_size[small]
            },
        }
        for small, large in pairwise(sorted(by_size))
    ]


def growth_limit(small: int, large: int) -> float:
    """The limit for ten times as many queries, carried over to another step."""
    return round(math.pow(large / small, math.log10(TENFOLD_LIMIT)), 4)


def _growth_of(before: float, after: float, step: float) -> dict[str, float | None]:
    """The factor, and the exponent e in time ~ queries^e (log10 of the factor, if step is 10)."""
    if before <= 0 or after <= 0:
        return {"factor": None, "exponent": None}
    factor = after / before
    return {"factor": round(factor, 3), "exponent": round(math.log(factor, step), 3)}


def batch_ratios(cold: Mapping[str, Any], batch: Mapping[str, Any]) -> dict[str, float | None]:
    """What a batch costs, measured by the cold run of the whole; each has `pairs`, `seconds`."""

    def both(run: Mapping[str, Any]) -> float:
        return float(run["seconds"]["analyse"] + run["seconds"]["compare"])

    pairs = {
        f"{kind}_pairs": ratio(
            batch["pairs"][f"{kind}_computed"], cold["pairs"][f"{kind}_computed"]
        )
        for kind in ("attributes", "records")
    }
    return {
        **pairs,
        "analyse_and_compare": ratio(both(batch), both(cold)),
        "total": ratio(batch["seconds"]["total"], cold["seconds"]["total"]),
    }


def phase_ratios(one: Seconds, other: Seconds, phases: Sequence[str]) -> dict[str, float | None]:
    """For some phases, and for them together, the seconds of one run by those of another."""
    together = sum(one[phase] for phase in phases), sum(other[phase] for phase in phases)
    return {
        **{phase: ratio(one[phase], other[phase]) for phase in phases},
        "together": ratio(*together),
    }
