"""What a run shows in Prefect's UI beside its tasks: how far it is, and what it has released.

Artifacts and events are kept in Prefect's database, so they hold what is published: numbers,
settings, names of topics and, as examples, a few published rows; of the log names of files alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.client.orchestration import get_client
from prefect.events import emit_event
from prefect.runtime import flow_run

from flows.display import EXPLAINED, PhaseLine, Shown, summary_rows
from flows.process import REPORTS
from tasks.adapters.manifest import release_file_in
from tasks.adapters.report.figures import standalone_pictures
from tasks.adapters.report.verdict import amounts_of, lead_of, promise_of, verdict_of
from tasks.adapters.verifier import read_release
from tasks.errors import LogveilError, NothingToRelease, VerificationFailed, printable
from tasks.phases.publish import public_measures
from tasks.schema import FinalMeasures
from tasks.settings import Settings

EXAMPLES: Final = 5
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
            release_markdown(measures, folder, examples(folder)),
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
        counts = {name: measures["records"][name] for name in ("read", "published", "withheld")}
        tell("release.published", folder, counts)

    def waits(self, measures: FinalMeasures, folder: Path) -> None:
        """Tell how many rows of an edition wait for others."""
        if waiting := measures.get("edition", {}).get("waiting"):
            tell("rows.waiting", folder, {"waiting": waiting})

    def refused(self, fault: LogveilError, name: object) -> None:
        """Tell that a release does not hold what it promises, or that there can be none."""
        if isinstance(fault, VerificationFailed | NothingToRelease):
            tell("release.refused", name, {"exit_code": fault.exit_code, "reason": str(fault)})

    def rejected(self, files: Mapping[str, str]) -> None:
        """Tell which files cannot be used, and why."""
        for name, reason in files.items():
            tell("file.rejected", name, {"files": 1, "reason": reason})


def tell(event: str, name: object, counts: dict[str, Any]) -> None:
    """Emit an event that automations may wait for."""
    said = printable(name)
    resource = {"prefect.resource.id": f"logveil.{said}", "prefect.resource.name": said}
    emit_event(f"logveil.{event}", resource, payload=counts)


def tag_run(settings: Settings) -> list[str]:
    """Tag the run by what it is asked for; returns the tags, for what it starts."""
    tags = ["logveil", settings.scope, settings.guarantee, f"k={settings.k}"]
    with get_client(sync_client=True) as client:
        client.update_flow_run(UUID(str(flow_run.id)), tags={*flow_run.tags, *tags})
    return tags


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


def examples(folder: Path) -> Sequence[dict[str, str]]:
    """A few published rows, from all over the file."""
    content = read_release(release_file_in(folder))
    rows = sorted(content.rows.distinct)
    chosen = rows[:: max(1, len(rows) // EXAMPLES)][:EXAMPLES]
    return [dict(zip(content.header, row, strict=True)) for row in chosen]


def release_markdown(
    measures: FinalMeasures, folder: Path, rows: Sequence[dict[str, str]] = ()
) -> str:
    """The report in short: verdict, promise, figures, and where the whole of it is."""
    report = printable((folder / "report.html").resolve())
    base = os.environ.get(REPORTS, "file://")
    pictures = "\n\n".join(
        f"### {figure.title}\n\n![{figure.title}]({address})\n\n{figure.says}"
        for figure, address in standalone_pictures(measures)
    )
    return (
        f"# {verdict_of(measures)}\n\n**{lead_of(measures)}**\n\n"
        f"{promise_of(measures)}\n\n{amounts_of(measures)}\n\n"
        f"[The whole report, with settings and all measures]({base}{quote(report)}): `{report}`\n\n"
        f"{_table(rows)}{pictures}\n"
    )


def _table(rows: Sequence[dict[str, str]]) -> str:
    """Some rows, as they are published."""
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    drawn = "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )
    return f"### Some published rows\n\n{drawn}\n\n"
