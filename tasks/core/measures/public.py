"""The public edition of a release's figures: nobody can be read off (docs/measures.md).

Every figure has one rounding, told in `PUBLIC`; one that has none is not published. What depends on
rows is made from the `basis`, in which nobody counts with more than a few rows. None in place of a
number: fewer than k people, or too little to round, or internal: a reader cannot tell which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from tasks.core.measures.basis import WORDS_PER_ROW
from tasks.schema import FinalMeasures

LEAST_STEPS: Final = 40
"""Shares are told of logs of so many times the rows of one person: then one moves them little."""


class Figure(NamedTuple):
    """A figure, and all others."""

    name: str
    value: Any
    all: FinalMeasures

    @property
    def k(self) -> int:
        return int(self.all["settings"]["k"])

    @property
    def step(self) -> int:
        """Rows with which one person counts."""
        return self.all["basis"]["rows_per_person"]

    @property
    def tells_shares(self) -> bool:
        return self.all["basis"]["counts"]["records.read"] >= LEAST_STEPS * self.step

    def is_of_enough(self, name: str) -> bool:
        """Whether k people stand behind a figure."""
        return self.all["basis"]["people"].get(name, 0) >= self.k


class Rounding(NamedTuple):
    """What the public edition says in place of a figure, and how that is told."""

    says: str
    of: Callable[[Figure], Any]


def down_to(value: float, step: int) -> int | None:
    """The multiple at or below a number; None below the first."""
    return int(value // step) * step or None


def down_the_series(value: float, least: float) -> int | None:
    """The number 1, 2, 5, 10, 20, 50 … at or below a number; None below the least."""
    if value < least:
        return None
    power = 1
    while 10 * power <= value:
        power *= 10
    return next(first * power for first in (5, 2, 1) if first * power <= value)


def nearest(value: float, step: float) -> float:
    """The nearest multiple."""
    return round(round(value / step) * step, 6)


def _rows(figure: Figure) -> int | None:
    return _counted(figure, figure.step)


def _words(figure: Figure) -> int | None:
    return _counted(figure, figure.step * WORDS_PER_ROW)


def _counted(figure: Figure, step: int) -> int | None:
    value = figure.all["basis"]["counts"].get(figure.name, 0)
    return down_to(value, step) if figure.is_of_enough(figure.name) else None


def _share_of(counted: str) -> Rounding:
    """A part of the rows read."""

    def share(figure: Figure) -> float | None:
        counts = figure.all["basis"]["counts"]
        told = figure.tells_shares and figure.is_of_enough(counted)
        return nearest(counts[counted] / counts["records.read"], 0.05) if told else None

    return Rounding("nearest 0.05, of rows counted as above", share)


def _based(step: float) -> Rounding:
    def value(figure: Figure) -> float | None:
        known = figure.all["basis"]["values"]
        return nearest(known[figure.name], step) if figure.tells_shares else None

    return Rounding(f"nearest {step:g}, of rows counted as above", value)


def _by_topic(figure: Figure) -> float | None:
    enough = figure.tells_shares and figure.is_of_enough(figure.name)
    return nearest(figure.all["basis"]["values"].get(figure.name, 0.0), 20) if enough else None


def _truth(figure: Figure) -> float | None:
    printed = figure.all["settings"]["guarantee"] == "paper"
    return cast("float | None", _based(0.05).of(figure)) if printed else 1.0


def _stepped(step: float) -> Rounding:
    def value(figure: Figure) -> float | None:
        return nearest(figure.value, step) if figure.tells_shares else None

    return Rounding(f"nearest {step:g}", value)


def _promised(guarantees: tuple[str, ...], says: str, of: Callable[[Figure], Any]) -> Rounding:
    """What is promised, whatever it is."""

    def bound(figure: Figure) -> Any:
        return of(figure) if figure.all["settings"]["guarantee"] in guarantees else None

    return Rounding(f"{says} ({', '.join(guarantees)})", bound)


def _worst(figure: Figure) -> float:
    return max(1 / figure.k, float(figure.all["settings"]["dominance"]))


EXACT: Final = Rounding("as it is", lambda figure: figure.value)
INTERNAL: Final = Rounding("internal", lambda figure: None)
PEOPLE: Final = Rounding("down to a multiple of k", lambda figure: down_to(figure.value, figure.k))
ROWS: Final = Rounding("at most 10 k of each person, down to a multiple of 10 k", _rows)
WORDS: Final = Rounding("at most 100 k of each person, down to a multiple of 100 k", _words)
SERIES: Final = Rounding(
    "down to 1, 2, 5, 10, 20, 50 …, from k on",
    lambda figure: down_the_series(figure.value, figure.k),
)
REJECTS: Final = Rounding(
    "down to 1, 2, 5, 10, 20, 50 …, from 10 k on; whose they are is not known",
    lambda figure: down_the_series(figure.value, figure.step),
)
STRICT: Final = ("strict",)
K_ANONYMOUS: Final = ("strict", "terms")

PUBLIC: Final[dict[str, Rounding]] = {
    "verified": EXACT,
    "certificate.*": EXACT,
    "settings.*": EXACT,
    "versions.*": EXACT,
    "records.rejected": REJECTS,
    "records.known": INTERNAL,
    "records.*": ROWS,
    "withheld_by_reason.*": ROWS,
    "users.read": PEOPLE,
    "users.published": PEOPLE,
    "users.counted": EXACT,
    "users.column": EXACT,
    "language.understood": EXACT,
    "language.not_understood": _stepped(0.05),
    "language.*": INTERNAL,
    "words.*": WORDS,
    "attributes.mentions": ROWS,
    "attributes.in_doubt": INTERNAL,
    "identifiers.*": ROWS,
    "shares.published": _share_of("records.published"),
    "shares.changed": _share_of("shares.changed"),
    "shares.withheld": _share_of("records.withheld"),
    "shares.with_attributes": _share_of("records.with_attributes"),
    "shares.with_attributes_published": _share_of("shares.with_attributes_published"),
    "clusters.min_users": _promised(("strict", "terms", "paper"), "k", lambda figure: figure.k),
    "clusters.min_size": _promised(("strict", "terms", "paper"), "k", lambda figure: figure.k),
    "clusters.*": SERIES,
    "information.by_topic.*": Rounding("nearest 20, of rows counted as above", _by_topic),
    "information.*": _based(5),
    "truth.*": Rounding("1 (strict, terms); nearest 0.05 of rows counted as above (paper)", _truth),
    "cohesion.*": INTERNAL,
    "information_loss.by_topic.*": INTERNAL,
    "information_loss.*": _stepped(10),
    "risk.raw_expected": _based(0.05),
    "risk.raw_worst": INTERNAL,
    "risk.released_expected": _based(0.05),
    "risk.released_worst": _promised(STRICT, "1/k or dominance, what is more", _worst),
    "risk.published_expected": _based(0.05),
    "risk.linked_expected": _based(0.05),
    "risk.linked_chance": _based(0.05),
    "risk.inferred_expected": _based(0.05),
    "risk.inferred_chance": _based(0.05),
    "risk.least_people": _promised(STRICT, "k", lambda figure: figure.k),
    "risk.partial_knowledge.one_term_least": _promised(K_ANONYMOUS, "k", lambda figure: figure.k),
    "risk.partial_knowledge.two_terms_least": _promised(STRICT, "k", lambda figure: figure.k),
    "risk.partial_knowledge.*": SERIES,
    "diversity.min_distinct": _promised(
        K_ANONYMOUS, "l", lambda figure: figure.all["settings"]["l"]
    ),
    "diversity.median_entropy": _stepped(0.5),
    "diversity.*": SERIES,
    "figures.distinct.published_rows": SERIES,
    "figures.rejects.*": REJECTS,
    "figures.*": INTERNAL,
    "pairs.*": INTERNAL,
    "edition.number": EXACT,
    "edition.release": EXACT,
    "edition.*": INTERNAL,
    "counts.*": EXACT,
    "shards.*": INTERNAL,
    "seconds.*": INTERNAL,
    "peak_memory_mb": INTERNAL,
    "peak_disk_mb": INTERNAL,
    "basis.*": INTERNAL,
}
"""The rounding of every figure, by its name joined by dots; the longest that fits counts."""

OPEN: Final = (
    "language.by_language",
    "withheld_by_reason",
    "information.by_topic",
    "information_loss.by_topic",
    "figures.rejects",
)
"""Sections whose names depend on the log: of those a figure that is None is not even named."""
DROPPED: Final = ("basis", "shards")


def rounding_of(name: str) -> Rounding | None:
    """The rounding of a figure; None if there is no such figure."""
    parts = name.split(".")
    wider = (".".join(parts[:length]) + ".*" for length in range(len(parts) - 1, 0, -1))
    return next((PUBLIC[known] for known in (name, *wider) if known in PUBLIC), None)


def public_measures(measures: FinalMeasures) -> FinalMeasures:
    """The same figures as they are published; `rounded` says how.

    The type is that of the internal ones, but any number may be None.
    """
    kept = {name: value for name, value in measures.items() if name not in DROPPED}
    public = _public_section("", kept, measures)
    return cast(
        "FinalMeasures",
        {
            **public,
            "rounded": {
                "people": measures["settings"]["k"],
                "rows": measures["basis"]["rows_per_person"],
                "none": "fewer than k people, too little to round, or internal",
            },
        },
    )


def _public_section(
    name: str, section: Mapping[str, Any], measures: FinalMeasures
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for own, value in section.items():
        inner = f"{name}.{own}" if name else own
        rounding = rounding_of(inner)
        if isinstance(value, dict) and any(known.startswith(f"{inner}.") for known in PUBLIC):
            found[own] = _public_section(inner, value, measures)
        else:
            shown = None if rounding is None else rounding.of(Figure(inner, value, measures))
            if shown is not None or name not in OPEN:
                found[own] = shown
    return found


def rounding_table() -> list[str]:
    """The table of docs/measures.md, line by line."""
    return [f"| `{name}` | {rounding.says} |" for name, rounding in PUBLIC.items()]
