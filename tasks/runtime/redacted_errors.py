"""Errors that leave a phase: ours, or their kind and place, never what a row said."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from tasks.errors import LogveilError, UnexpectedError, disk_fault

ROOT: Final = Path(__file__).parents[2]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def redacted_errors(phase: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let only our own errors out of a function.

    Any other exception may quote the row it stumbled over, and Prefect stores messages: its
    kind and place are told, its message and its chain are not.
    """

    @wraps(phase)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return phase(*args, **kwargs)
        except LogveilError:
            raise
        except Exception as fault:
            told = redacted(phase.__name__, fault)
        # Outside the handler, so that the original is not even kept as context.
        raise told

    return run


def redacted(phase: str, fault: Exception) -> LogveilError:
    """What may be told of a fault."""
    if isinstance(fault, OSError) and fault.strerror:
        told = f"{phase}: {fault.strerror}; free space or permissions may be missing"
        return disk_fault(told, fault)
    own = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(fault.__traceback__)
        if ROOT in Path(frame.filename).parents
    ]
    return UnexpectedError(
        f"{phase} failed: {type(fault).__name__} at {own[-1]}; please report this with the version"
    )
