"""Commands as users type them: in a process, with a home, a locale and permissions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNPRIVILEGED = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
"""Root, as whom tests may run, reads and writes everything; without capabilities it is a user."""


def command(
    arguments: Sequence[str | bytes],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    unprivileged: bool = False,
    umask: int = -1,
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m …` in a folder that is its home as well.

    Args:
        unprivileged: hold it to what the modes of files say.
    """
    own = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        **(environment or {}),
    }
    return subprocess.run(
        [*(UNPRIVILEGED if unprivileged else ()), sys.executable, "-m", *arguments],
        cwd=folder,
        env=own,
        capture_output=True,
        check=False,
        umask=umask,
    )
