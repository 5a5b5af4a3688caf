"""The README's two commands are the ones that are run."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SET_UP = "python3 -m venv .venv && .venv/bin/pip install -q -e "


def test_ci_runs_the_readmes_test_command() -> None:
    command = f'{SET_UP}".[test]" && .venv/bin/python -m pytest'
    assert command in README
    assert command in (ROOT / ".ci" / "run").read_text()
    assert f"{SET_UP}. && .venv/bin/logveil run" in README
