"""What shards took, function by function: by these figures a larger log can be sized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, Final

MEGABYTE: Final = 2**20


@dataclass(slots=True)
class Figures:
    """Of all calls of one function.

    Attributes:
        seconds: that workers took, of all calls and of the longest.
        waited_seconds: that the flow did nothing but wait for them.
        arguments_mb, results_mb: files that were exchanged.
    """

    calls: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    waited_seconds: float = 0.0
    arguments_mb: float = 0.0
    results_mb: float = 0.0

    def add_task(self, seconds: Sequence[float], waited: float) -> None:
        """A task that is done, with the seconds of each of its calls."""
        self.calls += len(seconds)
        self.seconds += sum(seconds)
        self.longest_seconds = max(self.longest_seconds, *seconds)
        self.waited_seconds += waited

    def as_dict(self) -> dict[str, float]:
        return {name: round(value, 3) for name, value in asdict(self).items()}


_COUNTED: ContextVar[dict[str, Figures] | None] = ContextVar("counted", default=None)


@contextmanager
def counting_shards() -> Iterator[None]:
    """Count what shards take, from here to the end of a release."""
    token = _COUNTED.set({})
    try:
        yield
    finally:
        _COUNTED.reset(token)


def figures_of(function: str) -> Figures:
    """The figures of a function, to be added to."""
    counted = _COUNTED.get()
    return Figures() if counted is None else counted.setdefault(function, Figures())


def counted_shards() -> dict[str, Any]:
    """All figures, for `measures.json`; nothing if there was no shard."""
    counted = _COUNTED.get()
    if not counted:
        return {}
    return {"shards": {name: figures.as_dict() for name, figures in counted.items()}}
