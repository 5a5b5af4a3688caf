"""What a run shows in Prefect's UI beside its tasks: how far it is, and what it has released.

Artifacts are kept in Prefect's database, so they hold what `report.html` and `measures.json` hold:
numbers, settings, names of topics; never a word of the log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows.display import EXPLAINED, PhaseLine, Shown, summary_rows
from tasks.adapters.report.figures import standalone_pictures
from tasks.adapters.report.verdict import amounts_of, lead_of, promise_of, verdict_of
from tasks.errors import printable
from tasks.phases.publish import public_measures
from tasks.schema import FinalMeasures

SECONDS_BETWEEN: Final = 2.0
"""A server has better things to do than to hear of every block."""


class RunPage:
    """A screen, and Prefect told as well."""

    def __init__(self, screen: Shown) -> None:
        self._screen = screen
        self._bar = ProgressBar("")
        self._phases: list[dict[str, str]] = []

    def say(self, message: str) -> None:
        self._screen.say(message)
        get_run_logger().info(printable(message))

    @contextmanager
    def phase(self, name: str) -> Iterator[PhaseLine]:
        self._bar, started = ProgressBar(name), time.perf_counter()
        with self._screen.phase(name) as line:
            yield line
        seconds = f"{time.perf_counter() - started:.1f}"
        how = "known already" if line.cached else "computed"
        row = {"phase": name, "seconds": seconds, "result": how, "what it does": EXPLAINED[name]}
        self._phases.append(row)

    def progress(self, done: int, total: int) -> None:
        self._screen.progress(done, total)
        self._bar.move(done, total)

    def released(self, measures: FinalMeasures, folder: Path) -> None:
        """Show a release that is in place, by its public figures."""
        measures = public_measures(measures)
        create_markdown_artifact(
            release_markdown(measures, folder),
            key="release",
            description=printable(f"Release in {folder}"),
        )
        create_table_artifact(
            [{"measure": what, "value": value} for what, value in summary_rows(measures)],
            key="measures",
            description=printable(f"Measures of {folder}; all of them are in measures.json"),
        )
        create_table_artifact(
            self._phases, key="phases", description="Seconds of each phase, and what was known"
        )
        self._phases = []


class ProgressBar:
    """The progress of one phase; there is none until the phase says how far it is."""

    def __init__(self, phase: str) -> None:
        self._phase = phase
        self._artifact: UUID | None = None
        self._told = 0.0

    def move(self, done: int, total: int) -> None:
        now, percent = time.monotonic(), 100.0 * done / max(1, total)
        if self._artifact is None:
            made = create_progress_artifact(
                percent, key=f"{self._phase}-progress", description=EXPLAINED[self._phase]
            )
            self._artifact = cast("UUID", made)
        elif now - self._told < SECONDS_BETWEEN and done < total:
            return
        else:
            update_progress_artifact(self._artifact, percent)
        self._told = now


def release_markdown(measures: FinalMeasures, folder: Path) -> str:
    """The report in short: verdict, promise, figures, and where the whole of it is."""
    report = printable((folder / "report.html").resolve())
    pictures = "\n\n".join(
        f"### {figure.title}\n\n![{figure.title}]({address})\n\n{figure.says}"
        for figure, address in standalone_pictures(measures)
    )
    return (
        f"# {verdict_of(measures)}\n\n**{lead_of(measures)}**\n\n"
        f"{promise_of(measures)}\n\n{amounts_of(measures)}\n\n"
        f"Whole report, with settings and all measures: `{report}`\n\n{pictures}\n"
    )
