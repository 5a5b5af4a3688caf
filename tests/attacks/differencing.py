"""Differencing: what changes if one person is there? (Denning's trackers; membership inference.)

Attacker: holds a release and another of the same log without one person (an earlier edition, or
one they made themselves, for they know everybody else's rows), and compares what is public. Figures
must not tell: a count below k, or a difference smaller than k, shows that person alone. Rows do
tell, for they are counted exactly: that is said to be out of scope, and measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.attacks.evidence import read_figures, read_release
from tests.attacks.releasing import Releaser, Row
from tests.attacks.trials import Trial

OF_THE_MACHINE: Final = ("seconds", "peak_memory_mb", "peak_disk_mb")
"""Figures that no two runs have in common."""

FINEST_SHARE, FINEST_OTHER = 0.05, 0.5
"""What shares, and percentages and averages, are rounded to at the finest."""

Pair = tuple[Path, Path]
"""A release, and the same without one person."""


def differencing(pairs: Sequence[Pair], k: int) -> Iterator[Trial]:
    """For each pair of releases whether figures, and whether rows, tell the person."""
    told = sum(
        bool(telling_figures(read_figures(here), read_figures(there), k)) for here, there in pairs
    )
    yield Trial("differencing", "figures, one person left out", len(pairs), told, 0.0, 0.0)
    changed = sum(_rows(here) != _rows(there) for here, there in pairs)
    yield Trial("differencing", "rows, one person left out", len(pairs), changed, 0.0, 0.0, False)


def telling_figures(here: Mapping[str, Any], there: Mapping[str, Any], k: int) -> list[str]:
    """Names of the figures that tell one person."""
    ours, theirs = dict(leaves(here)), dict(leaves(there))
    return sorted(
        name for name in ours.keys() | theirs.keys() if tells(ours.get(name), theirs.get(name), k)
    )


def tells(here: float | None, there: float | None, k: int) -> bool:
    """Whether one person can be read off two values of one figure.

    A count tells somebody if it moves by less than k, or is below k; a share or an average, if it
    moves by less than what such figures are rounded to. None: the figure is not published.
    """
    known = [value for value in (here, there) if value is not None]
    if len(known) < 2 or here == there:
        return len(known) == 1 and isinstance(known[0], int) and known[0] < k
    moved = abs(known[0] - known[1])
    if all(isinstance(value, int) for value in known):
        return moved < k or min(known) < k
    return moved < (FINEST_SHARE if max(known) <= 1 else FINEST_OTHER) - 1e-9


def leaves(figures: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    """Every number, under the path of its names."""
    for name, value in figures.items():
        if name in OF_THE_MACHINE:
            continue
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{path}{name}", value


def _rows(folder: Path) -> list[tuple[str, ...]]:
    # The number of a cluster is but its place among the others.
    rows = read_release(folder).drop(columns="cluster")
    return sorted(rows.itertuples(index=False, name=None))


def left_out(rows: Sequence[Row], make: Releaser, targets: int) -> list[Pair]:
    """The release of a log, beside those of the same log without one of the first people each."""
    whole = make(rows, "whole", {})
    people = list(dict.fromkeys(user for user, _, _ in rows))[:targets]
    return [
        (whole, make([row for row in rows if row[0] != person], f"without-{number}", {}))
        for number, person in enumerate(people)
    ]
