"""The tables of `python -m tests.bench.contest`, and whether what is wanted holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.bench.information_tables import shape
from tests.bench.tables import markdown_table

OURS: Final = "adaptive"
K: Final = 5
WANTED_ROWS: Final = 0.8
WANTED_HIGH: Final = 4
Cell = Mapping[str, Any]


def contest_tables(found: Mapping[str, Any]) -> dict[str, str]:
    """The tables in Markdown by name, and the verdict."""
    cells = found["cells"]
    tasks = list(cells[0]["verdicts"])
    run = ("log", "scope", "commit", "rows published")
    heads = (*run, *(f"{task}: ours / next" for task in tasks))
    about = ("fewest people", "holds k", "rows of fewer than k", "ε, δ", "rows published")
    whole = ("method", *about, *tasks)
    return {
        "contest_table": markdown_table(heads, (_row(cell, tasks) for cell in cells)),
        "contest_methods_table": markdown_table(whole, _methods(cells[0], tasks)),
        "contest_verdict": verdict(cells),
    }


def _row(cell: Cell, tasks: Sequence[str]) -> tuple[str, ...]:
    ours = cell["methods"][OURS]
    shown = (_against(ours["scores"][task], *_next(cell, task)) for task in tasks)
    about = shape(cell), cell["scope"], cell["commit"]
    return *about, f"{100 * ours['rows_published']:.1f} %", *shown


def _against(ours: float, theirs: float, name: str) -> str:
    """Whoever is ahead in bold."""
    mine, other = f"{ours:.2f}", f"{theirs:.2f} {name}"
    return f"{mine} / **{other}**" if theirs > ours else f"**{mine}** / {other}"


def _next(cell: Cell, task: str) -> tuple[float, str]:
    """The best of the others that hold k."""
    return max(
        (own["scores"].get(task, 0.0), name)
        for name, own in cell["methods"].items()
        if name != OURS and own["least_people"] >= K
    )


def _methods(cell: Cell, tasks: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for name, own in cell["methods"].items():
        private = f"{own['epsilon']:.2g}, {own['delta']:.0e}" if own["epsilon"] else ""
        held = "yes" if own["least_people"] >= K else "no"
        shown = (f"{own['scores'].get(task, 0.0):.2f}" for task in tasks)
        rows = f"{100 * own['rows_published']:.1f} %"
        few = f"{own['records_below_k']:,}"
        yield name, f"{own['least_people']:,}", held, few, private, rows, *shown


def private_counts_table(found: Mapping[str, Any]) -> str:
    """What `--counts dp` tells of a log's concepts, beside weighted Gaussian on them."""
    heads = ("log", "scope", "ε", "words told", "concepts told", "concept mass held", "in bits")
    rows = (
        (
            *(shape(cell), cell["scope"], cell["epsilon"], f"{cell['words_told']:.0f}"),
            *(f"{cell['concepts_told']:.0f}", f"{100 * cell['held']:.1f} %"),
            *(f"{100 * cell['graded']:.1f} %", f"{cell['wgm_concepts_told']:.0f}"),
            f"{100 * cell['wgm_held']:.1f} %",
        )
        for cell in found["cells"]
    )
    return markdown_table((*heads, "WGM: concepts told", "WGM: mass held"), rows)


def verdict(cells: Sequence[Cell]) -> str:
    """What is wanted, and where it holds."""
    lost = [
        f"{task} ({shape(cell)}, {cell['scope']}: {own['best']})"
        for cell in cells
        for task, own in cell["verdicts"].items()
        if own["best"] != OURS
    ]
    tasks = sum(len(cell["verdicts"]) for cell in cells)
    high = [sum(own["within_a_tenth_of_raw"] for own in c["verdicts"].values()) for c in cells]
    rows = [cell["methods"][OURS]["rows_published"] >= WANTED_ROWS for cell in cells]
    return (
        f"Of the methods that hold k, ours is best in {tasks - len(lost)} of {tasks} cases"
        + (f"; not in {', '.join(lost)}. " if lost else ". ")
        + f"It is within a tenth of the raw log on {max(high) or 'none'} of the tasks "
        f"({WANTED_HIGH} were wanted). At least {100 * WANTED_ROWS:.0f} % of rows are published in "
        f"{sum(rows)} of {len(rows)} releases."
    )
