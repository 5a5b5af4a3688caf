"""`python -m deployments.pool make`: make the work pool; `… work`: be its worker.

A worker that is killed together with its flow leaves a run that Prefect shows as running for ever
and that keeps the deployment's only slot, so no later run would start. Before a worker begins,
whatever its pool has under way must therefore still have a process on this machine, or is ended
here: the next scheduled run takes up its files. So one machine serves a pool, with one worker.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import ObjectAlreadyExists
from prefect.states import Cancelled, Crashed

from deployments.site import POOL
from flows.alerts import send_alert

UNDER_WAY = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)
RUN_ID = re.compile(rb"(?:^|\0)PREFECT__FLOW_RUN_ID=([0-9a-f-]{36})")
GONE = "the worker and the run's process are gone; the next scheduled run takes up its files"


def make_pool(client: SyncPrefectClient) -> None:
    """Make the pool unless it is there."""
    with suppress(ObjectAlreadyExists):
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))


def end_orphans(client: SyncPrefectClient) -> list[str]:
    """End the runs whose process is gone; returns their names."""
    states = FlowRunFilterState(type=FlowRunFilterStateType(any_=list(UNDER_WAY)))
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(state=states),
        work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[POOL])),
    )
    alive = runs_with_a_process()
    orphans = [run for run in found if run.id not in alive]
    for run in orphans:
        client.set_flow_run_state(run.id, _end_of(run), force=True)
        send_alert({"run": run.name, "state": "Crashed"})
    return [run.name for run in orphans]


def _end_of(run: FlowRun) -> State[None]:
    if run.state_type == StateType.CANCELLING:
        return Cancelled(message=GONE)
    return Crashed(message=GONE)


def runs_with_a_process(processes: Path = Path("/proc")) -> set[UUID]:
    """The flow runs that a process of this machine works on: Prefect tells it which it is."""
    found = set()
    for path in processes.glob("[0-9]*/environ"):
        # It may have ended, or be somebody else's.
        with suppress(OSError):
            found.update(RUN_ID.findall(path.read_bytes()))
    return {UUID(run_id.decode()) for run_id in found}


def make() -> None:
    with get_client(sync_client=True) as client:
        make_pool(client)


def work() -> None:
    """End what has no process any more, then become the worker."""
    with get_client(sync_client=True) as client:
        for name in end_orphans(client):
            print(f"{name}: {GONE}", flush=True)
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL]
    os.execv(sys.executable, [*command, "--type", "process", "--name", POOL])


if __name__ == "__main__":
    {"make": make, "work": work}[sys.argv[1]]()
