"""The tables of `python -m tests.bench.information`, and whether what is wanted holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.bench.tables import markdown_table

OURS, FLOOR, FIRST, MOST = "ours", "floor", "0.1", "most"
WHOSE: Final = (FIRST, FLOOR, OURS)
LEAST_GAIN: Final = 1.05
"""What is kept must be at least so many times what the floor keeps."""
EXACT: Final = 1e-9
Cell = Mapping[str, Any]


def information_tables(found: Mapping[str, Any]) -> dict[str, str]:
    """The tables in Markdown by name, and the verdict."""
    cells = found["cells"]
    measures = {"loss, Eq. 11": "loss", "both ways": "symmetric_loss"}
    measures["records < 0.45"] = "records_below_0_45"
    heads = ("log", "scope", "k", *(f"{name}: {' / '.join(WHOSE)}" for name in measures))
    return {
        "information_table": _kept_table(cells),
        "paper_measures_table": markdown_table(
            heads, (_row(cell, tuple(measures.values())) for cell in cells)
        ),
        "information_verdict": verdict(cells),
    }


def _kept_table(cells: Sequence[Cell]) -> str:
    kinds = ("kept", "said", "times", "published", "telling", "concepts_true", "rows_true")
    names = (
        *("information kept", "of words and concepts", "of times"),
        *("rows published", "rows that tell something true", "concepts true", "rows true"),
    )
    heads = (f"{name}: {' / '.join(WHOSE)}" for name in names)
    rows = ((*_row(cell, kinds), *_gains(cell), *_limits(cell)) for cell in cells)
    ratios = (f"ours / {other}" for other in WHOSE[:2])
    without = (f"{ratio}, no times" for ratio in (f"ours / {other}" for other in WHOSE[:2]))
    limits = ("most / floor, no times", "most rows")
    return markdown_table(("log", "scope", "k", *heads, *ratios, *without, *limits), rows)


def _limits(cell: Cell) -> tuple[str, str]:
    """What nobody could exceed."""
    return f"{cell[MOST]['said'] / cell[FLOOR]['said']:.3f}", f"{cell[MOST]['published']:.1f}"


def _gains(cell: Cell) -> Iterator[str]:
    kinds = ("kept", "said")
    return (f"{gain(cell, other, kind):.3f}" for kind in kinds for other in WHOSE[:2])


def _row(cell: Cell, names: Sequence[str]) -> tuple[str, ...]:
    figures = (" / ".join(f"{cell[whose][name]:.1f}" for whose in WHOSE) for name in names)
    return (shape(cell), cell["scope"], str(cell["k"]), *figures)


def shape(cell: Cell) -> str:
    """*10,000 queries of 800*, from what `flows.sample` was asked for."""
    words = cell["sample"].split()
    asked = dict(zip(words[::2], words[1::2], strict=True))
    return f"{int(asked['--queries']):,} of {int(asked['--users']):,}"


def gain(cell: Cell, other: str, kind: str = "kept") -> float:
    """What ours keeps in parts of what another keeps."""
    return float(cell[OURS][kind] / cell[other][kind])


def verdict(cells: Sequence[Cell]) -> str:
    """What is wanted, whether every cell holds it, and the worst cell of each."""
    return "\n".join(f"- {line}" for line in _judged(cells))


def _judged(cells: Sequence[Cell]) -> Iterator[str]:
    wanted = f"at least {LEAST_GAIN:g} times that of the floor"
    for kind in ("kept", "said"):
        yield _judged_gain(cells, FLOOR, wanted, LEAST_GAIN - EXACT, kind)
        yield _judged_gain(cells, FIRST, "above version 0.1's", 1.0, kind)
    fewer = [c for c in cells if c[OURS]["published"] < c[FIRST]["published"] - EXACT]
    yield f"{_says(len(fewer), cells)} no fewer rows are published than by version 0.1"
    fewer = [c for c in cells if c[OURS]["telling"] < c[FIRST]["telling"] - EXACT]
    yield f"{_says(len(fewer), cells)} no fewer rows tell something true than version 0.1's"
    short = [c for c in cells if c[MOST]["said"] < LEAST_GAIN * c[FLOOR]["said"]]
    yield f"no release at all could keep {wanted} of words and concepts in {len(short)} cells"
    short = [c for c in cells if c[MOST]["published"] < c[FIRST]["published"] - EXACT]
    yield f"no release at all could publish as many rows as version 0.1 in {len(short)} cells"
    least = min(c[OURS]["said"] / c[MOST]["said"] for c in cells)
    yield f"of the most that could be kept of words and concepts, at least {least:.3f} is"
    false = [c for c in cells if min(c[OURS][n] for n in ("concepts_true", "rows_true")) < 100]
    yield f"{_says(len(false), cells)} every concept of every row is true"


def _judged_gain(
    cells: Sequence[Cell], other: str, wanted: str, more_than: float, kind: str
) -> str:
    worst = min(cells, key=lambda cell: gain(cell, other, kind))
    says = _says(sum(gain(cell, other, kind) <= more_than for cell in cells), cells)
    what = "information kept" if kind == "kept" else "of words and concepts alone, what is kept"
    least = f"{gain(worst, other, kind):.3f} ({_place(worst)})"
    return f"{says} {what} is {wanted}; least {least}"


def _says(short: int, cells: Sequence[Cell]) -> str:
    if not short:
        return f"holds in all {len(cells)} cells:"
    return f"**does not hold** in {short} of {len(cells)} cells:"


def _place(cell: Cell) -> str:
    return f"{shape(cell)}, `{cell['scope']}`, k = {cell['k']}"
