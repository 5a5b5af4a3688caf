"""Functions timed in this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

ROUNDS: Final = 5

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Timed(Generic[Result]):
    seconds: float
    result: Result


def timed(function: Callable[[], Result]) -> Timed[Result]:
    started = time.perf_counter()
    result = function()
    return Timed(round(time.perf_counter() - started, 6), result)


def median_timed(function: Callable[[], Result]) -> Timed[Result]:
    """The median of some rounds, for what takes milliseconds."""
    rounds = sorted((timed(function) for _ in range(ROUNDS)), key=lambda each: each.seconds)
    return rounds[ROUNDS // 2]
