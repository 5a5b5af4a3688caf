"""An alert when a run fails: a few words and counts, posted to the address of LOGVEIL_ALERT_URL."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any, Final

ADDRESS: Final = "LOGVEIL_ALERT_URL"
PATIENCE_SECONDS: Final = 10


def send_alert(told: dict[str, Any]) -> bool:
    """Post JSON to whoever wants to know; a receiver that cannot be reached fails nobody's run."""
    address = os.environ.get(ADDRESS)
    if not address:
        return False
    try:
        request = urllib.request.Request(
            address,
            data=json.dumps({"program": "logveil", **told}).encode(),
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE_SECONDS).close()
    except (OSError, ValueError):
        # Not what went wrong: the address may hold a token.
        print(f"logveil: the alert could not be sent; check {ADDRESS}", file=sys.stderr)
        return False
    return True
