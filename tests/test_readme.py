"""The README's two commands are the ones that are run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -e"
RUN = f"{INSTALL} . && .venv/bin/logveil run"
TEST = f'{INSTALL} ".[test]" && .venv/bin/python -m pytest'


def test_ci_runs_the_readmes_test_command() -> None:
    assert TEST in README
    assert TEST in (ROOT / ".ci" / "run").read_text()


def test_the_first_command_installs_what_a_run_needs_and_no_more() -> None:
    assert README.index(RUN) < README.index(TEST)


def test_the_figures_of_the_sample_are_those_of_a_run(sample_measures: dict[str, Any]) -> None:
    records, kept = sample_measures["records"], sample_measures["information"]["kept_percent"]
    published = f"{records['published']:,} of {records['read']:,} rows are published"
    assert published in " ".join(README.split())
    assert f"{kept:.1f} % of the information" in " ".join(README.split())
    quickstart = " ".join((ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8").split())
    assert f"{records['published']:,} of {records['read']:,}" in quickstart
    assert f"information kept ({kept:.1f} %)" in quickstart
