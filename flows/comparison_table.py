"""The table of a comparison on the screen."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE
from rich.table import Table


def comparison_table(found: dict[str, Any]) -> Table:
    """One line for each method, at the k that was asked for."""
    k = str(found["settings"]["k"])
    records = found["records"]
    title = (
        f"k = {k}: {records['compared']:,} records with attributes, {records['people']:,} people"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for name in ("groups", "fewest\npeople", "withheld", "loss", "mean\nrisk", "records\n< 0.45"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("on the\nfront", no_wrap=True)
    front = found["fronts"]["mean"][k]["front"]
    for name, method in found["methods"].items():
        table.add_row(name, *_cells(method["by_k"][k]), "yes" if name in front else "")
    return table


def _cells(cell: dict[str, Any]) -> list[str]:
    return [
        f"{cell['groups']:,}",
        f"{cell['least_people']:,}",
        f"{100 * cell['withheld']:.1f} %",
        f"{cell['symmetric_loss']:.1f} %",
        f"{cell['risk']:.3f}",
        f"{100 * cell['records_below_0_45']:.0f} %",
    ]
