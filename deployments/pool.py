"""`python -m deployments.pool deploy`: make the work pool and its deployments; `… work`: work.

A worker that is killed together with its flow leaves a run that Prefect shows as running for ever
and that keeps the deployment's only slot, so no later run would start. Before a worker begins,
whatever its pool has under way must therefore still have a process on this machine, or is ended
here: the next scheduled run takes up its files. So one machine serves a pool, with one worker.

Why not by Prefect's heartbeats alone (`automations.py` has them for what no worker of ours has
started): tried with 3.8.8, they end such a run after 83 s at best (this: 7 s), and never one that
was killed before its first heartbeat.

The worker starts `deployments.flow_run` and nothing else, with its own environment in its own
folder. A pool, a deployment or a run can ask Prefect's worker for any command, environment and
folder, a deployment also for steps before its flow and for code of its own: all these are in the
server's database, and this worker reads none of them.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from abc import ABC
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any, Final
from uuid import UUID

import anyio
from anyio.abc import TaskStatus
from prefect.client.orchestration import PrefectClient, SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentUpdate, WorkPoolCreate, WorkPoolUpdate
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.events import emit_event
from prefect.exceptions import ObjectAlreadyExists
from prefect.runner._flow_run_executor import FlowRunExecutionResult, FlowRunExecutorContext
from prefect.runner._process_manager import ProcessHandle
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.states import Cancelled, Crashed
from prefect.utilities.processutils import command_to_string
from prefect.workers.process import ProcessJobConfiguration, ProcessWorker, ProcessWorkerResult

from deployments.automations import make_automations
from deployments.config import POOL, ROOT, Config, read_config
from deployments.deployed import form_of, read_deployments
from deployments.services import START_SECONDS, processes, supervisor
from tasks.editions.inbox import complete_files
from tasks.errors import InputError, LogveilError

_UNDER_WAY: Final = FlowRunFilterState(
    type=FlowRunFilterStateType(any_=[StateType.PENDING, StateType.RUNNING, StateType.CANCELLING])
)
RUN_ID = re.compile(rb"(?:^|\0)PREFECT__FLOW_RUN_ID=([0-9a-f-]{36})")
LOOK_SECONDS = 2
AGAIN_SECONDS = 600
"""After these a file that still lies there is told of again: its run was cancelled, or failed."""
END_SECONDS = 15
"""So long a worker may take to end its flows."""
GONE = "the worker and the run's process are gone; the next scheduled run takes up its files"


NOTHING_TO_CHOOSE: Final[dict[str, Any]] = {
    "job_configuration": {"stream_output": True},
    "variables": {"type": "object", "properties": {}, "additionalProperties": False},
}
"""The pool's form: the server refuses what the worker would not heed."""


class OwnJob(ProcessJobConfiguration):
    """How a flow run is started, whatever the server's database says."""

    @classmethod
    async def from_template_and_values(
        cls,
        base_job_template: dict[str, Any],
        values: dict[str, Any],
        client: PrefectClient | None = None,
    ) -> OwnJob:
        return cls()


class NoHooks:
    """What the worker does about a run that has crashed or was cancelled: nothing.

    Prefect's would load the flow as the deployment in the database says, in this process.
    """

    async def run_cancellation_hooks(self, flow_run: FlowRun, state: State[Any]) -> None:
        pass

    async def run_crashed_hooks(self, flow_run: FlowRun, state: State[Any]) -> None:
        pass


# As an abstract class it is not entered into Prefect's list of workers, where its type has one.
class OwnWorker(ProcessWorker, ABC):
    """Starts `deployments.flow_run` for every run."""

    job_configuration = OwnJob

    async def run(
        self,
        flow_run: FlowRun,
        configuration: ProcessJobConfiguration,
        task_status: TaskStatus[int] | None = None,
    ) -> ProcessWorkerResult:
        async with FlowRunExecutorContext() as context, anyio.create_task_group() as group:
            starter = EngineCommandStarter(
                command=command_to_string([sys.executable, "-m", "deployments.flow_run"]),
                cwd=ROOT,
                env=configuration.env,
                control_channel=context.control_channel,
            )
            executor = context.create_executor(
                flow_run, starter, propose_submitting=False, hook_runner=NoHooks()
            )
            ended: list[FlowRunExecutionResult | None] = []

            async def execute(*, task_status: TaskStatus[ProcessHandle]) -> None:
                ended.append(await executor.submit(task_status=task_status))

            handle = await group.start(execute)
            if task_status is not None:
                task_status.started(handle.pid)
        (result,) = ended
        code = result.status_code if result and result.status_code is not None else 1
        return ProcessWorkerResult(status_code=code, identifier=str(handle.pid))


def make_pool(client: SyncPrefectClient) -> None:
    """Make the pool unless it is there; its form is ours in any case."""
    with suppress(ObjectAlreadyExists):
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
    client.update_work_pool(POOL, WorkPoolUpdate(base_job_template=NOTHING_TO_CHOOSE))


def end_orphans(client: SyncPrefectClient) -> list[str]:
    """End the runs whose process is gone; returns their names."""
    found = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(state=_UNDER_WAY),
        work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[POOL])),
    )
    alive = runs_with_a_process()
    orphans = [run for run in found if run.id not in alive]
    for run in orphans:
        for each in (run, *_files_of(run, client)):
            client.set_flow_run_state(each.id, _end_of(each), force=True)
    return [run.name for run in orphans]


def _files_of(run: FlowRun, client: SyncPrefectClient) -> list[FlowRun]:
    """What a run has started within itself and not ended; no pool has these."""
    started = FlowRunFilter(
        parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[run.id]), state=_UNDER_WAY
    )
    return client.read_flow_runs(flow_run_filter=started)


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


def deploy() -> None:
    """Tell the server what is deployed and have the worker started; else end everything."""
    config = read_config()
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file"]
    try:
        with get_client(sync_client=True) as client:
            await_server(client, config)
            make_pool(client)
        if subprocess.run([*command, config.deployments]).returncode:
            raise InputError(f"nothing can be deployed: see {config.folder}/deploy.log")
        with get_client(sync_client=True) as client:
            give_forms(client, config)
            make_automations(client, config)
    except Exception as fault:
        print(fault, flush=True)
        supervisor(config).shutdown()
    else:
        supervisor(config).startProcess("worker", False)


def give_forms(client: SyncPrefectClient, config: Config) -> None:
    """Have the page ask for what a run may ask for, in place of all that a flow can be told."""
    deployed = read_deployments(config.deployments)
    for made in client.read_deployments():
        if each := deployed.get(made.name):
            form = DeploymentUpdate.model_validate({"parameter_openapi_schema": form_of(each)})
            client.update_deployment(made.id, form)


def watch(config: Config) -> None:
    """Tell Prefect when complete files lie in an inbox; a trigger in the file starts a run then.

    Polled, not by inotify: that sees nothing of what other machines put into a shared folder.
    """
    told: dict[str, tuple[float, list[str]]] = {}
    deployed = read_deployments(config.deployments).values()
    watched = [each for each in deployed if "inbox" in each.parameters]
    while True:
        for each in watched:
            inbox, settle = ROOT / each.parameters["inbox"], each.parameters.get("settle", 2.0)
            with suppress(OSError, LogveilError):  # the run says so
                complete = sorted(path.name for path in complete_files(inbox, settle)[0])
                since, before = told.get(each.name, (0.0, []))
                again = time.monotonic() - since > AGAIN_SECONDS
                if complete and (again or set(complete) - set(before)):
                    what = {"prefect.resource.id": f"logveil.{each.name}"}
                    what["prefect.resource.name"] = each.name
                    emit_event("logveil.file.arrived", what, payload={"files": len(complete)})
                    told[each.name] = (time.monotonic(), complete)
        time.sleep(LOOK_SECONDS)


def await_server(client: SyncPrefectClient, config: Config) -> None:
    """Wait until the server answers.

    Raises:
        InputError: it has ended before, or takes too long.
    """
    first = (processes(config) or {}).get("server")
    for _ in range(2 * START_SECONDS):
        if client.api_healthcheck() is None:
            return
        if (processes(config) or {}).get("server") != first:
            break
        time.sleep(0.5)
    raise InputError(f"the server does not start: see {config.folder}/server.log")


def work() -> None:
    """End what has no process any more, then be the worker."""
    with get_client(sync_client=True) as client:
        for name in end_orphans(client):
            print(f"{name}: {GONE}", flush=True)
    Thread(target=watch, args=[read_config()], daemon=True).start()
    signal.signal(signal.SIGTERM, _end)
    with suppress(KeyboardInterrupt):
        anyio.run(OwnWorker(work_pool_name=POOL, name=POOL).start)


def _end(number: int, frame: FrameType | None) -> None:
    """End as on Ctrl-C, but not without end: Prefect's own command waits for its flows, and a flow
    tries for minutes to tell a server what happened that went down with the supervisor."""
    signal.alarm(END_SECONDS)
    signal.raise_signal(signal.SIGINT)


if __name__ == "__main__":
    {"deploy": deploy, "work": work}[sys.argv[1]]()
