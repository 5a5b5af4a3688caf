"""Weighted draws that give the same log on every machine.

Only `Generator.random` is used, whose stream is fixed by PCG64, and only divisions and running
sums in order, which IEEE 754 fixes to the last bit: no power, no logarithm, no set is involved.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np

Item = TypeVar("Item")

BLOCK = 8192
"""Random numbers drawn at a time: the stream does not depend on it, only the speed does."""


@dataclass(frozen=True, slots=True)
class Weighted(Generic[Item]):
    """Items with the running sum of their weights, for a draw by bisection."""

    items: tuple[Item, ...]
    bounds: tuple[float, ...]


def weighted(items: Sequence[Item], weights: Sequence[float]) -> Weighted[Item]:
    """Items drawn in proportion to their weights."""
    return Weighted(tuple(items), tuple(accumulate(weights)))


def zipf(items: Sequence[Item], *, shift: float = 1.0) -> Weighted[Item]:
    """Items drawn by Zipf-Mandelbrot's law: the i-th (from 0) has weight 1 / (i + shift)."""
    return weighted(items, [1.0 / (rank + shift) for rank in range(len(items))])


class Dice:
    """A stream of random decisions that depends on nothing but its seed."""

    def __init__(self, seed: int) -> None:
        self._uniforms = _stream(np.random.Generator(np.random.PCG64(seed)))

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return next(self._uniforms)

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return next(self._uniforms) < probability

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(next(self._uniforms) * (high - low + 1))

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(next(self._uniforms) * len(items))]

    def pick(self, table: Weighted[Item]) -> Item:
        """One of the items in proportion to its weight."""
        bounds = table.bounds
        last = len(bounds) - 1
        return table.items[bisect_right(bounds, next(self._uniforms) * bounds[last], 0, last)]

    def pareto(self, cap: float) -> float:
        """A heavy-tailed number from 1 to cap (bounded Pareto of exponent 1)."""
        return 1.0 / (1.0 - next(self._uniforms) * (1.0 - 1.0 / cap))

    def digits(self, count: int) -> str:
        """So many random digits."""
        return "".join(str(self.between(0, 9)) for _ in range(count))


def _stream(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(BLOCK).tolist()
