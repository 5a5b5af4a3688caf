"""`logveil.toml`: settings in a file, by the names that `Settings` has for them.

Read by commands (`--config FILE`, or the one that lies in the current folder), by deployments
(`config: FILE` among their settings) and by `flows.notebook`. What is said elsewhere wins. Paths
are meant as they are on the command line.

A file that nobody has named is read only if it is the user's own, and what it says is shown
whatever `--quiet` says: a folder that came from elsewhere must not weaken a release unseen.
"""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_type_hints

from tasks.errors import UsageError, printable
from tasks.settings import Settings

CONFIG_FILE: Final = "logveil.toml"
OF_THE_INBOX: Final[Mapping[str, type]] = {"inbox": str, "edition": str, "settle": float}
"""What `logveil inbox` is told beside its settings."""
SAID_EACH_TIME: Final = ("replace", "shared")
"""To replace a release is decided once for each; where parts are shared follows from the store."""


def config_of(named: str | None) -> dict[str, Any]:
    """What the file says that was named, or else the one in this folder, if there is one.

    Raises:
        UsageError: it cannot be used; all its faults are in the message.
    """
    path = Path(named or CONFIG_FILE)
    if not named and not path.exists():
        return {}
    if not named:
        _refuse_strangers(path)
    values = read_config_file(path)
    said = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    print(f"logveil: {printable(path)} says {printable(said) or 'nothing'}", file=sys.stderr)
    return values


def only_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in OF_THE_INBOX}


def _refuse_strangers(path: Path) -> None:
    status = path.stat()
    if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & 0o022:
        raise UsageError(
            f"{path} in this folder is not yours alone: --config {path} reads it all the same"
        )


def read_config_file(path: Path) -> dict[str, Any]:
    """The values of a file, of the types that they must have.

    Raises:
        UsageError: there is no such file, or not all of it is understood.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except ValueError as fault:
        raise UsageError(f"{path} is not TOML: {fault}") from None
    try:
        return checked(told, OF_THE_INBOX)
    except UsageError as fault:
        raise UsageError(*(f"{path}: {each}" for each in fault.args)) from None


def checked(told: Mapping[str, Any], beside: Mapping[str, type] | None = None) -> dict[str, Any]:
    """Values that somebody wrote down, as the settings of these names have them.

    Args:
        beside: names and types that are no settings and known as well.

    Raises:
        UsageError: a name is not known, or a value cannot be what it stands for.
    """
    # Takes a moment that only files need.
    from pydantic import TypeAdapter, ValidationError

    types = {**get_type_hints(Settings), **(beside or {})}
    if beside is not None:
        types = {name: kind for name, kind in types.items() if name not in SAID_EACH_TIME}
    values, faults = {}, []
    for name, value in told.items():
        if name not in types:
            faults.append(_unknown(name, types))
            continue
        try:
            values[name] = TypeAdapter(types[name]).validate_python(value)
        except ValidationError as fault:
            faults += [
                ".".join(map(str, (name, *e["loc"]))) + f": {e['msg']}" for e in fault.errors()
            ]
    if faults:
        raise UsageError(*faults)
    return values


def _unknown(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f"no such setting: {name}" + (f"; {near[0]} is meant?" if near else "")


def print_config(settings: Settings, **beside: Any) -> int:
    """Write the file that says what these settings say, and what stands beside them."""
    import tomli_w

    told = {**asdict(settings), **beside}
    if "://" in settings.shared:
        told["store"] = settings.shared
    told = {name: told[name] for name in told if name not in SAID_EACH_TIME}
    print(tomli_w.dumps({n: v for n, v in told.items() if v is not None}), end="")
    return 0
