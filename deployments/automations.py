"""What Prefect's server does by itself; its page lists these beside the trigger of an inbox.

- **An alert**, if `LOGVEIL_ALERT_URL` says where to: a deployed run has failed, was ended or has
  rejected files. The address may hold a token: it is kept in a block, encrypted, and whoever has
  the credential can read it there.
- **The end of zombies**: a run whose heart has not beaten for three times as long as it should has
  no process any more. Runs of our worker are ended sooner (`pool.py`), and this one does not touch
  what has ended; it is for those that somebody has started elsewhere, against this server.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Final, cast
from uuid import UUID

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.settings import get_current_settings
from prefect.types import SecretDict
from pydantic import SecretStr

from deployments.config import Config
from flows.process import SOME_REJECTED

ADDRESS: Final = "logveil-alert"
ALERT: Final = "logveil: alert"
ZOMBIES: Final = "logveil: end runs without a heartbeat"
NO_HEARTBEAT: Final = "the run's heartbeat has stopped: its process is gone"
MISSED_BEATS: Final = 3
ALARMING: Final = ("Failed", "TimedOut", "Crashed", SOME_REJECTED)
RUN: Final[dict[str, str | list[str]]] = {"prefect.resource.id": "prefect.flow-run.*"}
BODY: Final = """\
{%- set reason = flow_run.state.message or "" -%}
{%- set said = [flow_run.name, flow_run.state.name, reason.split("\\n") | first] | join(": ") -%}
{{ {
  "program": "logveil",
  "text": "logveil: " ~ said ~ " " ~ flow_run | ui_url,
  "run": flow_run.name,
  "state": flow_run.state.name,
  "reason": reason,
  "url": flow_run | ui_url
} | tojson }}"""
"""Its `text` says it all in words: Slack and others show that and pass over the rest."""


def make_automations(client: SyncPrefectClient, config: Config) -> None:
    """Make them as they are here, in place of those that are there."""
    for name in (ALERT, ZOMBIES):
        for found in client.read_automations_by_name(name):
            client.delete_automation(found.id)
    client.create_automation(end_of_zombies())
    if address := config.settings.get("LOGVEIL_ALERT_URL"):
        client.create_automation(alert(address))
    else:
        with suppress(ValueError):  # There was none.
            Webhook.delete(ADDRESS)


def alert(address: str) -> AutomationCore:
    headers = SecretDict({"Content-Type": "application/json"})
    block = Webhook(url=SecretStr(address), headers=headers).save(ADDRESS, overwrite=True)
    return AutomationCore(
        name=ALERT,
        description="Tells the address of LOGVEIL_ALERT_URL: run, state, reason and link.",
        trigger=EventTrigger(
            match=RUN,
            match_related={"prefect.resource.role": "deployment"},
            expect={f"prefect.flow-run.{state}" for state in ALARMING},
            posture=Posture.Reactive,
            threshold=1,
        ),
        actions=[CallWebhook(block_document_id=cast("UUID", block), payload=BODY)],
    )


def end_of_zombies() -> AutomationCore:
    beat = get_current_settings().flows.heartbeat_frequency
    return AutomationCore(
        name=ZOMBIES,
        description="Ends, as crashed, a run of which nothing is heard any more.",
        trigger=EventTrigger(
            match=RUN,
            after={"prefect.flow-run.heartbeat"},
            # Whatever else is told of it: runs end in states of many names.
            expect={"prefect.flow-run.*"},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=timedelta(seconds=MISSED_BEATS * (beat or 180)),
        ),
        # Not by force: what has ended stays as it is.
        actions=[
            ChangeFlowRunState(
                name="Crashed", state=StateType.CRASHED, message=NO_HEARTBEAT, force=False
            )
        ],
    )
