"""Blocks of work on several cores."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import Any

from tasks.core.runs import Result, Run, here

WAITING_PER_WORKER = 1
"""Blocks prepared ahead of each worker: enough to keep it busy, few enough for memory."""


@contextmanager
def running_blocks(workers: int) -> Iterator[Run]:
    """Run blocks here, or in some processes: same results in the same order."""
    if workers == 1:
        yield here
        return
    # Not forked: Prefect runs threads in this process.
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_ctrl_c_alone) as pool:

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


def _leave_ctrl_c_alone() -> None:
    """Ctrl-C reaches every process of the terminal; only the one in front answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
