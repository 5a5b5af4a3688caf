"""`python -m deployments.flow_run`: one flow run, as the operator's file has it.

The worker starts this for every run and says which it is. Which flow it is, and what it may be
given, is in the file (`deployed.py`); of the server's database only the name of the deployment and
the parameters that somebody asked for are read. What they may not have fails the run before
anything else is done.
"""

from __future__ import annotations

import os
from uuid import UUID

from prefect._internal.control_listener import configure_from_env
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun
from prefect.engine import handle_engine_signals
from prefect.flow_engine import run_flow
from prefect.states import Failed

from deployments.config import read_config
from deployments.deployed import Deployed, read_deployments
from tasks.errors import LogveilError, UsageError


def main() -> None:
    # The supervisor has a stricter one; what is published is as open as the user has it.
    os.umask(int(os.environ["LOGVEIL_UMASK"], 8))
    # Lets the worker say that somebody has cancelled the run.
    configure_from_env()
    run_id = UUID(os.environ["PREFECT__FLOW_RUN_ID"])
    with handle_engine_signals(run_id), get_client(sync_client=True) as client:
        run = client.read_flow_run(run_id)
        try:
            deployed = deployment_of(run, client)
            parameters = deployed.parameters_for(run.parameters)
        except LogveilError as fault:
            client.set_flow_run_state(run_id, Failed(message=str(fault)), force=True)
        else:
            run_flow(deployed.flow(), flow_run=run, parameters=parameters)


def deployment_of(run: FlowRun, client: SyncPrefectClient) -> Deployed:
    """What the operator's file says of a run's deployment.

    Raises:
        UsageError: it says nothing.
    """
    file = read_config().deployments
    name = client.read_deployment(run.deployment_id).name if run.deployment_id else None
    try:
        return read_deployments(file)[name or ""]
    except KeyError:
        raise UsageError(f"refused: {file} lists no deployment {name!r}") from None


if __name__ == "__main__":
    main()
