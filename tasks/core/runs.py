"""Work in parts that do not know of each other, so that it does not matter who does which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")


class Run(Protocol):
    """Calls a function with each of some arguments, here or elsewhere; results come in order."""

    def __call__(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]: ...


def here(function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """Call in this process."""
    return starmap(function, arguments)
