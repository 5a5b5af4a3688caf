"""Who works through the parts of a phase: this process, others beside it, or other machines.

Core says what the parts are, and that decides the result; a phase says how long they would take
one after the other; where they are worked through is decided here and nowhere else. Results come
in order, so bytes are the same whoever does the work.

Processes beside this one are forked from one that has imported what they need (Python's fork
server), for to import spaCy takes longer than to read some ten thousand queries. This process
itself is never forked: Prefect runs threads in it. (joblib's loky would start each worker anew,
and import spaCy in each.) Other machines: `remote`.
"""

from __future__ import annotations

import math
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from importlib import import_module
from itertools import chain, islice
from multiprocessing import forkserver, get_context, parent_process
from threading import Thread
from typing import Any, Final, Protocol

from tasks.core.starmap import Result, Starmap, serial

WAITING_PER_WORKER: Final = 1
"""Parts prepared ahead of each worker: enough to keep it busy, few enough for memory."""
READY_SECONDS: Final = 3.0
"""So long until others are ready to help: what takes no longer is done here."""
ALWAYS_ELSEWHERE: Final = math.inf
"""Seconds of work that this process is not ready for: it has not imported what that takes."""
FORKED_SECONDS: Final = 0.5
"""The same once the process from which they are forked has been started."""
IMPORTED: Final = (
    "tasks.adapters.detection.text_reader",
    "tasks.phases.redact",
    "tasks.adapters.detection.pipeline",
    "presidio_analyzer",
)
"""What workers need."""
IMPORTED_ON_DASK: Final = (*IMPORTED, "distributed", "prefect_dask", "tasks.steps")


class Executor(Protocol):
    """Works through parts.

    Attributes:
        workers: how many processes help.
        is_remote: whether they see the files of the log and of the store, and nothing else.
    """

    @property
    def workers(self) -> int: ...

    @property
    def is_remote(self) -> bool: ...

    def running(self, seconds: float) -> AbstractContextManager[Starmap]:
        """Where work is done that would take this process so long."""

    def take_figures(self) -> dict[str, dict[str, float]]:
        """What calls of each function took elsewhere since this was last asked."""


class LocalExecutor:
    """This process, and others of this machine if there is enough to do."""

    is_remote = False

    def __init__(self, workers: int, ready_seconds: float = READY_SECONDS) -> None:
        self.workers = workers
        self._ready_seconds = ready_seconds

    @contextmanager
    def running(self, seconds: float) -> Iterator[Starmap]:
        ready = FORKED_SECONDS if _ForkServer.started else READY_SECONDS
        if self.workers == 1 or seconds < min(ready, self._ready_seconds):
            yield serial
        else:
            with sharing(lambda: _pool(self.workers)) as run:
                yield run

    def take_figures(self) -> dict[str, dict[str, float]]:
        """Nothing is done elsewhere."""
        return {}


@contextmanager
def sharing(others: Callable[[], AbstractContextManager[Starmap]]) -> Iterator[Starmap]:
    """Let others work through parts; one that is alone stays here, and nobody is started for it."""
    with ExitStack() as stack:

        @cache
        def started() -> Starmap:
            return stack.enter_context(others())

        def run(
            function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
        ) -> Iterator[Result]:
            remaining = iter(arguments)
            first = list(islice(remaining, 2))
            each = serial if len(first) < 2 else started()
            return each(function, chain(first, remaining))

        yield run


class _ForkServer:
    """Whether the process from which workers are forked has been started."""

    started = False


def prepare_workers(modules: Sequence[str] = IMPORTED) -> None:
    """Begin to import what workers need, and return at once; the first call decides what."""
    _ForkServer.started = True
    forkserver.set_forkserver_preload(list(modules))
    # Ctrl-C reaches every process of the terminal; only the one in front answers it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def import_for_work() -> None:
    """Import what workers need, in a worker that was not forked from a prepared process."""
    for name in IMPORTED:
        import_module(name)


@contextmanager
def _pool(workers: int) -> Iterator[Starmap]:
    prepare_workers()
    context = get_context("forkserver")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_become_worker) as pool:

        def run(
            function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
        ) -> Iterator[Result]:
            remaining = iter(arguments)
            first = islice(remaining, (1 + WAITING_PER_WORKER) * workers)
            waiting = deque(pool.submit(function, *own) for own in first)
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(function, *own) for own in islice(remaining, 1))

        yield run


def _become_worker() -> None:
    """Leave Ctrl-C alone, and end when the process one works for has ended, however it did."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
