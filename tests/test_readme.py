"""The README's commands are the ones that are run, and what it points to exists."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_the_paper_to_code_table_names_real_places() -> None:
    named = re.findall(r"`((?:core|adapters)/[\w/]+\.\w+)(?:: ([\w, ]+))?`", README)
    assert len(named) > 10
    for path, names in named:
        source = (ROOT / "tasks" / path).read_text(encoding="utf-8")
        for name in filter(None, names.split(", ")):
            assert f"def {name}(" in source, f"{path} has no {name}"


def test_every_measure_is_explained(sample_measures: dict[str, object]) -> None:
    table = README[README.index("## Measures") : README.index("## Figures")]
    for key in sample_measures:
        assert key in {"verified", "settings", "versions"} or f"`{key}" in table, key
