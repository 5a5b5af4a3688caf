"""The report: one self-contained page that opens from disk, made from the measures alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.adapters.report.figures import figures
from tasks.adapters.report.style import STYLE
from tasks.adapters.report.tables import all_measures, rejects, shape
from tasks.adapters.report.verdict import verdict


def write_report(path: Path, measures: dict[str, Any]) -> None:
    """Write the page for these measures."""
    path.write_text(render_report(measures), encoding="utf-8")


def render_report(measures: dict[str, Any]) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>logveil release report</title><style>{STYLE}</style></head><body>
<h1>Release report</h1>
{verdict(measures)}
<h2>Before and after</h2>
<div class="narrow">{shape(measures)}</div>
<h2>Figures</h2>
<div class="figures">{"".join(figure.html() for figure in figures(measures))}</div>
<h2>Rows set aside</h2>
<div class="narrow">{rejects(measures)}</div>
<h2>Settings and all measures</h2>
<div class="tables">{all_measures(measures)}</div>
</body></html>
"""
