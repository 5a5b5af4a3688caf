"""Linux is supported; elsewhere one line says so, before anything that could not be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ELSEWHERE = """
import runpy, sys
sys.platform = sys.argv[1]
# Modules that only Unix has, or only Linux has in full.
for name in ("fcntl", "resource", "pwd", "termios"):
    sys.modules[name] = None
module = sys.argv[2]
sys.argv[1:] = ["--help"]
runpy.run_module(module, run_name="__main__")
"""
MODULES = ["run", "inbox", "verify", "compare", "sample", "cli"]


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize("module", [*(f"flows.{name}" for name in MODULES), "deployments.services"])
def test_elsewhere_one_line_says_what_is_supported(system: str, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, system, module],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"logveil: runs on Linux alone, not on {system}")
    assert done.stdout == ""


def test_the_installed_command_says_so_too() -> None:
    code = f"import sys; sys.platform = 'win32'\n{ENTRY}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


ENTRY = "from flows.cli import main\nsys.exit(main(['run']))\n"


def test_the_readme_says_what_is_supported() -> None:
    told = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Linux" in told
    assert "macOS" in told
    assert "Windows" in told
