"""Ctrl-C: what is said, and how to leave while an embedded Prefect server is dying."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

INTERRUPTED: Final = 130


def interrupted(kept: str) -> int:
    """Say so, and what is kept; returns the exit code."""
    print(f"logveil: interrupted; {kept}", file=sys.stderr, flush=True)
    return INTERRUPTED


def leave_at_once(folders: Sequence[Path], kept: str) -> NoReturn:
    """End this process and all it has started; what it wrote aside in the folders is removed."""
    from flows.anonymise import stop_embedded_servers
    from tasks.adapters.release import discard_own_draft

    for folder in folders:
        discard_own_draft(folder)
    stop_embedded_servers()
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(interrupted(kept))
