"""The package as a stranger gets it: a wheel in a new environment, used in an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tasks.adapters.release_files import OTHER_FILES
from tasks.settings import SAMPLE_LOG
from tasks.version import VERSION

ROOT = Path(__file__).parent.parent
PACKAGES = ("deployments", "flows", "tasks")
SOURCES = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE")
RELEASE = {"release.tsv", *OTHER_FILES}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from a copy: what an earlier build left in the checkout is no part of it."""
    copy, built = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    pip(sys.executable, "wheel", "--no-deps", str(copy), "-w", str(built))
    (made,) = built.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel and what it asks for, no extras."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    # Not compiled beforehand: few of the modules are ever imported here.
    pip(str(folder / "bin" / "python"), "install", "--no-compile", str(wheel))
    return folder / "bin"


def pip(python: str, command: str, *arguments: str) -> None:
    options = ("--quiet", "--disable-pip-version-check")
    subprocess.run([python, "-m", "pip", command, *options, *arguments], check=True)


def called(folder: Path, program: Path, *arguments: str) -> str:
    """What a program prints in a folder, with a home of its own and without this checkout."""
    left_out = {"PYTHONPATH", "PREFECT_API_URL", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        env={**environment, "HOME": str(folder.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_all_of_the_packages_and_nothing_else(wheel: Path) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    named = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in named if ".dist-info/" not in name} == files
    assert any(name.endswith("licenses/LICENSE") for name in named)


def test_the_command_works_in_an_empty_folder(programs: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "empty").mkdir()
    logveil = programs / "logveil"
    assert called(folder, logveil, "--version") == f"logveil {VERSION}\n"
    assert "Release in release" in called(folder, logveil, "run", "--bare")
    assert {path.name for path in (folder / "release").iterdir()} == RELEASE
    assert "verified: all" in called(folder, logveil, "verify", "release")
    assert called(folder, logveil, "sample") == SAMPLE_LOG.read_text()
    assert {path.name for path in folder.iterdir()} == {"release"}


def test_nothing_is_taken_from_the_checkout(programs: Path, tmp_path: Path) -> None:
    code = f"import {', '.join(PACKAGES)}; print({', '.join(f'{p}.__file__' for p in PACKAGES)})"
    for place in called(tmp_path, programs / "python", "-c", code).split():
        assert Path(place).is_relative_to(programs.parent)
