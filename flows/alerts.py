"""An alert when a run fails: a few words and counts, posted to the address of LOGVEIL_ALERT_URL."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any, Final

ADDRESS: Final = "LOGVEIL_ALERT_URL"
PATIENCE_SECONDS: Final = 10


def send_alert(told: dict[str, Any], reason: str = "", run_id: str = "") -> bool:
    """Post JSON to whoever wants to know; a receiver that cannot be reached fails nobody's run.

    Its `text` says it all in words: Slack and others show that and pass over the rest.

    Args:
        reason: why; its first line is told.
        run_id: of a run that has a page.
    """
    address = os.environ.get(ADDRESS)
    if not address:
        return False
    text = f"logveil: {told['run']}: {told['state']}" + (
        f": {reason.splitlines()[0]}" if reason else ""
    )
    page = os.environ.get("PREFECT_API_URL", "").removesuffix("/api")
    if page and run_id:
        told = {**told, "url": f"{page}/runs/flow-run/{run_id}"}
        text += f" {told['url']}"
    try:
        request = urllib.request.Request(
            address,
            data=json.dumps({"program": "logveil", "text": text, **told}).encode(),
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE_SECONDS).close()
    except (OSError, ValueError):
        # Not what went wrong: the address may hold a token.
        print(f"logveil: the alert could not be sent; check {ADDRESS}", file=sys.stderr)
        return False
    return True
