"""`--profile`: where the time goes, phase by phase, in this process."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path
from typing import Final

from tasks.workbench import PHASES, Workbench

from tasks.settings import Settings
from tests.bench.logs import Log
from tests.bench.tables import markdown_table
from tests.bench.watched import ROOT

MOST: Final = 25
Place = tuple[str, int, str]


def profiled(log: Log, settings: Settings) -> str:
    """One run in a single process; for each phase the functions of most own time, as Markdown.

    The profiler makes Python code slower and leaves compiled code as it is: shares, not seconds.
    """
    bench = Workbench(settings)
    parts = [f"# Profile of {log.size:,} queries, scope {settings.scope}, one process"]
    for phase in PHASES:
        profile = cProfile.Profile()
        profile.runcall(bench.make, phase)
        parts.append(_phase_table(phase, pstats.Stats(profile)))
    return "\n\n".join(parts) + "\n"


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
