"""A PostgreSQL server of Debian's for tests, on a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


def programs() -> Path:
    """The folder of PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    place = found[-1] if found else shutil.which("initdb")
    if place is None:
        pytest.skip("no PostgreSQL: initdb is not installed (apt install postgresql)")
    return Path(place).parent


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """The environment in which PostgreSQL's own commands find the server."""
    place = programs()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, NOBODY, NOBODY)
    data = str(folder / "data")
    _run([place / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync"])
    serve: list[str | Path] = [place / "pg_ctl", "-D", data, "-w", "-l", str(folder / "log")]
    _run([*serve, "-o", f"-k {folder} -c listen_addresses='' -c fsync=off", "start"])
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    try:
        yield {"PGHOST": str(folder), "PGUSER": "postgres", "PATH": path}
    finally:
        _run([*serve, "-m", "immediate", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str | Path]) -> None:
    """Run as somebody without privileges: PostgreSQL refuses to work for root."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    prefix = drop if os.geteuid() == 0 else []
    # Its own files: a server that inherits a pipe would keep its reader waiting.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run([*prefix, *command], cwd="/", stdout=said, stderr=said, check=False)
        said.seek(0)
        assert done.returncode == 0, said.read().decode()
