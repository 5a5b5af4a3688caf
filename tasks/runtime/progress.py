"""How phases say how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from tasks.core.starmap import Result, Starmap

Part = TypeVar("Part", bound=Sized)

Progress = Callable[[int, int], None]
"""Called with what is done and the total, in whatever unit the phase counts."""


def silent(done: int, total: int) -> None:
    """A progress that nobody watches."""


def counted(parts: Iterable[Part], total: int, progress: Progress) -> Iterator[Part]:
    """The same parts, saying after each how much of the total they hold so far."""
    done = 0
    for part in parts:
        done += len(part)
        progress(done, total)
        yield part


def watched(starmap: Starmap, total: int, progress: Progress) -> Starmap:
    """The same run, saying after each part how many are done; more than foreseen are all."""
    done = 0

    def watching(
        function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        nonlocal done
        for result in starmap(function, arguments):
            done += 1
            progress(min(done, total), total)
            yield result

    progress(0, total)
    return watching
