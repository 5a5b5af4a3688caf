"""For notebooks and scripts: `from flows.notebook import release`.

    made = release(frame, k=10, out="release-10")    # pandas, polars, pyarrow, or paths of files
    made.table, made.measures, made.report

The same phases, store, guarantees and bytes as `logveil run`, without Prefect unless it is asked
for. A table is handed on in memory, so nothing more of it is written than of a file. What is
returned is what was published: a notebook that is passed on with its outputs tells no more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet as pq

from flows.config_file import checked, config_of, only_settings
from flows.display import Screen, summary_rows
from flows.process import keep_database_private, set_prefect_defaults
from flows.release import Phases, release_into_folder
from tasks.adapters.manifest import release_file_in
from tasks.adapters.release_files import MEASURES, REPORT
from tasks.adapters.report.verdict import lead_of, verdict_of
from tasks.adapters.verifier import read_release
from tasks.errors import UsageError
from tasks.phases.job import Job
from tasks.runtime.executor import LocalExecutor
from tasks.runtime.sources import in_memory
from tasks.schema import FinalMeasures
from tasks.settings import Settings


@runtime_checkable
class ArrowTable(Protocol):
    """A table of pandas, polars, pyarrow or whoever else can hand one over as Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Log = str | PathLike[str] | Sequence[str | PathLike[str]] | ArrowTable | None


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a release, which shows itself in a notebook."""

    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        # In a frame: neither page's style reaches the other.
        said = escape(self.html, quote=True)
        return f'<iframe srcdoc="{said}" sandbox style="width:100%;height:40em;border:0"></iframe>'


@dataclass(frozen=True, slots=True)
class Released:
    """A release that was verified and published.

    Attributes:
        folder: where it lies.
        table: its rows, text in all columns.
        measures: its public figures.
    """

    folder: Path
    table: pa.Table = field(repr=False)
    measures: FinalMeasures = field(repr=False)
    report: Report = field(repr=False)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(what)}</td><td>{escape(value)}</td></tr>"
            for what, value in summary_rows(self.measures)
        )
        said = escape(f"{verdict_of(self.measures)} {lead_of(self.measures)}")
        return f"<p><b>{said}</b></p><table>{rows}</table>"


def release(
    log: Log = None,
    *,
    config: str | None = None,
    prefect: bool = False,
    quiet: bool = False,
    **settings: Any,
) -> Released:
    """Make, verify and publish one release.

    Args:
        log: a table, or files, folders, globs and URLs; without it the config's, or the sample.
        config: a file of settings (`./logveil.toml` if it is there).
        prefect: whether the run is to be one of Prefect's.
        quiet: show nothing.
        settings: by the names that `tasks.settings.Settings` has for them; these win.

    Raises:
        LogveilError: nothing was published; the message says why, in no word of the log.
    """
    said = {**only_settings(config_of(config)), **checked(settings)}
    with _named(log) as names:
        chosen = Settings(**(said | ({"logs": names} if names else {})))
        if chosen.runner == "dask" and isinstance(log, ArrowTable):
            raise UsageError("a table in memory is for runner local alone: save it to a file")
        _release(chosen, Screen(quiet=quiet, stderr=False), prefect=prefect)
    return _published(Path(chosen.out))


def _release(settings: Settings, screen: Screen, *, prefect: bool) -> None:
    if not prefect:
        if settings.runner == "dask":
            raise UsageError("runner dask is one of Prefect's: add prefect=True")
        job = Job.of(settings, LocalExecutor(settings.processes), screen.progress)
        release_into_folder(job, Phases(screen))
        return
    set_prefect_defaults()
    keep_database_private()
    # It takes seconds, and must be told these things before.
    from flows.anonymise import anonymise, shown_on, told_to_prefect

    with shown_on(screen), told_to_prefect(settings) as (told, _):
        anonymise(told)


@contextmanager
def _named(log: Log) -> Iterator[tuple[str, ...]]:
    """By which names the log can be opened."""
    if isinstance(log, ArrowTable):

        def write(stream: BinaryIO) -> None:
            pq.write_table(pa.table(log), stream)

        with in_memory(write) as name:
            yield (name,)
    elif isinstance(log, str | PathLike):
        yield (str(log),)
    else:
        yield tuple(map(str, log or ()))


def _published(folder: Path) -> Released:
    content = read_release(release_file_in(folder))
    columns = list(zip(*content.rows, strict=True)) or [()] * len(content.header)
    table = pa.table(
        [pa.array(column, pa.string()) for column in columns], names=list(content.header)
    )
    measures: FinalMeasures = json.loads((folder / MEASURES).read_bytes())
    return Released(folder, table, measures, Report((folder / REPORT).read_text("utf-8")))
