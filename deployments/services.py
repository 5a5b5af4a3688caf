"""`python -m deployments.services`: Prefect's server, a worker and the deployments.

supervisord keeps them running (`supervisord.conf`); here it is started, asked and ended. systemd
may start it in turn (`logveil.service`), but is not there in a container or without a login.
"""

from __future__ import annotations

import argparse
import os
import shlex
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final
from xmlrpc.client import Fault

from supervisor import childutils

from deployments.config import HOST, ROOT, Config, read_config
from deployments.deployed import Deployed, read_deployments
from flows.process import speak_to_any_terminal
from tasks.errors import InputError, LogveilError

START_SECONDS: Final = 180
"""So long a server may take to answer first; on a fresh home it makes its database."""
END_SECONDS: Final = 60
"""So long everything may take to end; supervisord gives each process 20 s."""
SUPERVISOR: Final = (sys.executable, "-m", "supervisor.supervisord") + (
    "--configuration",
    str(ROOT / "deployments" / "supervisord.conf"),
)
PRIVATE: Final = 0o077
"""The supervisor's umask, so that nobody else may read its logs."""
TELL: Final = 'eval "$(python -m deployments.services env)"'
EXAMPLES: Final = """\
examples:
  python -m deployments.services up      start in the background; does nothing if it runs (make up)
  python -m deployments.services status  what runs, and where its page and logs are
  python -m deployments.services down    stop; a run under way is taken up after the next start
  python -m deployments.services run     stay in the foreground, as systemd wants it
  eval "$(python -m deployments.services env)"    let the prefect command of this shell talk to it

settings, from the environment or from stack.env (mode 600) in the state folder:
  LOGVEIL_STATE         the state folder (environment only)
  LOGVEIL_PORT          of server and page, on loopback (4200)
  LOGVEIL_DEPLOYMENTS   what is deployed (deployments/prefect.yaml), and the least that every run
                        holds to, whoever starts it; copy it to change anything
  LOGVEIL_TIMEOUT_SECONDS    after which a run is ended (86400)
  LOGVEIL_ALERT_URL     gets a POST with JSON when a run fails
  PREFECT_SERVER_DATABASE_CONNECTION_URL    postgresql+asyncpg://… instead of SQLite
  PREFECT_SERVER_API_AUTH_STRING            name:password instead of the file "credential"
  PREFECT_…             any other setting of Prefect

exit codes: 0 done; 1 (status) they do not run; 2 wrong usage or settings; 3 they do not start
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m deployments.services",
        description=__doc__.partition(": ")[2] if __doc__ else None,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("command", choices=tuple(COMMANDS))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    speak_to_any_terminal()
    command = parser().parse_args(arguments).command
    try:
        code = COMMANDS[command](read_config())
    except LogveilError as fault:
        print(f"logveil: {fault}", file=sys.stderr)
        return fault.exit_code
    return code


def run(config: Config) -> int:
    """Become the supervisor.

    Raises:
        InputError: the services run already, or cannot.
    """
    if processes(config) is not None:
        raise InputError("the services run already")
    _prepare(config)
    environment = config.environment()
    os.umask(PRIVATE)
    os.execve(SUPERVISOR[0], [*SUPERVISOR, "--nodaemon"], environment)


def up(config: Config) -> int:
    """Start a supervisor in the background and wait until everything runs."""
    if processes(config) is None:
        _prepare(config)
        print(f"logveil: starting (half a minute); logs in {config.folder}", flush=True)
        environment = config.environment()
        if subprocess.run(SUPERVISOR, env=environment, umask=PRIVATE, check=False).returncode:
            raise InputError("the services do not start")
        _wait(2 * START_SECONDS, lambda: processes(config) is None or _is_complete(config))
        if not _is_complete(config):
            raise InputError(f"the services do not start: {_last_words(config)}")
    return status(config)


def status(config: Config) -> int:
    found = processes(config)
    if not found or "worker" not in found:
        print(f"logveil: the services {'do not run' if found is None else 'are starting'}")
        return 1
    print(f"logveil: the services run (server {found.get('server')}, worker {found['worker']})")
    print(f"page:         {config.url}; it asks for the credential: all of the line, name:password")
    print(f"credential:   {config.credential_place}")
    print(f"prefect:      {TELL} then: prefect deployment ls")
    print(f"deployments:  {config.deployments}")
    print(f"logs:         {config.folder}")
    return 0


def env(config: Config) -> int:
    """Tell a shell what Prefect's own command and our flows need to talk to the server."""
    for name, value in config.client_environment().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def down(config: Config) -> int:
    """End the supervisor and all it has started."""
    with suppress(OSError, Fault):  # It does not run, or ends already.
        supervisor(config).shutdown()
    if not _wait(END_SECONDS, lambda: processes(config) is None):
        raise InputError(f"the services do not end: see {config.folder}/supervisor.log")
    print("logveil: the services are down")
    return 0


def supervisor(config: Config) -> Any:
    """What takes orders for a supervisor that runs."""
    address = {"SUPERVISOR_SERVER_URL": f"unix://{config.folder}/supervisor.sock"}
    return childutils.getRPCInterface(address).supervisor


def processes(config: Config) -> dict[str, int] | None:
    """The services that run with their process ids; None if there is no supervisor."""
    try:
        told = supervisor(config).getAllProcessInfo()
    except OSError:
        return None
    except Fault:  # It is ending.
        return {}
    return {each["name"]: each["pid"] for each in told if each["pid"]}


COMMANDS: Final[dict[str, Callable[[Config], int]]] = {
    "up": up,
    "down": down,
    "status": status,
    "run": run,
    "env": env,
}


def _is_complete(config: Config) -> bool:
    """Whether the worker was started, which is the last of all."""
    return "worker" in (processes(config) or {})


def _prepare(config: Config) -> None:
    # Earlier versions have left files there that were as open as their user's umask.
    for path in config.folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~PRIVATE)
    refuse_used_port(int(config.settings["LOGVEIL_PORT"]))
    make_folders(read_deployments(config.deployments).values())
    (config.folder / "deploy.log").unlink(missing_ok=True)


def _wait(seconds: float, happened: Callable[[], bool]) -> bool:
    """Whether it happened within that time."""
    end = time.monotonic() + seconds
    while not (done := happened()) and time.monotonic() < end:
        time.sleep(0.5)
    return done


def _last_words(config: Config) -> str:
    """Why the deployments could not be made."""
    told = (config.folder / "deploy.log").read_text(encoding="utf-8").splitlines()
    return " ".join(told[-1:])


def refuse_used_port(port: int) -> None:
    """Whoever else answers there would be taken for our server."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            raise InputError(
                f"port {port} cannot be used ({fault.strerror}): choose another LOGVEIL_PORT"
            ) from None


def make_folders(deployments: Iterable[Deployed]) -> None:
    """Make the folders that deployed flows read, as private as what comes in."""
    for each in deployments:
        inbox = [each.parameters["inbox"]] if "inbox" in each.parameters else []
        for name in (*inbox, *each.settings.logs):
            if "://" not in name and not (ROOT / name).exists():
                (ROOT / name).mkdir(mode=0o700, parents=True)


if __name__ == "__main__":
    sys.exit(main())
