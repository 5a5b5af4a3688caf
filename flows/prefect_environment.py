"""What Prefect must be told before it is imported."""

from __future__ import annotations

import os

DEFAULTS = {
    # The embedded server needs up to half a minute on a fresh home; Prefect gives it 20 s.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # No telemetry: a tool for private logs talks to nobody.
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    # Our own screen shows the run; Prefect's log goes to its database (counts only).
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # Never write results (pickles of raw records) because of a setting in somebody's profile.
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
}


def prepare() -> str:
    """Set defaults that the user has not set; returns what to tell the user."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    server = os.environ.get("PREFECT_API_URL")
    if server:
        return "Prefect: using the server of PREFECT_API_URL"
    return "Prefect: starting its embedded server (some 20 s; --bare goes without)"
