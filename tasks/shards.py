"""Shards: parts of a phase that run in other processes, on this machine or on others.

A shard's arguments and its result are content-addressed files in the shared part of the store, and
whoever runs it is told their names alone. A result that is there is not made again: a shard that
is repeated, because its worker was lost, say, goes on where the last attempt ended. Who runs what
and where, and what is tried again, is not decided here but by the engine behind `Submit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from tasks.adapters.code import code_digest
from tasks.adapters.packing import name_of, named, pack, unpack
from tasks.adapters.shared_files import SharedFiles
from tasks.containment import contained
from tasks.core.digests import digest
from tasks.core.errors import InputError, UsageError

TASKS_PER_WORKER: Final = 2
"""Few enough for tasks of minutes, enough that no worker waits long for the last: a task costs a
fifth of a second, most of it for Prefect to make its settings anew."""

Result = TypeVar("Result")


class Waiting(Protocol):
    """A task that was submitted."""

    def result(self) -> Any:
        """Wait until it is done; raises what it raised."""


Submit = Callable[[str, str, str, list[str]], Waiting]
"""Has `work` called with these arguments somewhere."""


@contained
def work(address: str, code: str, function: str, names: list[str]) -> None:
    """Call a function with each of some arguments, and leave the results; runs in a worker.

    Args:
        address: of the shared files.
        code: a digest of the code that the results are expected from.
        function: its name.
        names: of the arguments.
    """
    if code != code_digest():
        raise UsageError(
            "a Dask worker runs other code than the flow: start it from the same checkout, with "
            "the same packages"
        )
    files, call = SharedFiles(address), named(function)
    for name in names:
        result = _result_name(code, function, name)
        if not files.holds(result):
            files.put(result, pack(call(*_loaded(files, name))))


class SharedRun:
    """A `Run` whose calls are made by the tasks of an engine."""

    def __init__(self, files: SharedFiles, submit: Submit, workers: int) -> None:
        self._files = files
        self._submit = submit
        self._tasks = TASKS_PER_WORKER * workers
        self._names: set[str] = set()

    def __call__(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        code, called = code_digest(), name_of(function)
        put = [self._put(own) for own in arguments]
        names = [name for name, _ in put]
        results = [_result_name(code, called, name) for name in names]
        self._names.update(names, results)
        waiting: dict[int, Waiting] = {}
        for share in shares_of([size for _, size in put], self._tasks):
            given = [names[place] for place in share]
            task = self._submit(self._files.address, code, called, given)
            waiting.update(dict.fromkeys(share, task))
        return self._collected(waiting, results)

    def forget(self) -> None:
        """Remove the files of all calls so far: what they led to is kept elsewhere."""
        self._files.remove(self._names)
        self._names.clear()

    def _put(self, arguments: tuple[Any, ...]) -> tuple[str, int]:
        """The name of a call's arguments, and how large they are."""
        content = pack(arguments)
        name = f"arguments/{digest(content)}"
        if not self._files.holds(name):
            self._files.put(name, content)
        return name, len(content)

    def _collected(self, waiting: Mapping[int, Waiting], results: Sequence[str]) -> Iterator[Any]:
        """The results in order, each as soon as the task that makes it is done."""
        for place, result in enumerate(results):
            waiting[place].result()
            yield _loaded(self._files, result)


def shares_of(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Places of calls for each of some tasks, about as much work for each.

    The largest goes first, always to the task that has least so far: in a task the order of its
    calls is that of their sizes.
    """
    shares: list[list[int]] = [[] for _ in range(min(most, len(sizes)))]
    totals = [0] * len(shares)
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        least = totals.index(min(totals))
        shares[least].append(place)
        totals[least] += sizes[place]
    return shares


def _result_name(code: str, function: str, name: str) -> str:
    return f"results/{digest(code, function, name)}"


def _loaded(files: SharedFiles, name: str) -> Any:
    content = files.get(name)
    if content is None:
        raise InputError(f"{name} is missing from {files.address}, or damaged: run again")
    return unpack(content)
