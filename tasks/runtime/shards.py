"""Shards: parts of a phase that run in other processes, on this machine or on others.

A shard's arguments and its result are content-addressed files in the shared part of the store, and
whoever runs it is told their names alone. A result that is there is not made again: a shard that
is repeated, because its worker was lost, say, goes on where the last attempt ended. Who runs what
and where, and what is tried again, is not decided here but by the engine behind `Submit`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from tasks.core.digests import digest
from tasks.core.errors import InputError, UsageError
from tasks.runtime.code import code_digest
from tasks.runtime.codec import name_of, named, pack, unpack
from tasks.runtime.errors import contained
from tasks.runtime.shard_figures import MEGABYTE, Figures, figures_of
from tasks.runtime.shared_files import SharedFiles

TASKS_PER_WORKER: Final = 2
"""Few enough for tasks of minutes, enough that no worker waits long for the last: a task costs a
fifth of a second, most of it for Prefect to make its settings anew."""

Result = TypeVar("Result")


class Waiting(Protocol):
    """A task that was submitted."""

    def result(self) -> list[float]:
        """Wait until it is done; gives what `work` returned, or raises what it raised."""


Submit = Callable[[str, str, str, list[str]], Waiting]
"""Has `work` called with these arguments somewhere."""


@contained
def work(address: str, code: str, function: str, names: list[str]) -> list[float]:
    """Call a function with each of some arguments, and leave the results; runs in a worker.

    Args:
        address: of the shared files.
        code: a digest of the code that the results are expected from.
        function: its name.
        names: of the arguments.

    Returns:
        Seconds of each call, 0 if its result was there.
    """
    if code != code_digest():
        raise UsageError(
            "a Dask worker runs other code than the flow: start it from the same checkout, with "
            "the same packages"
        )
    files, call = SharedFiles(address), named(function)
    seconds = []
    for name in names:
        started, result = time.perf_counter(), _result_name(code, function, name)
        is_there = files.holds(result)
        if not is_there:
            files.put(result, pack(call(*unpack(_content(files, name)))))
        seconds.append(0.0 if is_there else time.perf_counter() - started)
    return seconds


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
        sizes, figures = [size for _, size in put], figures_of(called)
        figures.arguments_mb += sum(sizes) / MEGABYTE
        tasks: dict[int, _Task] = {}
        for share in shares_of(sizes, self._tasks):
            given = [names[place] for place in share]
            task = _Task(self._submit(self._files.address, code, called, given), figures)
            tasks.update(dict.fromkeys(share, task))
        return self._collected(tasks, results, figures)

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

    def _collected(
        self, tasks: Mapping[int, _Task], results: Sequence[str], figures: Figures
    ) -> Iterator[Any]:
        """The results in order, each as soon as the task that makes it is done."""
        for place, name in enumerate(results):
            tasks[place].wait()
            content = _content(self._files, name)
            figures.results_mb += len(content) / MEGABYTE
            yield unpack(content)


class _Task:
    """Some calls that were submitted together."""

    def __init__(self, waiting: Waiting, figures: Figures) -> None:
        self._waiting: Waiting | None = waiting
        self._figures = figures

    def wait(self) -> None:
        """Until all of them are done; the first time alone there is something to wait for."""
        if self._waiting is not None:
            started = time.perf_counter()
            seconds = self._waiting.result()
            self._figures.add_task(seconds, time.perf_counter() - started)
            self._waiting = None


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


def _content(files: SharedFiles, name: str) -> bytes:
    content = files.get(name)
    if content is None:
        raise InputError(f"{name} is missing from {files.address}, or damaged: run again")
    return content
