"""What the operator's file deploys, and what a run may ask for beside it.

The file, and not what Prefect's database holds of it, is what binds a run: whoever may talk to the
server may edit the database. A run has what its deployment has in the file, but that it may ask for

    k, l, guarantee   as much or more
    logs              files and folders in those that the deployment names
    out               a folder in the one that the deployment names

and these two only of a deployment without an inbox, whose files and editions are the folder's.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from flows.config_file import checked, only_settings, read_config_file
from tasks.errors import UsageError
from tasks.settings import CHOICES, Settings

if TYPE_CHECKING:
    from prefect import Flow

STRONGEST_FIRST: Final = CHOICES["guarantee"]


@dataclass(frozen=True)
class Deployed:
    """One deployment of a file."""

    file: Path
    name: str
    entrypoint: str
    parameters: dict[str, Any]

    def flow(self) -> Flow[..., Any]:
        # Takes seconds, and who starts the services needs none.
        from prefect.flows import load_flow_from_entrypoint

        return load_flow_from_entrypoint(self.entrypoint, use_placeholder_flow=False)

    @property
    def settings(self) -> Settings:
        """What a run has that asks for nothing."""
        return settings_of(self._own)

    @property
    def _given(self) -> dict[str, Any]:
        return _mapping(self.parameters.get("settings") or {})

    @property
    def _own(self) -> dict[str, Any]:
        """The file's settings, and those of the `logveil.toml` that it names."""
        given = dict(self._given)
        config = given.pop("config", None)
        return {**(only_settings(read_config_file(Path(config))) if config else {}), **given}

    def parameters_for(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What a run gets that asks for these parameters.

        Raises:
            UsageError: it asks for something that it may not have; all of it is in the message.
        """
        known = inspect.signature(self.flow().fn).parameters
        fixed = {**{name: each.default for name, each in known.items()}, **self.parameters}
        faults = [
            f"{name} must be as in the file, not {value!r}"
            for name, value in asked.items()
            if name != "settings" and (name not in fixed or fixed[name] != value)
        ]
        said = dict(_mapping(asked.get("settings") or {}))
        if "config" in said and said.pop("config") != self._given.get("config"):
            faults.append("config must be as in the file")
        own = self.settings
        wanted = settings_of({**self._own, **said})
        faults += faults_of(wanted, own, has_inbox="inbox" in fixed)
        if faults:
            limits = f"deployment {self.name} of {self.file} decides"
            raise UsageError(f"refused: {faults[0]}", *faults[1:], limits)
        return {**self.parameters, "settings": wanted}


def form_of(deployed: Deployed) -> dict[str, Any]:
    """What Prefect's page asks for when somebody starts a run: what a run may ask for, and no more.

    Its bounds are the operator's: less is refused by the page, by the server and by the run.
    """
    own = deployed.settings
    stronger = STRONGEST_FIRST[: STRONGEST_FIRST.index(own.guarantee) + 1]
    asked: dict[str, Any] = {
        "k": {
            "title": "k: people",
            "description": "How many people stand behind every published row, at least.",
            "type": "integer",
            "minimum": own.k,
            "default": own.k,
        },
        "l": {
            "title": "l: different sensitive sets",
            "description": "How many of them differ in what is sensitive; 1: not asked for.",
            "type": "integer",
            "minimum": own.l,
            "default": own.l,
        },
        "guarantee": {
            "title": "Guarantee",
            "description": "strict: every published row is shared by k people. terms: every word "
            "is. paper: the paper's redaction, which is no k-anonymity.",
            "type": "string",
            "enum": list(stronger),
            "default": own.guarantee,
        },
    }
    if "inbox" not in deployed.parameters:
        asked |= {
            "logs": {
                "title": "Logs",
                "description": f"Files and folders that lie in {', '.join(own.logs)}.",
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "default": list(own.logs),
            },
            "out": {
                "title": "Folder of the release",
                "description": f"A folder in {own.out}, for this release alone.",
                "type": "string",
                "default": own.out,
            },
        }
    for place, field in enumerate(asked.values()):
        field["position"] = place
    group = {
        "title": "What this run asks for",
        "description": "As much as the file of deployments says, or more; all else is as it says.",
        "type": "object",
        "properties": asked,
        "position": 0,
    }
    return {"title": "Parameters", "type": "object", "properties": {"settings": group}}


def settings_of(told: Mapping[str, Any]) -> Settings:
    """The settings that somebody wrote down.

    Raises:
        UsageError: they cannot be used.
    """
    return Settings(**checked(told))


def faults_of(wanted: Settings, own: Settings, *, has_inbox: bool) -> list[str]:
    """What is wanted beyond a deployment's own settings."""
    free = {"k", "l", "guarantee"} if has_inbox else {"k", "l", "guarantee", "logs", "out"}
    changed = [
        f"{each.name} must be {getattr(own, each.name)!r}, not {getattr(wanted, each.name)!r}"
        for each in fields(Settings)
        if each.name not in free and getattr(wanted, each.name) != getattr(own, each.name)
    ]
    return [*_weaker(wanted, own), *([] if has_inbox else _elsewhere(wanted, own)), *changed]


def _weaker(wanted: Settings, own: Settings) -> list[str]:
    faults = [
        f"{name} must be at least {least}, not {asked}"
        for name, asked, least in (("k", wanted.k, own.k), ("l", wanted.l, own.l))
        if asked < least
    ]
    if STRONGEST_FIRST.index(wanted.guarantee) > STRONGEST_FIRST.index(own.guarantee):
        faults.append(f"guarantee must be {own.guarantee} or stronger, not {wanted.guarantee}")
    return faults


def _elsewhere(wanted: Settings, own: Settings) -> list[str]:
    faults = [
        f"logs must lie in {', '.join(own.logs)}, not {log}"
        for log in wanted.logs
        if not any(_is_log_in(log, place) for place in own.logs)
    ]
    if not Path(wanted.out).resolve().is_relative_to(Path(own.out).resolve()):
        faults.append(f"out must lie in {own.out}, not {wanted.out}")
    return faults


def _is_log_in(log: str, place: str) -> bool:
    """Whether a log is what a deployment names, or a file or folder that lies in there.

    Whatever else stands for files (a pattern, an address) may stand for others once it is read.
    """
    if log == place:
        return True
    try:
        return Path(log).resolve(strict=True).is_relative_to(Path(place).resolve())
    except OSError:
        return False


def read_deployments(file: Path) -> dict[str, Deployed]:
    """The deployments of a file by name.

    Raises:
        UsageError: it lists none, or one that cannot be run.
    """
    try:
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        listed = [
            Deployed(file, each["name"], each["entrypoint"], _mapping(each.get("parameters") or {}))
            for each in told["deployments"]
        ]
    except OSError as fault:
        raise UsageError(f"LOGVEIL_DEPLOYMENTS: {file}: {fault.strerror}") from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise UsageError(f"LOGVEIL_DEPLOYMENTS: {file} lists no deployments") from None
    by_name = {each.name: each for each in listed}
    if len(by_name) < len(listed):
        raise UsageError(f"LOGVEIL_DEPLOYMENTS: {file}: give every deployment a name of its own")
    return by_name


def _mapping(told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise UsageError("parameters and settings must be names with values")
    return told
