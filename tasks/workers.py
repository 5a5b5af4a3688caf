"""Blocks of work on several cores.

Workers are forked from a process that has imported what they need (Python's fork server), for to
import spaCy takes longer than to read some ten thousand queries. This process itself is never
forked: Prefect runs threads in it.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import forkserver, get_context, parent_process
from threading import Thread
from typing import Any, Final

from tasks.core.runs import Result, Run, here

WAITING_PER_WORKER = 1
"""Blocks prepared ahead of each worker: enough to keep it busy, few enough for memory."""

IMPORTED: Final = ("tasks.reading", "tasks.adapters.language", "presidio_analyzer")


class _Prepared:
    """Whether the process from which workers are forked has been started."""

    yet = False


def are_prepared() -> bool:
    return _Prepared.yet


def prepare_workers() -> None:
    """Begin to import what workers need, and return at once."""
    _Prepared.yet = True
    forkserver.set_forkserver_preload(list(IMPORTED))
    # Ctrl-C reaches every process of the terminal; only the one in front answers it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def running_blocks(workers: int) -> Iterator[Run]:
    """Run blocks here, or in some processes: same results in the same order."""
    if workers == 1:
        yield here
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


def _become_worker() -> None:
    """Leave Ctrl-C alone, and end when the process one works for has ended, however it did."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
