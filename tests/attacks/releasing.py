"""Releases made by the command, as anybody would: for attacks that act before a release is made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.attacks.evidence import EvidenceError

ROOT: Final = Path(__file__).parent.parent.parent
HEADER: Final = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
SHARED: Final = ("k", "method", "guarantee", "scope", "time")
"""Settings with which a release is made again."""

Row = tuple[str, str, str]
"""User, text, time."""

Releaser = Callable[[Sequence[Row], str, Mapping[str, str]], Path]
"""Takes rows, a name and options, and returns the folder of their release."""


def command(module: str, *arguments: str | Path) -> str:
    """What a command of the program prints; an error if it fails."""
    line = [sys.executable, "-m", module, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise EvidenceError(f"{module} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def sample(log: Path, *, queries: int, users: int, seed: int) -> Path:
    """A generated log."""
    options = ("--queries", str(queries), "--users", str(users), "--seed", str(seed))
    log.write_text(command("flows.sample", *options), encoding="utf-8")
    return log


def write_log(path: Path, rows: Iterable[Row]) -> Path:
    """A log in AOL's format."""
    lines = ["\t".join((*row, "", "")) for row in rows]
    path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    return path


def release(log: Path, out: Path, store: Path, options: Mapping[str, str]) -> Path:
    """The release of a log."""
    given = [text for name, value in options.items() for text in (f"--{name}", value)]
    command("flows.run", log, "--out", out, "--store", store, "--bare", "--quiet", *given)
    return out


def audit(folder: Path, store: Path, file: Path) -> Path:
    """The audit of a release, or of an edition."""
    command("flows.verify", folder, "--store", store, "--audit", file)
    return file


def options_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """The options with which a release was made, by its own account."""
    return {name: str(settings[name]) for name in SHARED if name in settings}


def releaser(folder: Path, settings: Mapping[str, Any]) -> Releaser:
    """Makes releases of changed logs in a folder, otherwise as the one that is attacked."""

    def make(rows: Sequence[Row], name: str, options: Mapping[str, str]) -> Path:
        log = write_log(folder / f"{name}.tsv", rows)
        return release(log, folder / name, folder / "store", options_of(settings) | dict(options))

    return make
