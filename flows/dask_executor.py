"""Parts on Dask: prefect-dask schedules them, moves them and starts lost ones again.

Whatever is here runs inside a Prefect flow. The phases stay in the process of the flow; their parts
become Prefect tasks on the workers of a Dask cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final

from prefect.settings import PREFECT_API_URL, temporary_settings

from tasks import steps
from tasks.adapters.detection.text_reader import TextReader, get_ready
from tasks.errors import InputError, UsageError
from tasks.runtime.executor import IMPORTED_ON_DASK, Executor, LocalExecutor, prepare_workers
from tasks.runtime.remote import RemoteExecutor, SharedFiles, Waiting
from tasks.settings import Settings

FOR_OUR_WORK: Final = {
    # A thread would look every 10 ms at what a worker does.
    "distributed.worker.profile.enabled": False,
    # Forked from the process that `prepare_workers` has let import what they need. Dask's own
    # setting for memory (every freed megabyte is given back at once, and needed again for the
    # next array) has no effect on forked processes, which is as well.
    "distributed.worker.multiprocessing-method": "forkserver",
}

SHOWN_AS: Final = {
    "tasks.adapters.detection.text_reader:read_rows_of_part": "analyse: texts of parts of files",
    "tasks.core.similarity.pairs:_least_of_part": "compare: pairs of sets",
    "tasks.core.clustering.blocks:_cluster": "cluster: blocks",
    "tasks.core.rows.classes:classes_of_part": "cluster: rows",
    "tasks.core.similarity.medoids:_candidate_totals": "measure: centre",
    "tasks.core.similarity.pairs:_matches_of_part": "measure: cohesion",
    "tasks.phases.measure:loss_of_part": "measure: loss",
}
"""What Prefect's page says in place of the name of a function."""


@contextmanager
def executor_of(settings: Settings) -> Iterator[Executor]:
    """Whoever works through the parts of a flow, as its settings say."""
    if settings.runner == "local":
        yield LocalExecutor(settings.processes)
        return
    with _api_for_workers(), _connected(settings) as runner:
        # A cluster that grows on demand may have none yet.
        workers = sum(runner.client.nthreads().values()) or settings.workers
        yield RemoteExecutor(SharedFiles(settings.shared), _Submit(runner), workers)


class _Submit:
    """Submits parts as tasks of the flow in which this is made, not of the phase that asks.

    Privacy-critical: prefect-dask sends the context of a task along, with the arguments of the
    task around it, and a phase is given the whole log.
    """

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._flow = copy_context()

    def __call__(self, address: str, code: str, function: str, names: list[str]) -> Waiting:
        given = {"address": address, "code": code, "function": function, "names": names}
        part = steps.part.with_options(task_run_name=SHOWN_AS.get(function, function))
        waiting: Waiting = self._flow.run(self._runner.submit, part, given)
        return waiting


@contextmanager
def _connected(settings: Settings) -> Iterator[Any]:
    """prefect-dask's task runner, with workers that get ready while the flow reads the log."""
    try:
        import dask
        from distributed import fire_and_forget
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError:
        raise UsageError("runner dask needs more packages: pip install 'logveil[dask]'") from None
    if not settings.dask_address:
        prepare_workers(IMPORTED_ON_DASK)
    with dask.config.set(FOR_OUR_WORK), DaskTaskRunner(**_cluster(settings)) as runner:
        try:
            client = runner.client
        except OSError as fault:
            raise InputError(f"no Dask scheduler at {runner.address}: {fault}") from None
        reader = TextReader.of(settings).from_anywhere
        for worker in client.nthreads():
            ready = client.submit(get_ready, reader, workers=[worker], pure=False)
            fire_and_forget(ready)
        yield runner


def _cluster(settings: Settings) -> dict[str, Any]:
    """The cluster that is there, or one on this machine."""
    if settings.dask_address:
        return {"address": settings.dask_address}
    own = {
        "n_workers": settings.processes,
        "threads_per_worker": 1,
        "memory_limit": f"{settings.worker_memory}GB",
        # Its dashboard would be open to whoever reaches this machine.
        "dashboard_address": None,
    }
    return {"cluster_kwargs": own}


@contextmanager
def _api_for_workers() -> Iterator[None]:
    """Tell workers which server the flow uses; each would start an embedded one of its own."""
    if PREFECT_API_URL.value():
        yield
        return
    from prefect.server.api.server import SubprocessASGIServer

    with temporary_settings({PREFECT_API_URL: SubprocessASGIServer().api_url}):
        yield
