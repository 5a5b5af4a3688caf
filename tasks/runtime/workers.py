"""Blocks of work on several cores.

Workers are forked from a process that has imported what they need (Python's fork server), for to
import spaCy takes longer than to read some ten thousand queries. This process itself is never
forked: Prefect runs threads in it.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import chain, islice
from multiprocessing import forkserver, get_context, parent_process
from threading import Thread
from typing import Any, Final

from tasks.core.starmap import Result, Starmap, serial

WAITING_PER_WORKER = 1
"""Blocks prepared ahead of each worker: enough to keep it busy, few enough for memory."""

IMPORTED: Final = (
    "tasks.reading",
    "tasks.redacting",
    "tasks.adapters.detection.pipeline",
    "presidio_analyzer",
)
IMPORTED_ON_DASK: Final = (*IMPORTED, "distributed", "prefect_dask", "tasks.steps")


Elsewhere = Callable[[], AbstractContextManager[Starmap]]
_ELSEWHERE: ContextVar[Elsewhere | None] = ContextVar("elsewhere", default=None)


@contextmanager
def blocks_run(elsewhere: Elsewhere) -> Iterator[None]:
    """Let blocks be run in other ways than by processes of this one."""
    token = _ELSEWHERE.set(elsewhere)
    try:
        yield
    finally:
        _ELSEWHERE.reset(token)


class _Prepared:
    """Whether the process from which workers are forked has been started."""

    yet = False


def are_prepared() -> bool:
    return _Prepared.yet


def prepare_workers(modules: Sequence[str] = IMPORTED) -> None:
    """Begin to import what workers need, and return at once; the first call decides what."""
    _Prepared.yet = True
    forkserver.set_forkserver_preload(list(modules))
    # Ctrl-C reaches every process of the terminal; only the one in front answers it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def imported() -> None:
    """Import what workers need, in a worker that was not forked from a prepared process."""
    for name in IMPORTED:
        import_module(name)


@contextmanager
def running_blocks(workers: int) -> Iterator[Starmap]:
    """Run blocks here, or in some processes, or elsewhere: same results in the same order."""
    elsewhere = _ELSEWHERE.get()
    if elsewhere is not None:
        with elsewhere() as run:
            yield run
        return
    if workers == 1:
        yield serial
        return
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


@contextmanager
def running_shards(workers: int) -> Iterator[Starmap]:
    """As `running_blocks`, but a call that is alone is made here, and needs no worker to start."""
    with ExitStack() as stack:

        @cache
        def blocks() -> Starmap:
            return stack.enter_context(running_blocks(workers))

        def run(
            function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
        ) -> Iterator[Result]:
            remaining = iter(arguments)
            first = list(islice(remaining, 2))
            each = serial if len(first) < 2 else blocks()
            return each(function, chain(first, remaining))

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
