"""What the user sees while a run works: rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from tasks.adapters.pages.numbers import count, percent, shown
from tasks.adapters.report.verdict import (
    attribute_shares,
    counted,
    published_of,
    truth_said,
)
from tasks.errors import printable
from tasks.schema import FinalMeasures

EXPLAINED = {
    "prefect": "wait for Prefect's server",
    "read": "read the log",
    "analyse": "find attributes and identifiers",
    "compare": "compare concepts and records",
    "cluster": "form clusters of k people",
    "redact": "decide what is published",
    "measure": "measure information and risk",
    "write": "write the release aside",
    "verify": "verify the written release",
    "count": "count people per term, with noise",
    "peers": "try other people's programs",
    "draw": "write tables and figures",
}
NAME_WIDTH = 13
"""The longest name of a phase, and of a method: *paper-printed*."""
METHOD = "apply the method"
"""What is said of a phase that bears the name of a method."""


@dataclass(slots=True)
class PhaseLine:
    """What is to be said of a phase beside its time."""

    cached: bool = False


class RateColumn(ProgressColumn):
    """How much is done in a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed and task.speed >= 1 else "")


class Shown(Protocol):
    """Where a run shows what it does."""

    def say(self, message: str) -> None: ...

    def phase(self, name: str) -> AbstractContextManager[PhaseLine]: ...

    def progress(self, done: int, total: int) -> None: ...


class Screen:
    """Progress and messages on one console; silent if `quiet`."""

    def __init__(self, *, quiet: bool, stderr: bool) -> None:
        self.started = time.perf_counter()
        # No markup: what a folder is called may look like it.
        self.console = Console(
            stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False
        )
        self._bars: Progress | None = None
        self._bar: TaskID | None = None

    def say(self, message: str) -> None:
        """One line."""
        self.console.print(printable(message))

    @contextmanager
    def phase(self, name: str) -> Iterator[PhaseLine]:
        """Show a phase while it runs, and one line with its time when it is done."""
        started = time.perf_counter()
        line = PhaseLine()
        if self._shows_bars and not self.console.quiet:
            with self._live(EXPLAINED.get(name, METHOD)):
                yield line
        else:
            yield line
        seconds = time.perf_counter() - started
        known = "  known already" if line.cached else ""
        self.say(f"{name:<{NAME_WIDTH}} {EXPLAINED.get(name, METHOD):<34} {seconds:7.1f} s{known}")

    @property
    def _shows_bars(self) -> bool:
        # In a notebook rich draws them with widgets, and warns if there are none.
        in_notebook = self.console.is_jupyter and find_spec("ipywidgets") is not None
        return self.console.is_terminal or in_notebook

    @contextmanager
    def _live(self, description: str) -> Iterator[None]:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            MofNCompleteColumn(),
            RateColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as bars:
            self._bars, self._bar = bars, bars.add_task(description, total=None)
            try:
                yield
            finally:
                self._bars = self._bar = None

    def progress(self, done: int, total: int) -> None:
        """Move the bar of the running phase."""
        if self._bars is not None and self._bar is not None:
            self._bars.update(self._bar, completed=done, total=total)

    def summary(self, measures: FinalMeasures, out: str) -> None:
        """The table at the end."""
        table = Table(title=printable(f"Release in {out}"), title_justify="left", show_header=False)
        table.add_column("what")
        table.add_column("value", justify="right")
        for what, value in summary_rows(measures):
            table.add_row(what, value)
        self.console.print(table)


def _pairs(pairs: dict[str, int], kind: str) -> str:
    return f"{count(pairs[f'{kind}_computed'])} / {count(pairs[f'{kind}_reused'])}"


def summary_rows(measures: FinalMeasures) -> list[tuple[str, str]]:
    """The figures a reader wants first."""
    records, users, kept = measures["records"], measures["users"], measures["information"]
    clusters, loss = measures["clusters"], measures["information_loss"]
    settings, (held, published) = measures["settings"], attribute_shares(measures)
    fewest = f"{count(clusters['count'])} ({clusters['min_users']})"
    return [
        ("rows published", published_of(measures)),
        ("information kept", percent(kept["kept_percent"])),
        ("true", truth_said(measures)),
        ("verified", "yes" if measures["verified"] else "no"),
        ("guarantee", settings["guarantee"]),
        ("k", counted(users).said(settings["k"])),
        ("rows withheld", count(records["withheld"])),
        ("rows set aside", count(records["rejected"])),
        *([("of these known already", count(records["known"]))] if records["known"] else []),
        (
            f"{users['counted']} read / published",
            f"{count(users['read'])} / {count(users['published'])}",
        ),
        (f"clusters (fewest {users['counted']})", fewest),
        (f"time kept (finest: {settings['time']})", percent(kept["time_percent"])),
        ("rows with attributes (of these published)", f"{held} ({published})"),
        ("information loss of these, Eq. 11", percent(loss["percent"])),
        ("information loss of these, symmetric", percent(loss["symmetric_percent"])),
        ("pairs of attributes computed / reused", _pairs(measures["pairs"], "attributes")),
        ("pairs of records computed / reused", _pairs(measures["pairs"], "records")),
        ("seconds", shown(measures["seconds"]["total"])),
    ]


def comparison_table(found: dict[str, Any]) -> Table:
    """One line for each method, at the k that was asked for."""
    k = str(found["settings"]["k"])
    records = found["records"]
    title = (
        f"k = {k}: {records['compared']:,} records with attributes, {records['people']:,} people"
    )
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    heads = ("fewest\npeople", "bits\nkept", "rows\nout", "false")
    for name in (*heads, "loss", "mean\nrisk", "< 0.45"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("on the\nfront", no_wrap=True)
    front = found["fronts"]["mean"][k]["front"]
    for name, method in found["methods"].items():
        table.add_row(name, *_method_cells(method["by_k"][k]), "yes" if name in front else "")
    return table


def contest_table(found: dict[str, Any]) -> Table:
    """The six tasks, one line for each method and rival; the raw log has 1."""
    tasks = found["tasks"]
    table = Table(title="six tasks", title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for name in ("fewest\npeople", *tasks["verdicts"]):
        table.add_column(name, justify="right", no_wrap=True)
    for name, own in tasks["methods"].items():
        scores = (own["scores"].get(task, 0.0) for task in tasks["verdicts"])
        table.add_row(name, f"{own['least_people']:,}", *(f"{score:.2f}" for score in scores))
    return table


def _method_cells(cell: dict[str, Any]) -> list[str]:
    return [
        f"{cell['least_people']:,}",
        f"{cell['information_kept']:.1f} %",
        f"{100 * cell['rows_published']:.1f} %",
        f"{100 * cell['false_concepts']:.1f} %",
        f"{cell['symmetric_loss']:.1f} %",
        f"{cell['risk']:.3f}",
        f"{100 * cell['records_below_0_45']:.0f} %",
    ]
