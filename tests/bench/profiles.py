"""`--profile`: where the time goes, phase by phase, in this process."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path
from typing import Final, TypeVar

from flows.display import Screen
from flows.release import Phases, make_release
from tasks.phases.job import Job
from tasks.phases.publish import InFolder
from tasks.runtime.executor import LocalExecutor
from tasks.runtime.results import Result
from tasks.settings import Settings
from tests.bench.logs import Log
from tests.bench.tables import markdown_table
from tests.bench.watched import ROOT

T = TypeVar("T")
MOST: Final = 25
Place = tuple[str, int, str]


def profiled(log: Log, settings: Settings) -> str:
    """One run in a single process; for each phase the functions of most own time, as Markdown.

    The profiler makes Python code slower and leaves compiled code as it is: shares, not seconds.
    """
    phases = _ProfiledPhases(Screen(quiet=True, stderr=True))
    make_release(Job.of(settings, LocalExecutor(1)), InFolder(Path(settings.out)), phases)
    title = f"# Profile of {log.size:,} queries, scope {settings.scope}, one process"
    return "\n\n".join([title, *phases.tables]) + "\n"


class _ProfiledPhases(Phases):
    """Runs phases below a profiler, one of its own each."""

    def __init__(self, display: Screen) -> None:
        super().__init__(display)
        self.tables: list[str] = []

    def _run(self, result: Result[T], label: str) -> None:
        profile = cProfile.Profile()
        profile.runcall(result.ensure)
        self.tables.append(_phase_table(result.phase, pstats.Stats(profile)))


def _phase_table(phase: str, stats: pstats.Stats) -> str:
    profile = stats.get_stats_profile()
    found: dict[Place, tuple[int, int, float, float, object]] = stats.stats  # type: ignore[attr-defined]
    by_own_time = sorted(found.items(), key=lambda entry: -entry[1][2])[:MOST]
    rows = [
        (f"{own:.2f}", f"{below:.2f}", f"{calls:,}", _shown(place))
        for place, (_, calls, own, below, _) in by_own_time
    ]
    table = markdown_table(("own s", "with callees s", "calls", "function"), rows)
    return f"## {phase}: {profile.total_tt:.1f} s\n\n{table}"


def _shown(place: Place) -> str:
    path, line, name = place
    if path == "~":
        return f"`{name}`"
    own = Path(path)
    where = own.relative_to(ROOT) if own.is_relative_to(ROOT) else Path(*own.parts[-2:])
    return f"`{where}:{line} {name}`"
