"""Where the services keep their things, and what their processes are told.

Everything lies in one private folder (`LOGVEIL_STATE`, or the user's state folder):

    stack.env       settings, one NAME=value a line: PREFECT_… and LOGVEIL_…; private
    credential      what the server asks everybody for, made once, unless a setting gives another
    supervisor.*    the supervisor's socket, process id and log
    *.log           of deploy, server and worker
    prefect/        Prefect's home: its database, unless that is PostgreSQL, and its results

Credentials come from the environment or from these files, never from a command line, which every
user of the machine can read.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from flows.process import PREFECT_DEFAULTS, REPORTS
from tasks.errors import UsageError
from tasks.runtime.files import create_once, make_private

ROOT: Final = Path(__file__).parent.parent
POOL: Final = "logveil"
HOST: Final = "127.0.0.1"
HOSTS: Final = (HOST, "localhost")
CREDENTIAL: Final = "PREFECT_SERVER_API_AUTH_STRING"
CREDENTIAL_BYTES: Final = 32
OWN_SETTINGS: Final = (
    *("LOGVEIL_STATE", "LOGVEIL_PORT", "LOGVEIL_DEPLOYMENTS"),
    *("LOGVEIL_ALERT_URL", "LOGVEIL_TIMEOUT_SECONDS"),
)
SERVICE_DEFAULTS: Final = {
    **PREFECT_DEFAULTS,
    "LOGVEIL_PORT": "4200",
    "LOGVEIL_DEPLOYMENTS": str(ROOT / "deployments" / "prefect.yaml"),
    # Here the logs are all there is to see.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
    # The newer page asks a company's server what to measure of its readers, whatever is set.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    # Old runs leave the database after 90 days, as events do after 7.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
}


@dataclass(frozen=True)
class Config:
    """The services' folder and the settings that hold for them."""

    folder: Path
    settings: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.settings['LOGVEIL_PORT']}"

    @property
    def origins(self) -> list[str]:
        """Whose pages may ask the server: its own, under either name."""
        return [f"http://{host}:{self.settings['LOGVEIL_PORT']}" for host in HOSTS]

    @property
    def credential_place(self) -> str:
        """Where the user finds what the server asks for."""
        made = self.folder / "credential"
        is_made = made.exists() and _credential_in(made) == self.settings[CREDENTIAL]
        return str(made) if is_made else f"{CREDENTIAL}, in stack.env or the environment"

    @property
    def deployments(self) -> Path:
        return Path(self.settings["LOGVEIL_DEPLOYMENTS"]).resolve()

    def environment(self) -> dict[str, str]:
        """What every process of the services is told, and what `supervisord.conf` names."""
        return {
            **os.environ,
            **self.settings,
            "LOGVEIL_STATE": str(self.folder),
            "LOGVEIL_PYTHON": sys.executable,
            "LOGVEIL_UMASK": _umask(),
            REPORTS: f"{self.url}/reports",
            "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": ",".join(self.origins),
            **self.client_environment(),
        }

    def client_environment(self) -> dict[str, str]:
        """What a program needs to talk to the server."""
        return {
            "PREFECT_HOME": str(self.folder / "prefect"),
            "PREFECT_API_URL": f"{self.url}/api",
            "PREFECT_API_AUTH_STRING": self.settings[CREDENTIAL],
        }


def read_config() -> Config:
    """The configuration that the environment names; its folder and credential are made if need be.

    Raises:
        UsageError: the settings cannot be used.
    """
    default = platformdirs.user_state_dir("logveil", appauthor=False)
    folder = Path(os.environ.get("LOGVEIL_STATE") or default).absolute()
    make_private(folder)
    given = {name: value for name, value in os.environ.items() if not _is_unknown(name)}
    settings = {**SERVICE_DEFAULTS, **_private_settings(folder / "stack.env"), **given}
    faults = [f"no such setting: {name}" for name in settings if _is_unknown(name)]
    if not settings["LOGVEIL_PORT"].isdigit():
        faults.append("LOGVEIL_PORT must be a number")
    # An empty one would be no credential, and Prefect compares no others.
    settings[CREDENTIAL] = settings.get(CREDENTIAL) or _made_credential(folder / "credential")
    if not settings[CREDENTIAL].isascii() or ":" not in settings[CREDENTIAL]:
        faults.append(f"{CREDENTIAL} must be name:password in ASCII")
    if faults:
        raise UsageError(*faults)
    return Config(folder, settings)


def _made_credential(path: Path) -> str:
    """The credential of these services; made on first use."""
    if not path.exists():
        create_once(path, f"logveil:{secrets.token_urlsafe(CREDENTIAL_BYTES)}\n".encode())
    _refuse_open(path)
    found = _credential_in(path)
    if not found:
        raise UsageError(f"{path} is empty: delete it, and a new one is made")
    return found


def _credential_in(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _refuse_open(path: Path) -> None:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise UsageError(f"{path} may hold credentials: chmod 600 {path}")


def _umask() -> str:
    """The user's own, in octal: the supervisor has a stricter one for its logs."""
    mask = os.umask(0)
    os.umask(mask)
    return f"{mask:03o}"


def _is_unknown(name: str) -> bool:
    return name not in OWN_SETTINGS and not name.startswith(("PREFECT_", "DO_NOT_TRACK"))


def _private_settings(path: Path) -> dict[str, str]:
    """The settings of a file that nobody else may read."""
    if not path.exists():
        return {}
    _refuse_open(path)
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    if not all(middle for _, middle, _ in pairs):
        raise UsageError(f"{path}: every line must be NAME=value")
    return {name.strip(): value.strip() for name, _, value in pairs}
