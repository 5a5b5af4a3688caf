"""Work in parts that do not know of each other, so that it does not matter who does which.

Core says what the parts are and is handed a `Starmap` that does them, here or elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Starmap(Protocol):
    """Calls a function with each of some tuples of arguments; results come in their order."""

    def __call__(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]: ...


def serial(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """The starmap of this process: one part after the other."""
    return starmap(function, arguments)
