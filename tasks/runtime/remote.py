"""Parts that other machines work through, by files that all of them share.

A part's arguments and its result are content-addressed files in the shared part of the store (a
folder, NFS, or `s3://` by fsspec), and whoever works is told their names alone. A result that is
there is not made again: a part that is repeated, because its worker was lost, say, goes on where
the last attempt ended. Who works where, and what is tried again, is not decided here but by the
engine behind `Submit` (prefect-dask).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import fsspec

from tasks.core.digests import digest
from tasks.core.starmap import Result, Starmap, serial
from tasks.errors import DiskTrouble, InputError, UsageError
from tasks.runtime.codec import name_of, named, pack, sealed, unpack, unsealed
from tasks.runtime.executor import ALWAYS_ELSEWHERE, READY_SECONDS, sharing
from tasks.runtime.files import remove_asides, write_private
from tasks.runtime.fingerprint import program_fingerprint
from tasks.runtime.redacted_errors import redacted_errors

TASKS_PER_WORKER: Final = 2
"""Few enough for tasks of minutes, enough that no worker waits long for the last: a task costs a
fifth of a second, most of it for Prefect to make its settings anew."""
MEGABYTE: Final = 2**20


class SharedFiles:
    """The files below one address; in a folder they are readable for their owner alone."""

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            # A listing that is remembered would hide what another process has written since.
            self._system, self._root = fsspec.url_to_fs(address, use_listings_cache=False)
        except (ImportError, ValueError) as fault:
            raise InputError(f"cannot use --store {address}: {fault}") from None

    def put(self, name: str, content: bytes) -> None:
        whole = sealed(name, content)
        if self._is_folder:
            write_private(Path(self._path(name)), whole)
            return
        try:
            self._system.pipe_file(self._path(name), whole)
        except Exception as fault:
            raise self._failed(fault) from None

    def get(self, name: str) -> bytes | None:
        """The content of a file, None if it is missing; a damaged one is removed."""
        try:
            whole = self._system.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        except Exception as fault:
            raise self._failed(fault) from None
        content = unsealed(name, whole)
        if content is None:
            self.remove([name])
        return content

    def holds(self, name: str) -> bool:
        try:
            return bool(self._system.exists(self._path(name)))
        except Exception as fault:
            raise self._failed(fault) from None

    def remove(self, names: Collection[str]) -> None:
        """Remove files as far as they are there, and what a lost worker left half written."""
        for name in names:
            if self.holds(name):
                self._system.rm_file(self._path(name))
        if self._is_folder:
            remove_asides(Path(self._path(name)) for name in names)

    @property
    def _is_folder(self) -> bool:
        return "file" in self._system.protocol

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _failed(self, fault: Exception) -> InputError:
        """Network libraries raise what they like; what they say holds no row of a log."""
        lasting = isinstance(fault, PermissionError | FileNotFoundError)
        kind = InputError if lasting else DiskTrouble
        return kind(f"cannot use --store {self.address}: {type(fault).__name__}: {fault}")


@dataclass(slots=True)
class Figures:
    """What all calls of one function took: by these figures a larger log can be sized.

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


class Waiting(Protocol):
    """A task that was submitted."""

    def result(self) -> list[float]:
        """Wait until it is done; gives what `work` returned, or raises what it raised."""


Submit = Callable[[str, str, str, list[str]], Waiting]
"""Has `work` called with these arguments somewhere."""


@redacted_errors
def work(address: str, code: str, function: str, names: list[str]) -> list[float]:
    """Call a function with each of some arguments, and leave the results; runs in a worker.

    Args:
        address: of the shared files.
        code: a fingerprint of the code that the results are expected from.
        function: its name.
        names: of the arguments.

    Returns:
        Seconds of each call, 0 if its result was there.
    """
    if code != program_fingerprint():
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


class RemoteExecutor:
    """Other machines, if there is enough to do."""

    is_remote = True

    def __init__(
        self,
        files: SharedFiles,
        submit: Submit,
        workers: int,
        *,
        ready_seconds: float = READY_SECONDS,
        tasks_per_worker: int = TASKS_PER_WORKER,
    ) -> None:
        self.workers = workers
        self._figures: dict[str, Figures] = {}
        self._files = files
        self._submit = submit
        self._tasks = tasks_per_worker * workers
        self._ready_seconds = ready_seconds

    def take_figures(self) -> dict[str, dict[str, float]]:
        """What the calls of each function took since this was last asked."""
        found = {name: own.as_dict() for name, own in self._figures.items()}
        self._figures.clear()
        return found

    @contextmanager
    def running(self, seconds: float) -> Iterator[Starmap]:
        if seconds < self._ready_seconds:
            yield serial
        elif seconds == ALWAYS_ELSEWHERE:
            with self._elsewhere() as run:
                yield run
        else:
            with sharing(self._elsewhere) as run:
                yield run

    @contextmanager
    def _elsewhere(self) -> Iterator[Starmap]:
        run = _RemoteRun(self._files, self._submit, self._tasks, self._figures)
        yield run
        # Not if it failed: the next run goes on from there.
        run.forget()


class _RemoteRun:
    """A `Starmap` whose calls are made by the tasks of an engine."""

    def __init__(
        self, files: SharedFiles, submit: Submit, tasks: int, figures: dict[str, Figures]
    ) -> None:
        self._files = files
        self._submit = submit
        self._tasks = tasks
        self._figures = figures
        self._names: set[str] = set()

    def __call__(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        code, called = program_fingerprint(), name_of(function)
        put = [self._put(own) for own in arguments]
        names = [name for name, _ in put]
        results = [_result_name(code, called, name) for name in names]
        self._names.update(names, results)
        sizes, figures = [size for _, size in put], self._figures.setdefault(called, Figures())
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
