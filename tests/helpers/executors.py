"""Whoever works through parts: this process, two beside it, or an engine that is handed files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tasks.core.part_sizes import PartSizes
from tasks.core.starmap import Result
from tasks.runtime.codec import name_of, named, pack, unpack
from tasks.runtime.executor import Executor, LocalExecutor
from tasks.runtime.remote import RemoteExecutor, SharedFiles, work


def small_parts(size: int = 50) -> PartSizes:
    """Parts of few things each, so that small logs have many; blocks of sets are as ever."""
    return PartSizes(
        pairs_per_part=10 * size,
        matches_per_part=size,
        sets_per_part=size,
        units_per_part=2 * size,
        rows_per_part=size,
        concepts_per_part=size,
    )


@dataclass
class Here:
    """An engine that does the work at once, in this process.

    Attributes:
        functions: the names of those that were called, for each task.
    """

    functions: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return len(self.functions)

    def __call__(self, address: str, code: str, function: str, names: list[str]) -> SimpleNamespace:
        seconds = work(address, code, function, names)
        self.functions.append(function)
        return SimpleNamespace(result=lambda: seconds)


class LastingFiles(SharedFiles):
    """Shared files that stay, to be looked at."""

    def remove(self, names: Iterable[str]) -> None: ...


def elsewhere(folder: Path, engine: Here, workers: int = 1) -> RemoteExecutor:
    """Hands parts to an engine by files, however few."""
    return RemoteExecutor(SharedFiles(str(folder)), engine, workers, ready_seconds=0)


@contextmanager
def each_executor(folder: Path) -> Iterator[list[Executor]]:
    """One process, two more, and an engine, which must have been given something to do."""
    engine = Here()
    yield [LocalExecutor(1), LocalExecutor(2, ready_seconds=0), elsewhere(folder, engine, 2)]
    assert engine.done > 2


def through_bytes(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Result]:
    """A starmap that sends all it is given, and what comes of it, as other machines get it."""
    call = named(name_of(function))
    return (unpack(pack(call(*unpack(pack(own))))) for own in arguments)
