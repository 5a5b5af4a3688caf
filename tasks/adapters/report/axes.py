"""From numbers to places on a picture, and the axes that say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.adapters.report.svg import WIDTH, line, upright, words

LEFT, RIGHT, TOP, BOTTOM = 68.0, WIDTH - 22.0, 24.0, 226.0
HEIGHT = 276.0
"""The frame in which charts with two axes are drawn, and the picture's height."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` lie evenly, or by their ratio, from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        value, low, high = map(math.log if self.log else float, (value, self.low, self.high))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def round_step(span: float, most: int) -> float:
    """The least of 1, 2, 5, 10, 20, … (or a tenth, …) that cuts a span into `most` at most."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(step * power for step in (1, 2, 5, 10) if step * power * most >= span * 0.999999)


def even_ticks(high: float, *, most: int = 5, whole: bool = False) -> list[float]:
    """Round numbers from 0 to the first at or above `high`."""
    step = round_step(max(high, 1e-9), most)
    step = max(1.0, step) if whole else step
    return [step * place for place in range(math.ceil(high / step - 1e-9) + 1)]


def ratio_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, 20, 50, … between two numbers; powers of ten alone if they lie far apart."""
    digits = (1, 2, 5) if high / low < 1000 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(digit * 10**power) for power in powers for digit in digits]
    return [tick for tick in ticks if low <= tick <= high]


def upward_axis(
    scale: Scale, ticks: Sequence[float], name: str, show: Callable[[float], str]
) -> list[str]:
    """The axis at the left, with a faint line across at every tick."""
    across = [line("grid", LEFT, scale.at(tick), RIGHT, scale.at(tick)) for tick in ticks]
    numbers = [words(show(tick), LEFT - 6, scale.at(tick) + 4, anchor="end") for tick in ticks]
    return [*across, *numbers, upright(name, 13, (TOP + BOTTOM) / 2)]


def sideward_axis(
    places: Sequence[tuple[float, str]], name: str, *, bottom: float = BOTTOM
) -> list[str]:
    """The axis at the bottom: ticks by their place and what they say."""
    ticks = [line("axis", x, bottom, x, bottom + 4) for x, _ in places]
    numbers = [words(said, x, bottom + 18, anchor="middle") for x, said in places]
    middle = (LEFT + RIGHT) / 2
    return [
        line("axis", LEFT, bottom, RIGHT, bottom),
        *ticks,
        *numbers,
        words(name, middle, bottom + 40, anchor="middle", kind="axis-name"),
    ]
