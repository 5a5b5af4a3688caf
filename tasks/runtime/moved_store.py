"""What older versions kept in the user's cache folder is moved to the state folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from tasks.errors import InputError, printable
from tasks.folders import cache_folder
from tasks.runtime.files import LEDGER_NAME, RELEASES, locked, make_private

LASTING: Final = (RELEASES, f"{LEDGER_NAME}-wal", f"{LEDGER_NAME}-shm", LEDGER_NAME, "secret")
"""What a store cannot make again. The secret goes last: until then the move is not complete."""


def take_over(store: Path) -> None:
    """Move what cannot be made again out of the user's cache folder, which others may empty.

    Raises:
        InputError: it cannot be moved, or an older version has been used again since.
    """
    before = cache_folder(store)
    if before == store or not any(os.path.lexists(before / name) for name in LASTING):
        return
    with locked(store, lambda: None):
        make_private(store)
        moved = [name for name in LASTING if os.path.lexists(before / name)]
        for name in moved:
            _move_once(before / name, store / name)
    told = f"logveil: moved {', '.join(moved)} from {before} to {store}"
    print(printable(told), file=sys.stderr)


def _move_once(path: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise InputError(
            f"both {path} and {target} are there: an older logveil was used since the store was "
            f"moved; go on with either: say --store {path.parent}, or put {path} away"
        )
    try:
        shutil.move(path, target)
    except OSError as fault:
        raise InputError(
            f"{path} belongs in {target.parent} now and cannot be moved ({fault.strerror}): "
            f"move it by hand, or say --store {path.parent}"
        ) from None
