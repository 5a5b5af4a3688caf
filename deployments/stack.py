"""`python -m deployments.stack`: a Prefect server, a worker and the deployments, in one command."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from deployments.keeper import END_SECONDS, START_SECONDS, Keeper, is_kept, open_log
from deployments.site import ROOT, Site, open_site
from tasks.core.errors import InputError, LogveilError

EXAMPLES: Final = """\
examples:
  python -m deployments.stack up        start in the background; does nothing if it runs (make up)
  python -m deployments.stack status    what runs, and where its page and logs are
  python -m deployments.stack down      stop; a run under way is taken up after the next start
  python -m deployments.stack run       stay in the foreground, as systemd wants it

settings, from the environment or from stack.env (mode 600) in the state folder:
  LOGVEIL_STATE         the state folder (environment only)
  LOGVEIL_PORT          of server and page, on loopback (4200)
  LOGVEIL_DEPLOYMENTS   what is deployed (deployments/prefect.yaml); copy it to change anything
  LOGVEIL_TIMEOUT_SECONDS    after which a run is ended (86400)
  LOGVEIL_ALERT_URL     gets a POST with JSON when a run fails
  PREFECT_SERVER_DATABASE_CONNECTION_URL    postgresql+asyncpg://… instead of SQLite
  PREFECT_SERVER_API_AUTH_STRING            name:password that the API then asks for
  PREFECT_…             any other setting of Prefect

exit codes: 0 done; 1 (status) it does not run; 2 wrong usage or settings; 3 it does not start
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m deployments.stack",
        description=__doc__.partition(": ")[2] if __doc__ else None,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("command", choices=("up", "down", "status", "run"))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    command = parser().parse_args(arguments).command
    try:
        code: int = {"up": up, "down": down, "status": status, "run": run}[command](open_site())
    except LogveilError as fault:
        print(f"logveil: {fault}", file=sys.stderr)
        return fault.exit_code
    return code


def run(site: Site) -> int:
    Keeper(site).run()
    return 0


def up(site: Site) -> int:
    """Start a keeper in the background and wait until everything runs."""
    if not is_kept(site):
        print(f"logveil: starting (half a minute); logs in {site.folder}", flush=True)
        (site.folder / "stack.json").unlink(missing_ok=True)
        with open_log(site, "keeper") as log:
            keeper = subprocess.Popen(
                [sys.executable, "-m", "deployments.stack", "run"],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _await(site, keeper)
    return status(site)


def _await(site: Site, keeper: subprocess.Popen[bytes]) -> None:
    for _ in range(2 * START_SECONDS):
        if "worker" in _note(site):
            return
        if keeper.poll() is not None:
            break
        time.sleep(0.5)
    last = (site.folder / "keeper.log").read_text(encoding="utf-8").splitlines()[-1:]
    raise InputError(f"the stack does not start: {' '.join(last)}")


def status(site: Site) -> int:
    note = _note(site) if is_kept(site) else {}
    if "worker" not in note:
        print("logveil: the stack is starting" if note else "logveil: the stack does not run")
        return 1
    print(f"logveil: the stack runs (server {note['server']}, worker {note['worker']})")
    print(f"page:         {note['url']}")
    print(f"deployments:  {site.deployments}")
    print(f"logs:         {site.folder}")
    return 0


def down(site: Site) -> int:
    """Stop the keeper and all it keeps."""
    note = _note(site)
    if is_kept(site) and note:
        os.kill(note["keeper"], signal.SIGTERM)
        for _ in range(2 * 3 * END_SECONDS):
            if not is_kept(site):
                break
            time.sleep(0.5)
        else:
            raise InputError(f"the stack does not end: kill {note['keeper']} by hand")
    print("logveil: the stack is down")
    return 0


def _note(site: Site) -> dict[str, Any]:
    try:
        noted: dict[str, Any] = json.loads((site.folder / "stack.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return noted


if __name__ == "__main__":
    sys.exit(main())
