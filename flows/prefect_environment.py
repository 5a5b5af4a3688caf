"""What Prefect must be told before it is imported."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NoReturn

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


def set_defaults() -> None:
    """Set what the user has not set."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)


def prepare(interrupted: Callable[[], NoReturn]) -> str:
    """Set defaults that the user has not set; returns what to tell the user.

    Args:
        interrupted: what to do on Ctrl-C with the embedded server. It gets the same signal and
            is gone, and Prefect would try for minutes to tell it what happened.
    """
    set_defaults()
    if os.environ.get("PREFECT_API_URL"):
        return "Prefect: using the server of PREFECT_API_URL"
    signal.signal(signal.SIGINT, lambda number, frame: interrupted())
    return "Prefect: starting its embedded server (some 20 s; --bare goes without)"
